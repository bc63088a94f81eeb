"""A regression as text, in the manner of statsmodels."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from sfumato.evidence.limits import check_level
from sfumato.learn.regression.binned_numbers import BinnedNumbers
from sfumato.learn.regression.problem import SHRUNK
from sfumato.pages.display import shown
from sfumato.printable import label_text, many, printable, readable_bins

_LEAST = 78
_NARROW = 24  # characters that a term needs at least
_NOTHING_TOLD = 0.2  # standard errors that the clearest coefficient is away from 0
_MOST_RARE = 3  # values that are named of those that are too rare, and slopes of those that are too steep


def summary(model: Any, level: float = 0.95) -> str:
    """A head that says how the coefficients were found, and a row for each of them."""
    check_level(level)
    low, high = model.interval(level)
    letter = "z" if np.isinf(model.freedom_) else "t"
    terms = [readable_bins(printable(term)) for term in model.terms_]
    ends = [f"[{(1 - level) / 2:.3g}", f"{(1 + level) / 2:.3g}]"]
    heads = ["coef", "std err", letter, f"P>|{letter}|", *ends]
    rows = [
        [_number(value), _number(sd if np.isfinite(b - a) else np.inf), f"{z:.3f}", f"{p:.3f}", _number(a), _number(b)]
        for value, sd, z, p, a, b in zip(model.coef_, model.sd_, model.z_, model.p_, low, high, strict=True)
    ]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    wide = min(max(map(len, terms)), max(_NARROW, _LEAST - sum(widths) - 2 * len(widths)))
    body = [_line("", heads, wide, widths), *(_line(t, r, wide, widths) for t, r in zip(terms, rows, strict=True))]
    width = max(_LEAST, *(len(line) for lines in body for line in lines.split("\n")))
    title = f"{model.family.capitalize()} regression results"
    head = [f"{name + ':' if name else '':<14}{text}" for name, text in _facts(model, level)]
    double, single = "=" * width, "-" * width
    return "\n".join([title.center(width).rstrip(), double, *head, double, body[0], single, *body[1:], double])


def explained(model: Any) -> str:
    """What coefficients speak of: the target, and of two values the one whose odds they raise."""
    odds = f" (odds of {printable(label_text(model.classes_[1]))})" if model.family == "logistic" else ""
    return printable(model.target_) + odds


def _facts(model: Any, level: float) -> list[tuple[str, str]]:
    out = [("Target", explained(model)), ("Records", f"{model.n_:,}"), *about_records(model, level)]
    out += [("Method", model.method_), ("Covariance", model.covariance_)]
    if model.scale_ is not None:
        known = _number(model.scale_) if model.scale_ > 0 or model.method_ == "exact records" else "not known"
        out.append(("Scale", f"{known}, the variance around the mean"))
    with np.errstate(divide="ignore", invalid="ignore"):
        clearest = float(np.nanmax(np.abs(model.coef_ / model.sd_), initial=0.0))
    if clearest < _NOTHING_TOLD and len(model.terms_) > 1:
        out.append(("Errors", "so wide that nothing is told: take fewer covariates, or another family"))
    if not model.converged_:
        out.append(("Converged", "no: the coefficients mean little"))
    return out


def about_records(model: Any, level: float = 0.95) -> list[tuple[str, str]]:
    """Whom the coefficients leave out, what is too rare to be told, how numbers in bins count, what is not known."""
    out = []
    if model.left_out_ > 0:
        guessed = "" if model.method_ == "exact records" else ", as estimated"
        out.append(("Left out", f"{many(model.left_out_, 'record')} without an answer{guessed}"))
    if unheld := _unheld(model):
        out.append(("Not held", f"no record seems to hold {', '.join(unheld)}: no limit can be drawn around them"))
    if ends := _open_ends(model, level):
        out.append(("Open", f"perhaps nobody lies beyond {', '.join(ends)}: on that side there is no limit"))
    if model.hardly_silent_:
        told = ", ".join(f"{printable(name)} ({count:,.0f})" for name, count in model.hardly_silent_.items())
        out.append(("No answer", f"too few to tell, taken as the mean: {told}"))
    rare = model.rare_values_
    if rare.records:
        named = list(rare.records.items())[:_MOST_RARE]
        told = ", ".join(f"{printable(name)} ({count:,.0f})" for name, count in named)
        told += f" and {len(rare.records) - len(named)} more" if len(rare.records) > len(named) else ""
        out.append(("Rare values", f"too few to tell, taken as the mean of the others: {told}"))
    if rare.compared_with:
        told = ", ".join(f"{printable(name)} with {printable(value)}" for name, value in rare.compared_with.items())
        out.append(("Compared", f"{told}, since the first value is so rare"))
    out += known_by_bins(model.binned_)
    if steep := _steep(model):
        told = ", ".join(steep[:_MOST_RARE]) + (f" and {len(steep) - _MOST_RARE} more" if steep[_MOST_RARE:] else "")
        out.append(("Not known", f"how steep {told} may be: steeper slopes fit as well under this noise"))
    if model.method_ == SHRUNK:
        out.append(("Not known", "how steep steep slopes are: they may lie far beyond the limits, away from 0"))
    return out


def _unheld(model: Any) -> list[str]:
    """The grades that an ordinal regression leaves out, because their estimated counts are 0 or less."""
    if model.family != "ordinal":
        return []
    held = set(map(label_text, model.classes_.tolist()))
    grades = [label_text(label) for label in model.schema_[model.target_].labels if label is not None]
    return [readable_bins(printable(grade)) for grade in grades if grade not in held]


def _open_ends(model: Any, level: float) -> list[str]:
    """The ends of levels beyond which the records do not tell whether there is anybody."""
    first, steep = len(model.columns_), _any_open(model)
    rows = zip(model.terms_, *model.interval(level), steep, strict=True)
    return [_shown(term) for term, low, high, own in list(rows)[first:] if np.isinf(high - low) and not own]


def _steep(model: Any) -> list[str]:
    """The covariates of which the noise does not tell how steep their slopes are."""
    rows = zip(model.terms_, model.intercepts, _any_open(model), strict=True)
    return [_shown(term) for term, intercept, own in rows if own and not intercept]


def _any_open(model: Any) -> list[bool]:
    return [False] * len(model.terms_) if model.steep_ is None else np.logical_or(*model.steep_).tolist()


def _shown(term: str) -> str:
    return readable_bins(printable(term))


def known_by_bins(binned: BinnedNumbers) -> list[tuple[str, str]]:
    """What values that are no numbers count as, and what errors leave out of numbers that are known by their bins."""
    out = []
    if binned.units:
        out.append(("Counted", ", ".join(f"{printable(name)} in {unit}" for name, unit in binned.units.items())))
    if binned.off_by:
        told = ", ".join(f"{printable(name)} (by up to {shown(half)})" for name, half in binned.off_by.items())
        out += [
            ("Bins", f"numbers count as the middle of their bin, and may lie off it: {told}"),
            ("", "errors and intervals are those of the middles; the numbers' own coefficients may differ"),
        ]
    if binned.clipped:
        told = ", ".join(map(printable, binned.clipped))
        out.append(("Clipped", f"numbers beyond the ends of the range count as the ends: {told}"))
    return out


def _line(term: str, cells: list[str], wide: int, widths: list[int]) -> str:
    """A row; a long term is broken, and its numbers stand in the last line of it."""
    *above, last = wrap(term, wide, subsequent_indent="  ") or [""]
    numbers = "".join("  " + cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "\n".join([*above, last.ljust(wide) + numbers])


def _number(value: float) -> str:
    if np.isinf(value):
        return "open"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.3e}"
