"""The report as one HTML file: its style and pictures inside it, no network and no script."""

from __future__ import annotations

from html import escape
from typing import Any

from sfumato.assess.report import figures, words
from sfumato.assess.report.cautions import cautions
from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.numbers import GLOSSARY, numbers
from sfumato.assess.report.summary import summary, whole

STYLE = """
:root { --ink: #2b2a28; --soft: #6f6a62; --line: #e2ddd3; --paper: #fbfaf7; --accent: #2d6a8e; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, serif; }
main { max-width: 940px; margin: 0 auto; padding: 44px 28px 70px; }
h1 { font-size: 31px; line-height: 1.2; margin: 0 0 6px; font-weight: 600; }
h2 { font-size: 22px; margin: 44px 0 10px; font-weight: 600; padding-bottom: 5px;
  border-bottom: 1px solid var(--line); }
h3 { font-size: 18.5px; margin: 0; font-weight: 600; }
p { margin: 0 0 10px; }
.about { color: var(--soft); font-size: 14.5px; margin-bottom: 26px; }
.about code { font-size: 13px; }
.short { font-size: 17.5px; background: #f3efe6; border-left: 4px solid var(--accent); padding: 14px 20px 6px; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; line-height: 1.35; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px; vertical-align: bottom; }
th, td { padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); }
td { vertical-align: top; }
.num { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; padding-right: 14px; }
.wide { overflow-x: auto; margin: 16px 0; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 10px; font-size: 13px; white-space: nowrap;
  color: #fff; font-family: "Helvetica Neue", Arial, sans-serif; }
.strong { background: #3f7a4d; } .moderate { background: #8a7420; } .weak { background: #b4682d; }
.very-weak { background: #a8452d; } .none { background: #8e2a2a; } .single { background: #8b867d; }
.caution { border-left: 4px solid #c9a227; background: #fdf7e3; padding: 9px 16px; margin: 9px 0; font-size: 15px; }
.caution.serious { border-left-color: #a8352d; background: #fbeceb; }
.caution b { display: block; }
.unit { margin: 26px 0 34px; page-break-inside: avoid; }
.unit > header { display: flex; gap: 12px; align-items: baseline; margin-bottom: 8px; flex-wrap: wrap; }
.unit > header .channel { color: var(--soft); font-size: 13.5px; }
.cols { display: grid; grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr); gap: 34px; align-items: start; }
.cols .words p { font-size: 15.5px; }
.cols table { font-size: 13.5px; }
.cols td { padding: 4px 8px 4px 0; }
.panels { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin-top: 18px; align-items: end; }
figure { margin: 0; } svg { width: 100%; height: auto; display: block; }
dl { font-size: 15px; } dt { font-weight: 600; margin-top: 10px; } dd { margin: 0; }
@media (max-width: 760px) { .cols { grid-template-columns: 1fr; } .panels { grid-template-columns: 1fr 1fr; } }
@media print { body { background: #fff; } main { padding: 0; } }
"""

_MOST_DRAWN = 12  # attributes with pictures: more make the page heavy, and nobody looks at them


