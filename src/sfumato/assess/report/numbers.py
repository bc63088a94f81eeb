"""The numbers that stand beside the words, and what they mean."""

from __future__ import annotations

from typing import Any

from sfumato.assess.report.facts import Unit
from sfumato.assess.report.sentences import bound, percent, points

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "gamma (γ), epsilon (ε)",
        "How many times one answer can change the odds between two true values, at worst; ε is its natural logarithm. "
        "γ = 1 discloses nothing, γ = ∞ means that some answer excludes some value. It holds against any adversary.",
    ),
    (
        "Protection",
        "Our word for γ: up to 3 strong, up to 10 moderate, up to 100 weak, above very weak, infinite none. A "
        "convention to help the eye, not a law.",
    ),
    (
        "Among others",
        "What the same answers tell of one person if they arrive without ids, mixed with those of everybody else. It "
        "holds but for one chance in a million, and only if nobody can tell who sent what.",
    ),
    (
        "Rounds, key",
        "Asked again, a person under the owner's key repeats an answer while the value stays, and gives a new one for "
        "each new value. Without a key every round is a new answer, and the factors multiply. A change shows where the "
        "new answer differs: 1 - Σ P[x, y] P[x', y], from x to x'; under a plain key it then is certain that the value "
        "changed, though not from what to what.",
    ),
    (
        "Best guess",
        "How often the most likely true value, given the answer, is the true one. The blind guess names the most "
        "frequent value each time.",
    ),
    (
        "Unknown bits, privacy loss",
        "How many yes-or-no questions about the true value remain after the answer, on average; and the share of the "
        "original uncertainty that the answer removed. Averages: a rare but certain disclosure hardly shows in them.",
    ),
    (
        "Hides among",
        "How many true values remain possible after any answer (K), and how unevenly, in bits (0 is even).",
    ),
    (
        "Effective sample",
        "How many unrandomized records the randomized ones are worth for estimating shares; the ceiling holds for "
        "every estimator.",
    ),
    (
        "Accuracy left",
        "How far the hardest share, or running share, may lie off, or the mean under the hardest shares. Where people "
        "may give no answer, shares are those among the ones who answer, and known less well the fewer these are; "
        "where no shares are known, everybody is taken to answer.",
    ),
    (
        "Telling two apart",
        "How well the best test tells the two most different true values apart: 0.5 is blind, 1 is certain.",
    ),
)


def numbers(unit: Unit) -> list[tuple[str, str]]:
    """The numbers that stand beside the words."""
    m: dict[str, Any] = unit.measures
    rows = [("gamma, epsilon", f"{bound(m['gamma'])}, {bound(m['epsilon'])}")]
    if unit.identity:
        return [*rows, ("values", f"{m['values']:,}")]
    if "gamma_within" in m:
        rows.append(("gamma within a group", bound(m["gamma_within"])))
    rows.append(("values, answers", f"{m['values']:,}, {m['answers']:,}"))
    if "guess" in m:
        rows += [
            ("best guess, blind guess", f"{percent(m['guess'])}, {percent(m['guess_blind'])}"),
            ("surest belief after an answer", percent(m["surest"])),
            ("unknown bits before, after", f"{m['entropy']:.3f}, {m['conditional_entropy']:.3f}"),
            ("privacy loss (average)", percent(m["privacy_loss"])),
            ("hides among, unevenness", f"{m['k_anonymity']}, {m['k_distance']:.3f} bits"),
            ("telling two values apart", f"{m['auc']:.3f}"),
        ]
    if "changes" in m:
        found = m["changes"]
        least, most = percent(found["least"]), percent(found["most"])
        rows.append(("a change shows, under a key", most if least == most else f"{least} to {most}"))
        if found["without"]:
            rows.append(
                ("looks changed and is not, ever seen", f"{percent(found['without'])}, {percent(found['ever'])}")
            )
    if "effective_sample_size" in m:
        ceiling = percent(m["effective_sample_bound"])
        rows.append(("effective sample, ceiling", f"{percent(m['effective_sample_size'])}, {ceiling}"))
    if "half_width" in m:
        rows.append(("each share, 95 %", points(m["half_width"])))
    if "half_width_mean" in m:
        rows.append(("the mean, 95 %", f"± {percent(m['half_width_mean'])} of the range"))
    if "half_width_cdf" in m:
        rows.append(("each running share, 95 %", points(m["half_width_cdf"])))
    return rows
