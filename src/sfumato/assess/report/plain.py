"""The report as plain text, for a terminal."""

from __future__ import annotations

from textwrap import fill

from sfumato.assess.report import sentences
from sfumato.assess.report.cautions import cautions
from sfumato.assess.report.facts import Facts
from sfumato.assess.report.numbers import numbers
from sfumato.assess.report.summary import (
    correlated_pair,
    factor,
    forms_in_short,
    gives_away,
    graded_gamma,
    record_epsilon,
    several,
    summary,
    verdict,
)
from sfumato.assess.report.what_happens import what_happens


def plain(facts: Facts, title: str, width: int = 100) -> str:
    """The same words and numbers as the page, without pictures."""

    def _fill(line: str, first: str = "", rest: str = "") -> str:
        return fill(sentences.whole_numbers(line), width, initial_indent=first, subsequent_indent=rest)

    out = [title, "=" * len(title), ""]
    out += [_fill(verdict(facts)), ""]
    if several(facts):
        epsilon = record_epsilon(facts)
        word = sentences.grade(graded_gamma(epsilon))
        out += [f"All answers of one person together: {word} (gamma {factor(epsilon)})"]
    out += [_fill(words.replace("γ\u00a0", "gamma "), rest="  ") for _, words in gives_away(facts)] + [""]
    out += [_fill(line) for line in summary(facts)]
    out += [_fill(correlated_pair(facts))] if facts.correlated else []
    found = cautions(facts)
    if found:
        out += ["", "What to watch", "-------------"]
        out += [_fill(f"{'!' if c.serious else '-'} {c.title}. {c.text}", rest="  ") for c in found]
    out += ["", "Attribute by attribute", "----------------------"]
    if len(facts.shown) < len(facts.units):
        out += [
            _fill(forms_in_short(facts)),
            _fill("The form that tells most is shown; the others are built alike."),
            "",
        ]
    for unit in facts.shown:
        if unit.channel.k == 1:
            out += [f"{unit.title}: a single value", ""]
            continue
        out.append(f"{unit.title}: protection {sentences.grade(unit.measures['gamma'])} ({unit.channel})")
        said = [what_happens(unit), *sentences.learns(unit), *sentences.accuracy(unit, facts.n)]
        out += [_fill(line, "  ", "  ") for line in said]
        out += [f"    {name:32s} {value}" for name, value in numbers(unit)]
        out.append("")
    for name, measures in facts.noise.items():
        out.append(f"{name}: protection none ({measures['noise']})")
        out += [*(_fill(line, "  ", "  ") for line in sentences.noisy(measures)), ""]
    return "\n".join(out).rstrip().replace("\u00a0", " ") + "\n"
