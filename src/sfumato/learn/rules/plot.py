"""A picture of rules: a point and an interval for each confidence, support as the size of the point."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from sfumato.errors import EstimationError
from sfumato.learn.rules.measures import Rule
from sfumato.pages.picture import empty_picture, saved, set_title
from sfumato.printable import figure_text, level_text, many

_WIDTH = 58


def draw(found: Sequence[Rule], path: str | Path | None, most: int, level: float, n: float) -> Any:
    """The first rules, most confident on top; ``level`` is that of their intervals, n the number of records."""
    rules = found[:most]
    if not rules:
        raise EstimationError("there are no rules to draw: lower min_support or min_confidence")
    labels = [label(rule) for rule in rules]
    lines = np.array([text.count("\n") + 1 for text in labels])
    # a rule takes as much height as its words do
    at = (lines.sum() - np.cumsum(lines) + lines / 2) * 0.5
    figure, axes = empty_picture(9.0, 1.5 + 0.17 * int(lines.sum()) + 0.1 * len(rules), grid="x")
    low, high = [rule.confidence_low for rule in rules], [rule.confidence_high for rule in rules]
    axes.hlines(at, low, high, color="#2b6cb0", linewidth=5, alpha=0.3, label=f"{level_text(level)} interval")
    sizes = [20 + 260 * rule.support for rule in rules]
    axes.scatter([rule.confidence for rule in rules], at, s=sizes, color="#2b6cb0", label="confidence (area: support)")
    span = max(1 - min(low), 0.02)
    axes.set_xlim(max(min(low) - 0.05 * span, -0.02), 1 + 0.05 * span)  # room for the points, not for more than 1
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 1.0 + 1e-9])
    axes.set_xlim(max(min(low) - 0.05 * span, -0.02), 1 + 0.05 * span)
    axes.set_ylim(-0.3, float(lines.sum()) * 0.5 + 0.3)
    axes.set_yticks(at, labels)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(f"confidence, from {n:,} records")
    which = f"The surest {len(rules)} of {len(found):,} rules" if len(rules) < len(found) else many(len(found), "rule")
    set_title(axes, f"{which}: how often the right side holds where the left does")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return saved(figure, path)


def label(rule: Rule) -> str:
    """The rule in words, broken between items where it is long, and within one that no line holds."""
    lines = [""]
    before, after = (" + ".join(map(figure_text, side)) for side in (rule.antecedent, rule.consequent))
    for word in (before, f"⇒ {after}"):
        pieces = word.replace(" + ", " +\n").split("\n")
        for piece in (part for whole in pieces for part in wrap(whole, _WIDTH)):
            if lines[-1] and len(lines[-1]) + len(piece) >= _WIDTH:
                lines.append("")
            lines[-1] = f"{lines[-1]} {piece}".strip()
    return "\n".join(lines)
