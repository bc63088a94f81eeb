"""The report as one HTML file, in the shell of all pages."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from sfumato.assess.report import plot as figures
from sfumato.assess.report import sentences
from sfumato.assess.report.cautions import cautions
from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.numbers import GLOSSARY, numbers
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
    whole,
)
from sfumato.assess.report.what_happens import what_happens
from sfumato.forms import Forms
from sfumato.pages import Section
from sfumato.pages import page as shell
from sfumato.pages.parts import badge, breakable, callout, folded, scrolling, table, terms
from sfumato.printable import many

_MOST_DRAWN = 12  # attributes with pictures: more make the page heavy, and nobody looks at them
_MOST_OPEN = 3  # attributes that stand open: more make many screens on a phone
_KINDS = {"strong": "good", "moderate": "fair", "weak": "poor", "very weak": "bad", "none": "worst"}
TOGETHER = "All answers of one person together"


def page(facts: Facts, title: str) -> str:
    """The whole document."""
    fold = len(facts.shown) > _MOST_OPEN
    sections = [
        Section("At a glance", _overview(facts)),
        *([Section("What to watch", watched)] if (watched := _cautions(facts)) else []),
        *([Section("The whole record", together)] if (together := _whole(facts)) else []),
        Section("Attribute by attribute", _undrawn(facts)),
        *[_unit(unit, facts.n, i < _MOST_DRAWN, fold) for i, unit in enumerate(facts.shown)],
        *[_noisy(name, measures) for name, measures in facts.noise.items()],
        Section("What the numbers mean", terms(GLOSSARY)),
    ]
    return shell(title, _verdict(facts), sections, _about(facts))


def _about(facts: Facts) -> str:
    count = len(facts.scheme.schema)
    records = f"{sentences.records(facts.n)}, " if facts.n is not None else ""
    mark = facts.scheme.fingerprint[:16]
    return f"{records}{many(count, 'attribute')}. The scheme's fingerprint begins with <code>{mark}</code>."


def _verdict(facts: Facts) -> str:
    """One sentence, the two grades it rests on, and the report in short."""
    grades = []
    answers = [(unit.title, float(unit.measures["gamma"])) for unit in facts.units if unit.channel.k > 1]
    answers += [(name, math.inf) for name in facts.noise]
    if answers:
        worst, gamma = max(answers, key=lambda answer: answer[1])
        alike = len({sentences.bound(value) for _, value in answers}) == 1
        which = "Each answer" if alike else f"The worst answer ({worst})"
        grades.append(_graded(which if several(facts) else "The one answer of each person", gamma))
    if several(facts):
        grades.append(_together(facts))
    grades += [_line(graded_gamma(epsilon), words) for epsilon, words in gives_away(facts)]
    return f"<p>{escape(verdict(facts))}</p>{''.join(grades)}{_paragraphs(summary(facts))}"


def _graded(what: str, gamma: float) -> str:
    return _line(gamma, f"{what}: γ\u00a0{sentences.bound(gamma)}")


def _together(facts: Facts) -> str:
    epsilon = record_epsilon(facts)
    return _line(graded_gamma(epsilon), f"{TOGETHER}: γ\u00a0{factor(epsilon)}")


def _line(gamma: float, words: str) -> str:
    return f'<p class="grade">{_grade(gamma)}<span>{_hard_spaces(words)}</span></p>'


def _hard_spaces(words: str) -> str:
    return escape(words).replace("\u00a0", "&nbsp;")


def _grade(gamma: float) -> str:
    word = sentences.grade(gamma)
    return badge(word, _KINDS[word])


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{_text(line)}</p>" for line in lines)


def _text(line: str) -> str:
    return sentences.whole_numbers(escape(line))


def _overview(facts: Facts) -> str:
    heads = ("γ", "best guess right", "blind guess right", "10 % suspicion becomes at most", "accuracy left")
    rows, many = [], len(facts.shown) < len(facts.units)
    first = "Form" if isinstance(facts.scheme, Forms) else "Attribute"
    head = f'<th scope="col">{first}</th><th scope="col">Protection</th>' + "".join(
        f'<th scope="col" class="num">{sentences.whole_numbers(text)}</th>' for text in heads
    )
    for unit in facts.units:
        m = unit.measures
        reach = m.get("half_width_cdf", m.get("half_width", m.get("half_width_mean")))
        cells = [
            sentences.bound(m["gamma"]),
            sentences.percent(m["guess"]) if "guess" in m else "",
            sentences.percent(m["guess_blind"]) if "guess_blind" in m else "",
            _grown(unit) if unit.channel.k > 1 else "",
            sentences.points(reach) if reach is not None else "exact" if unit.identity else "",
        ]
        row = "".join(f'<td class="num">{escape(cell)}</td>' for cell in cells)
        rows.append(f'<tr><th scope="row">{breakable(unit.title)}</th><td>{_badge(unit)}</td>{row}</tr>')
    rows += [
        f'<tr><th scope="row">{breakable(name)}</th><td>{_grade(math.inf)}</td><td class="num">∞</td>'
        f'<td colspan="4">additive noise, sd {sentences.number(m["sd"])}</td></tr>'
        for name, m in facts.noise.items()
    ]
    column = facts.clear_ids or facts.pseudonyms
    if column is not None:
        what = "the id itself" if facts.clear_ids else "a pseudonym of each person"
        mark = badge("none", "worst") if facts.clear_ids else badge("identifier")
        rows.append(
            f'<tr><th scope="row">{breakable(column)}</th><td>{mark}</td><td colspan="5">identifier: {what}</td></tr>'
        )
    if several(facts):
        epsilon = record_epsilon(facts)
        how = "each person answers one form" if isinstance(facts.scheme, Forms) else "the factors multiply"
        rows.append(
            f'<tr class="total"><th scope="row">{TOGETHER}</th><td>{_grade(graded_gamma(epsilon))}</td>'
            f'<td colspan="5">γ&nbsp;{factor(epsilon)}: {how}</td></tr>'
        )
    inside = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    drawn = figures.overview(facts) if len(facts.units) <= 24 and not many else None
    shown = scrolling(inside, "Protection and accuracy of every attribute")
    if many:
        shown = _paragraphs([forms_in_short(facts)]) + folded("All forms in a table", shown)
    return shown + (drawn or "")


def _grown(unit: Unit) -> str:
    """What a suspicion of 10 % becomes at most; without a bound, knowledge."""
    reached = float(unit.measures["beliefs"]["0.1"])
    return sentences.belief(reached) if float(unit.measures["gamma"]) < math.inf else sentences.percent(reached)


def _badge(unit: Unit) -> str:
    return badge("one value") if unit.channel.k == 1 else _grade(float(unit.measures["gamma"]))


def _cautions(facts: Facts) -> str:
    return "".join(
        callout(c.title, sentences.whole_numbers(c.text), "alarm" if c.serious else "note") for c in cautions(facts)
    )


def _undrawn(facts: Facts) -> str:
    if len(facts.shown) < len(facts.units):
        return '<p class="about">The form that tells most is shown; the others are built alike.</p>'
    if len(facts.units) <= _MOST_DRAWN:
        return ""
    return f'<p class="about">Pictures are drawn for the first {_MOST_DRAWN} attributes only.</p>'


def _unit(unit: Unit, n: int | None, drawn: bool, fold: bool) -> Section:
    said = [what_happens(unit)]
    rows: list[tuple[str, str]] = []
    if unit.channel.k > 1:
        said = said + sentences.learns(unit) + sentences.accuracy(unit, n)
        rows = numbers(unit)
    panels: list[str | None] = []
    if drawn and unit.channel.k > 1 and not unit.identity:
        panels = [figures.heat_map(unit), figures.beliefs(unit), figures.payoff(unit), figures.precision(unit)]
    small = "".join(f"<figure>{p}</figure>" for p in panels if p)
    shown = _numbers(unit.title, rows) + (f'<div class="panels">{small}</div>' if small else "")
    first, *rest = said
    if fold and (rest or shown):
        opened = _channel(str(unit.channel)) + _paragraphs(rest) + shown
        return Section(unit.title, _paragraphs([first]) + folded(f"All about {unit.title}", opened), 3, _badge(unit))
    return Section(unit.title, _channel(str(unit.channel)) + _paragraphs(said) + shown, 3, _badge(unit))


def _channel(name: str) -> str:
    return f'<p class="channel">{escape(name)}</p>'


def _numbers(title: str, rows: list[tuple[str, str]]) -> str:
    whole = [(sentences.whole_numbers(what), sentences.whole_numbers(number)) for what, number in rows]
    return table(("", ""), whole, f"Numbers of {title}", numeric=[1]) if rows else ""


def _noisy(name: str, measures: dict[str, Any]) -> Section:
    kept = [
        ("standard deviation", sentences.number(measures["sd"])),
        ("95 % interval", sentences.number(measures["interval"])),
    ]
    if "privacy_loss" in measures:
        kept.append(("privacy loss (average)", sentences.percent(measures["privacy_loss"])))
    body = _channel(measures["noise"]) + _paragraphs(sentences.noisy(measures)) + _numbers(name, kept)
    return Section(name, body, 3, _grade(math.inf))


def _whole(facts: Facts) -> str:
    if not several(facts):
        return ""
    guarded = facts.guarded
    out = f"{_together(facts)}{_paragraphs([whole(facts)])}"
    if sum(unit.alike for unit in guarded) > 1:
        factors = " × ".join(
            sentences.bound(unit.measures["gamma"]) + (f"^{unit.alike}" if unit.alike > 1 else "")
            for unit in guarded[:12]
        )
        more = f" × …, {len(guarded)} factors" if len(guarded) > 12 else ""
        if not isinstance(facts.scheme, Forms):
            out += f'<p class="about">The factors of the randomized attributes multiply: {escape(factors)}{more}.</p>'
    return out + _correlated(facts)


def _correlated(facts: Facts) -> str:
    """What answers about other attributes add to the guess of each, where attributes go together."""
    if not facts.correlated:
        return ""
    rows = [
        (one.attribute, *map(sentences.percent, (one.blind, one.own, one.both)), one.beside) for one in facts.correlated
    ]
    heads = ("", "blind guess right", "from its own answer", "from both answers", "the other answer")
    return _paragraphs([correlated_pair(facts)]) + table(heads, rows, "Guesses from several answers", numeric=[1, 2, 3])
