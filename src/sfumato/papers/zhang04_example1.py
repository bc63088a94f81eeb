"""Zhang04 Example 1: which of two operators discloses less depends on what the miner stands to lose."""

from __future__ import annotations

from sfumato.assess.game import crossing, game, game_value
from sfumato.assess.guess import map_success
from sfumato.assess.privacy import gamma, mutual_information
from sfumato.papers.zhang04 import R1, R2


def report() -> str:
    """The paper's statements beside the values; it prints .501 where .505 is right."""
    rows = [
        "Zhang04 Example 1: x is 0 or 1, evenly; R1 flips with .3, R2 reports 1 for one in a hundred ones",
        f"{'':42s}{'R1':>10s}{'R2':>12s}   paper",
        f"{'Pr(best guess is right)':42s}{map_success(R1):10.3f}{map_success(R2):12.3f}   .7, .501 (misprint for .505)",
        f"{'mutual information, bits':42s}{mutual_information(R1):10.6f}{mutual_information(R2):12.6f}   R1 >> R2",
        f"{'gamma':42s}{gamma(R1):10.4g}{gamma(R2):12.4g}   R2 discloses more",
        f"{'l_p, advertising: a wrong guess is free':42s}{game_value(R1):10.3f}{game_value(R2):12.3f}   R2 is better",
        f"{'l_p, investment: it costs 5 times':42s}{game_value(R1, loss=5):10.3f}{game_value(R2, loss=5):12.3f}"
        f"   R1 is better",
        f"R2 seen as 1: the miner guesses {game(R2, loss=5).guesses[1]}; seen as 0: he abstains",
        f"both protect equally at loss / benefit = {crossing(R1, R2):.5f}",
    ]
    return "\n".join(rows)
