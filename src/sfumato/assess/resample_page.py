"""The owner's report on a resampled table: one page, in words first, with what the attack reached by every feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from sfumato.arrays import Array
from sfumato.assess.comparison import BOUND, Row
from sfumato.assess.disclosure import Disclosure
from sfumato.assess.other_methods import other_methods
from sfumato.assess.report.sentences import percent
from sfumato.assess.resample_pictures import attacks, columns
from sfumato.membership import Risk
from sfumato.owner.resample import Resampled
from sfumato.owner.resample.calibrate import check_bounds
from sfumato.owner.resample.intake import FEW
from sfumato.pages import Section
from sfumato.pages import page as shell
from sfumato.pages.parts import badge, paragraphs, table, terms
from sfumato.printable import many

#: Rows that point at their own record this many times as often as by chance are no good release, whatever was asked.
_POINTING = 10.0
#: What an AUC is called: about what proofs of gamma 3, 10 and 100 leave open, the limits of these words for an answer.
_GRADES = ((0.60, "strong", "good"), (0.68, "moderate", "fair"), (0.80, "weak", "poor"), (1.0, "very weak", "bad"))

WORDS = (
    ("Membership", "Whether a person's record was in the table at all. To know it can be to know an illness."),
    (
        "AUC",
        "How well an attack tells members from others: take one of each at random, and it names the member this often. "
        "0.5 is a coin toss, 1 is certainty.",
    ),
    ("Shadow release", "A release that the attacker makes himself, in the same way, from people he knows."),
    ("Outlier", "One of the loneliest tenth of the records of a class: those far from all others."),
    ("Linkage", "How often the record nearest to a released row is the one that the row came from."),
    ("Blind", "What the same guess reaches without looking at the release."),
    ("φ (phi)", "How many more test records in a hundred a classifier gets wrong when it learns from released rows."),
    ("±", "One standard error: a repetition of the measurement would move by about so much."),
)


def page(
    X: Array,
    released: Resampled,
    found: Disclosure,
    measured: Risk | None = None,
    rows: Sequence[Row] = (),
    title: str = "",
) -> str:
    """The page as HTML with its pictures inside. It shows raw distributions, so it stays with the owner.

    ``measured`` is what the shadow attack reaches where no bound was asked for: against the paper's kernel, or beside
    a proof.
    """
    risk = released.worst or measured
    sections = [
        Section("Who was in the table?", _membership(risk) + _sites(released)),
        Section("Which record is behind a row?", _facts(found)),
        Section(
            "What the data look like",
            "<p>The first columns, raw and released. This part shows raw data: keep the page with the owner.</p>"
            + columns(X, released),
        ),
        *([Section("Other methods at the same risk", _others(rows, released))] if rows else []),
        Section(
            "What travels",
            "<p>The released rows; how they were made, with the setting; how many there are of each class at each "
            "site; what was asked and measured, or what is proved. No record, and not which record is behind a row.</p>"
            + _proportions(released),
        ),
        Section("What this is not", _limits(released)),
        Section("What the words mean", terms(WORDS)),
    ]
    about = f"{escape(title)} · {len(released):,} released rows · {escape(released.method)}"
    return shell("What does this release disclose?", _verdict(released, measured, found), sections, about)


def _verdict(released: Resampled, measured: Risk | None, found: Disclosure) -> str:
    risk, proof = released.worst, released.guarantee
    pointing = not math.isnan(found.linked) and found.linked > _POINTING * found.chance
    linked = (
        f"{percent(found.linked)} of the rows lie nearest to the very record they came from, where chance would be "
        f"{percent(found.chance)}: {found.linked / max(found.chance, 1e-12):,.0f} times as many."
        if pointing
        else ""
    )
    beside = f"Measured beside it: {_reached(measured)}." if measured is not None else ""
    if proof is not None:
        first = f"No attack on any record has an AUC above {proof.auc:.3f}: this is proved."
        text = (
            f"Epsilon {proof.epsilon:g}, delta {proof.delta:g}, if the declared ranges were not taken from the records."
        )
        word, kind = _graded("proved", proof.auc)
        return _said(first, word, "bad" if pointing else kind, pointing, [text, linked, beside])
    if risk is None:
        first = "No bound was asked for, and nothing limits what the paper's kernel shows."
        return _said(first, "no bound", "bad", pointing, [linked, beside])
    asked = f"asked: at most {risk.asked:g}, and {risk.outliers_asked:g} for outliers"
    text = f"Measured against the shadow attack: {_reached(risk)} ({asked})."
    if risk.held:
        small = _small(released)
        first = "The bound is held" + (
            ", but rows point at their records." if pointing else ", but not told for small classes." if small else "."
        )
        word, kind = _graded("held on average" if small else "held", max(risk.auc, risk.outliers))
        kind = "bad" if pointing else "fair" if small and kind == "good" else kind
        return _said(first, word, kind, pointing, [text, small, linked])
    whole, outer = risk.nearest
    least = f"What is held: {whole:g}, and {outer:g} for outliers."
    return _said("The bound is not held.", "not held", "bad", pointing, [text, least, linked])


def _said(first: str, word: str, kind: str, pointing: bool, lines: Sequence[str]) -> str:
    """The verdict in a sentence, its badge, and what supports it; nothing is green where rows point at records."""
    shown = f"{word}, but rows point at records" if pointing and word not in ("not held", "no bound") else word
    return paragraphs([first]) + f"<p>{badge(shown, kind)}</p>" + paragraphs(line for line in lines if line)


def _graded(word: str, auc: float) -> tuple[str, str]:
    """A bound that leaves more open than strong protection does is called so, and is not green."""
    grade, kind = next((grade, kind) for limit, grade, kind in _GRADES if auc <= limit)
    return (word if kind == "good" else f"{word}, protection {grade}"), kind


def _small(released: Resampled) -> str:
    """Of how many classes the average over the table says little."""
    few = [n for n in released.plan.records.values() if n < FEW]
    if not few:
        return ""
    classes = f"{many(len(few), 'class has', 'classes have')} fewer than {FEW} records, the smallest {min(few)}"
    return f"{classes}: an average over the table says little of so few. Pool sites, or leave them out."


def _reached(risk: Risk) -> str:
    outer = f"{risk.outliers:.3f} ± {risk.outliers_error:.3f} on outliers"
    return f"AUC {risk.auc:.3f} ± {risk.error:.3f} on all records, {outer}"


def _membership(risk: Risk | None) -> str:
    if risk is None:
        return "<p>The attack was not run.</p>"
    text = paragraphs(
        [
            f"The attacker knows the method, its setting and a pool of people, half of whom are in the table. He "
            f"draws {risk.shadows} shadow releases of random halves, and learns from {len(risk.attacks)} features how "
            f"a release changes when a person is in it. 0.5 is blind guessing, 1 is certainty; ± is one standard "
            f"error. Outliers are the loneliest tenth of the records of their class, whom a release exposes first.",
            "The picture shows what each feature reaches by itself. The attack weighs all of them together.",
        ]
    )
    return text + attacks(risk)


def _sites(released: Resampled) -> str:
    """Every site by itself, where there are several: the picture is that of the worst."""
    if len(released.risk) < 2:
        return ""
    lines = [
        [
            str(place),
            f"{one.auc:.3f} ± {one.error:.3f}",
            f"{one.outliers:.3f} ± {one.outliers_error:.3f}",
            "held" if one.held else "NOT HELD",
            released.settings[place].words if place in released.settings else "",
        ]
        for place, one in list(released.risk.items())[:40]
    ]
    heads = ["site", "all records", "outliers", "bound", "setting"]
    return "<p>The picture is of the site that discloses most. All sites:</p>" + table(heads, lines, "sites", (1, 2))


def _facts(found: Disclosure) -> str:
    near = [
        ("Median distance to the closest record", f"{found.closest:.2f}", f"between records: {found.usual:.2f}"),
        ("Nearest to second-nearest distance, median", f"{found.ratio:.2f}", "near 0: a row points at one record"),
    ]
    note = "<p>Distances in standard deviations of each column.</p>"
    if math.isnan(found.linked):
        text = "<p>None: rows are drawn from a model of each class. How close they fall to records all the same:</p>"
        return text + table(["", "", ""], near, "closeness", (1,)) + note
    lines = [
        (
            "Rows whose nearest record is the one they came from",
            percent(found.linked),
            f"blind: {percent(found.chance)}",
        ),
        *(
            [("The same for rows that came from outliers", percent(found.linked_outliers), "")]
            if not math.isnan(found.linked_outliers)
            else []
        ),
        *near,
        ("Dependence of a row on its centre, at least", f"{found.ind:.2f}", "0: independent, 1: a function of it"),
    ]
    return table(["", "", ""], lines, "linkage", (1,)) + note


def _others(rows: Sequence[Row], released: Resampled) -> str:
    worst = released.worst
    asked, outer = (None, None) if worst is None else (worst.asked, worst.outliers_asked)
    return other_methods(rows, *check_bounds(asked or BOUND, outer), chosen=worst is not None)


def _proportions(released: Resampled) -> str:
    entries = released.proportions
    keys = [key for key in ("site", "class", "rows") if key in entries[0]]
    lines = [[_shown(key, entry[key]) for key in keys] for entry in entries[:40]]
    more = f"<p>and {len(entries) - 40} more</p>" if len(entries) > 40 else ""
    return table(keys, lines, "rows of each class") + more


def _shown(key: str, entry: Any) -> str:
    if key == "rows":
        return f"{entry:,}"
    return "no answer" if entry in ("", None) else str(entry)


def _limits(released: Resampled) -> str:
    dapl = (
        "DAPL, the paper's own measure, is left out on purpose: it tells the fit of a density, not what is disclosed."
    )
    if released.guarantee is not None:
        return paragraphs(
            [
                "The proof is about one release of these records, one row for each person, and class sizes that are no "
                "secret. A second release adds to the first. Noise is drawn in double precision.",
                dapl,
            ]
        )
    return paragraphs(
        [
            "These numbers are measured against the attack described above, on this table. They prove nothing about "
            "other attacks. Where a bound must hold against every attack, ask for a proof (--epsilon, --ranges), or "
            "use channels (sfumato randomize), also where columns are categorical.",
            dapl,
        ]
    )
