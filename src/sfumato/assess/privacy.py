"""Every measure of what an answer discloses, under one roof: ``sfumato.privacy``.

Each takes a channel, a scheme (with ``attribute=`` for one of its attributes) or a plain matrix P[x, y].
"""

from __future__ import annotations

from sfumato.assess.amplification import composed_gamma, epsilon, gamma, gamma_by_output, joint_gamma, pair_ratios
from sfumato.assess.anonymity import KAnonymity, k_anonymity
from sfumato.assess.breach import Breach, breach, gamma_for_breach, lowest, rho2
from sfumato.assess.changes import Changes, changes
from sfumato.assess.effective import (
    Simulated,
    covariance,
    effective_sample_bound,
    effective_sample_size,
    simulate_sample_size,
)
from sfumato.assess.entropy import (
    IntervalPrivacy,
    conditional_entropy,
    entropy,
    interval_privacy,
    mutual_information,
    privacy_loss,
)
from sfumato.assess.game import (
    Game,
    crossing,
    game,
    game_curve,
    game_value,
    gamma_for_no_intrusion,
    no_intrusion,
)
from sfumato.assess.guess import Roc, map_success, roc, roc_bound
from sfumato.assess.shuffling import Shuffled, shuffled

__all__ = [
    "Breach",
    "Changes",
    "Game",
    "IntervalPrivacy",
    "KAnonymity",
    "Roc",
    "Shuffled",
    "Simulated",
    "breach",
    "changes",
    "composed_gamma",
    "conditional_entropy",
    "covariance",
    "crossing",
    "effective_sample_bound",
    "effective_sample_size",
    "entropy",
    "epsilon",
    "game",
    "game_curve",
    "game_value",
    "gamma",
    "gamma_by_output",
    "gamma_for_breach",
    "gamma_for_no_intrusion",
    "interval_privacy",
    "joint_gamma",
    "k_anonymity",
    "lowest",
    "map_success",
    "mutual_information",
    "no_intrusion",
    "pair_ratios",
    "privacy_loss",
    "rho2",
    "roc",
    "roc_bound",
    "shuffled",
    "simulate_sample_size",
]