def page(facts: Facts, title: str) -> str:
    """The whole document."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        _about(facts),
        f'<div class="short">{_paragraphs(summary(facts))}</div>',
        _overview(facts),
        _cautions(facts),
        "<h2>Attribute by attribute</h2>",
        *[_unit(unit, facts.n, drawn=i < _MOST_DRAWN) for i, unit in enumerate(facts.units)],
        _undrawn(facts),
        *[_noisy(name, measures) for name, measures in facts.noise.items()],
        _whole(facts),
        _glossary(),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main></body></html>\n"
    )


def _about(facts: Facts) -> str:
    count = len(facts.scheme.schema)
    records = f"{words.records(facts.n)}, " if facts.n is not None else ""
    many = "1 attribute" if count == 1 else f"{count} attributes"
    mark = facts.scheme.fingerprint[:16]
    return f'<p class="about">{records}{many}. The scheme\'s fingerprint begins with <code>{mark}</code>.</p>'


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{_text(line)}</p>" for line in lines)


def _text(line: str) -> str:
    return words.whole_numbers(escape(line))


def _overview(facts: Facts) -> str:
    head = (
        "<tr><th>Attribute</th><th>Protection</th><th class='num'>γ</th><th class='num'>best guess<br>right</th>"
        "<th class='num'>blind guess<br>right</th><th class='num'>10 % suspicion<br>becomes at most</th>"
        "<th class='num'>accuracy<br>left</th></tr>"
    )
    rows = []
    for unit in facts.units:
        m = unit.measures
        reach = m.get("half_width_cdf", m.get("half_width"))
        cells = [
            words.number(m["gamma"]),
            words.percent(m["guess"]) if "guess" in m else "",
            words.percent(m["guess_blind"]) if "guess_blind" in m else "",
            words.percent(m["beliefs"]["0.1"]) if unit.channel.k > 1 else "",
            "exact" if unit.identity else words.points(reach) if reach is not None else "",
        ]
        row = "".join(f'<td class="num">{escape(cell)}</td>' for cell in cells)
        rows.append(f"<tr><td>{escape(unit.title)}</td><td>{_badge(unit)}</td>{row}</tr>")
    rows += [
        f'<tr><td>{escape(name)}</td><td><span class="badge none">none</span></td><td class="num">∞</td>'
        f'<td colspan="4">additive noise, sd {words.number(m["sd"])}</td></tr>'
        for name, m in facts.noise.items()
    ]
    picture = figures.overview(facts)
    drawn = f"<figure>{picture}</figure>" if picture and len(facts.units) <= 24 else ""
    return f'<h2>At a glance</h2><div class="wide"><table>{head}{"".join(rows)}</table></div>{drawn}'


def _badge(unit: Unit) -> str:
    if unit.channel.k == 1:
        return '<span class="badge single">one value</span>'
    word = words.grade(unit.measures["gamma"])
    return f'<span class="badge {word.replace(" ", "-")}">{word}</span>'


def _cautions(facts: Facts) -> str:
    found = cautions(facts)
    if not found:
        return ""
    rows = [
        f'<div class="caution{" serious" if c.serious else ""}"><b>{escape(c.title)}</b>{_text(c.text)}</div>'
        for c in found
    ]
    return "<h2>What to watch</h2>" + "".join(rows)


def _undrawn(facts: Facts) -> str:
    left = len(facts.units) - _MOST_DRAWN
    return f'<p class="about">Pictures are drawn for the first {_MOST_DRAWN} attributes only.</p>' if left > 0 else ""


def _unit(unit: Unit, n: int | None, drawn: bool = True) -> str:
    said = [words.what_happens(unit)]
    if unit.channel.k > 1:
        said = said + words.learns(unit) + words.accuracy(unit, n)
    rows = "".join(
        f'<tr><td>{escape(name)}</td><td class="num">{escape(value)}</td></tr>'
        for name, value in (numbers(unit) if unit.channel.k > 1 else [])
    )
    header = (
        f"<header><h3>{escape(unit.title)}</h3>{_badge(unit)}"
        f'<span class="channel">{escape(str(unit.channel))}</span></header>'
    )
    panels: list[str | None] = []
    if drawn and unit.channel.k > 1 and not unit.identity:
        panels = [figures.heat_map(unit), figures.beliefs(unit), figures.payoff(unit), figures.precision(unit, n)]
    small = "".join(f"<figure>{p}</figure>" for p in panels if p)
    below = f'<div class="panels">{small}</div>' if small else ""
    body = f'<div class="cols"><div class="words">{_paragraphs(said)}</div><table>{rows}</table></div>'
    return f'<section class="unit">{header}{body}{below}</section>'


def _noisy(name: str, measures: dict[str, Any]) -> str:
    header = (
        f'<header><h3>{escape(name)}</h3><span class="badge none">none</span>'
        f'<span class="channel">{escape(measures["noise"])}</span></header>'
    )
    kept = [("standard deviation", words.number(measures["sd"])), ("95 % interval", words.number(measures["interval"]))]
    if "privacy_loss" in measures:
        kept.append(("privacy loss (average)", words.percent(measures["privacy_loss"])))
    rows = "".join(f'<tr><td>{escape(n)}</td><td class="num">{escape(v)}</td></tr>' for n, v in kept)
    said = _paragraphs(words.noisy(measures))
    body = f'<div class="cols"><div class="words">{said}</div><table>{rows}</table></div>'
    return f'<section class="unit">{header}{body}</section>'


def _whole(facts: Facts) -> str:
    guarded = [unit for unit in facts.units if unit.channel.k > 1 and not unit.identity]
    if len(guarded) < 2:
        return ""
    factors = " × ".join(
        words.number(unit.measures["gamma"]) + (f"^{unit.alike}" if unit.alike > 1 else "") for unit in guarded[:12]
    )
    more = " × …" if len(guarded) > 12 else ""
    return (
        "<h2>The whole record</h2>"
        f"<p>{escape(whole(facts))}</p>"
        f'<p class="about">The factors of the randomized attributes multiply: {escape(factors)}{more}.</p>'
    )


def _glossary() -> str:
    rows = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in GLOSSARY)
    return f"<h2>What the numbers mean</h2><dl>{rows}</dl>"
