"""The questions: means, shares, running shares, quantiles and correlations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.domains import Date, Domain
from sfumato.errors import EstimationError
from sfumato.evidence.density.smooth import Smooth
from sfumato.evidence.protocol import By, Evidence, Where
from sfumato.evidence.questions.answer import Answer
from sfumato.evidence.questions.asked import Asked, ask
from sfumato.evidence.questions.correlations import Correlations
from sfumato.evidence.questions.forms import AnswerForm, Means, Shares
from sfumato.evidence.questions.gather import gather, noisy
from sfumato.evidence.questions.inside_bins import MATERIAL, hidden_spread, middles, widened
from sfumato.evidence.questions.quantiles import Quantiles, check_quantiles, rising
from sfumato.evidence.questions.rows import Rows
from sfumato.evidence.questions.smoothed import smooth_cdf, smooth_quantile
from sfumato.evidence.questions.smoothed_groups import SMOOTH_FROM, heaped, smoothed_groups
from sfumato.evidence.questions.statistics import Factor, ModelSums, Statistic, Sums
from sfumato.evidence.questions.two_values import MeanOfTwo
from sfumato.evidence.questions.values import (
    WHOLE_BINS,
    answered_by,
    behind,
    between,
    clipped,
    ends_of,
    in_units,
    numbers,
    off_by,
    places,
    running_ends,
    scale,
)
from sfumato.schema import Numeric, Ordinal
from sfumato.writing.data_frames import free_name

#: The most running shares of all groups together.
MOST_RUNNING = 1 << 10
#: How often so many are asked for, where groups can be asked one after the other.
MOST_TIMES = 8
_NOT_SMOOTHED = (
    f"nothing is smoothed over neighbouring values: that takes no model, {SMOOTH_FROM} values or more that are "
    "randomized alone, and groups that are not randomized"
)


def mean(ev: Evidence, name: str, by: By = None, where: Where = None, smooth: bool | None = None) -> Answer:
    """The mean of those who answered: Σ value / Σ answered, both unbiased; the estimate smoothed where it may be."""
    asked = ask(ev, [name], by, where, smooth)
    domain = ev.schema[name]
    if not domain.ordered:
        raise EstimationError(
            f'{name!r} has no order, so that it has no mean: ask for its shares, share("{name}"), or declare it ordinal'
        )
    values, answered = numbers(domain), answered_by(domain)
    per, nullable = 2 + domain.nullable, domain.nullable
    own = values[: domain.size - domain.nullable]
    first, width = float(own.min()), float(np.ptp(own))
    two = isinstance(domain, Ordinal) and len(own) == 2 and width > 0
    measured = (values - first) / width if two else values

    def statistics(noises: Collection[str]) -> list[Statistic]:
        value: Factor = 1 if name in noises else measured * answered
        return [{name: value}, {} if name in noises else {name: answered}, *([{}] if nullable else [])]

    sums = asked.sums(statistics)
    at = per * np.arange(len(asked.groups.labels))
    if domain.rounds and isinstance(sums, Sums):
        sums = replace(sums, rounded=tuple((int(i), int(i) + 1, float(values[1] - values[0]) ** 2 / 6) for i in at))
    low, high = (np.full(len(at), end) for end in ends_of(domain, values))
    within = None if name in noisy(ev) else (float(own[0]), float(own[-1]))
    form: AnswerForm = Means(at, at + 1, low, high, within)
    if two:
        form = MeanOfTwo(Shares(at, at + 1, np.zeros(len(at)), np.ones(len(at))), first, width)
    found = _answer(asked, sums, form, f"mean of {name}{scale(domain)}", asked.groups.columns, at + 2)
    named = places(domain) if isinstance(domain, Date) else ()
    found = replace(found, named=named, between_places=True, said=(*found.said, *clipped(domain, "mean")))
    if name not in noisy(ev):
        found = _with_bins(asked, name, found)
    return _smoothed(asked, name, found, smooth, lambda one: [one.mean(own)[0]])


def _with_bins(asked: Asked, name: str, found: Answer) -> Answer:
    """A mean whose limits hold what its bins leave open, where that is more than a part of its error."""
    domain = asked.ev.schema[name]
    if not isinstance(domain, Numeric) or off_by(domain) <= MATERIAL * np.nanmin(found.sd, initial=np.inf):
        return found
    try:
        running = list(_running_by_group(asked, name, domain))
    except EstimationError:  # a channel for means, or too many bins
        return replace(found, said=(*found.said, middles(domain)))
    return widened(found, domain, running)


def share(ev: Evidence, name: str, by: By = None, where: Where = None, *, answered: bool = True) -> Answer:
    """The share of each value among those who answered; else among all records, no answer being one of the values."""
    asked = ask(ev, [name], by, where)
    domain = ev.schema[name]
    k = domain.size - (domain.nullable and answered)
    _check_running(asked, k, name)
    if name in noisy(ev):
        raise EstimationError(f"{name!r} is released with additive noise: ask for its cdf or its density")
    codes = np.eye(domain.size)
    each: list[Statistic] = [{name: codes[i]} for i in range(k)]
    among: Statistic = {name: answered_by(domain)} if answered else {}
    some: list[Statistic] = [among, *([{}] if domain.nullable else [])]
    sums = asked.sums(lambda noises: each + some)
    rows = len(asked.groups.labels)
    start = (len(each) + len(some)) * np.repeat(np.arange(rows), k)
    top, bottom = start + np.tile(np.arange(k), rows), start + k
    plain = ev.method == "moment" and getattr(ev, "weights", None) is None and isinstance(sums, Sums)
    alone = plain and not (asked.groups.names or where or domain.nullable)
    counted = ev.counts([name], quiet=True) if alone else None
    form = Shares(top, bottom, np.zeros(len(top)), np.ones(len(top)), counted=counted)
    keys = {column: list(np.repeat(np.array(v, dtype=object), k)) for column, v in asked.groups.columns.items()}
    keys[free_name(name, keys)] = list(domain.labels[:k]) * rows
    return _answer(asked, sums, form, f"shares of {name}", keys, bottom + 1)


def share_where(ev: Evidence, where: Mapping[str, Any]) -> Answer:
    """The share of all records for which a condition holds."""
    asked = ask(ev, [], None, where)
    sums = gather(ev, asked.attributes, lambda noises: [asked.groups.statistic(0, {}), {}])
    first = np.zeros(1, dtype=np.int64)
    form = Shares(first, first + 1, np.zeros(1), np.ones(1))
    return _answer(asked, sums, form, "share of records", {}, None)


def correlation(ev: Evidence, a: str, b: str, by: By = None, where: Where = None) -> Answer:
    """Pearson's correlation of two attributes among those who answered both."""
    asked = ask(ev, [a, b], by, where)
    if a == b:
        raise EstimationError(f"the correlation of {a!r} with itself is 1: name two attributes")
    for name in (a, b):
        domain = ev.schema[name]
        if not domain.ordered and domain.size - domain.nullable > 2:
            raise EstimationError(f"{name!r} has no order, so that nothing correlates with it: ask for its shares")
    values = {name: numbers(ev.schema[name]) for name in (a, b)}
    answered = {name: answered_by(ev.schema[name]) for name in (a, b)}

    def factor(name: str, power: int, noises: Collection[str]) -> Statistic:
        if name in noises:
            return {name: power} if power else {}
        return {name: values[name] ** power * answered[name]}

    def statistics(noises: Collection[str]) -> list[Statistic]:
        powers = [(0, 0), (1, 0), (0, 1), (2, 0), (0, 2), (1, 1)]
        found: list[Statistic] = [{**factor(a, i, noises), **factor(b, j, noises)} for i, j in powers]
        return [*found, *([{}] if asked.nullable() else [])]

    sums = asked.sums(statistics)
    rows, per = len(asked.groups.labels), 6 + asked.nullable()
    everybody = per * np.arange(rows) + 6
    form = Correlations(rows, per)
    found = _answer(asked, sums, form, f"correlation of {a} and {b}", asked.groups.columns, everybody)
    said = hidden_spread(
        [0.0 if name in noisy(ev) else off_by(ev.schema[name]) for name in (a, b)], *form.spreads(sums.totals)
    )
    moved = [one for name in (a, b) for one in clipped(ev.schema[name], "correlation")]
    return replace(found, said=(*found.said, *said, *moved))


def cdf(ev: Evidence, name: str, by: By = None, where: Where = None, smooth: bool | None = None) -> Rows:
    """The share of those up to and including each value, or below each end of a bin, among those who answered.

    ``smooth``: unless told, estimates are smoothed where they may be, and limits are not; True smooths both.
    """
    asked, domain = ask(ev, [name], by, where, smooth), _ordered(ev, name, "running shares")
    if smooth or name in noisy(ev):
        return smooth_cdf(asked, name)
    sums, per, k = _running(asked, name, domain)
    rows = len(asked.groups.labels)
    start = per * np.repeat(np.arange(rows), k)
    top, bottom = start + np.tile(np.arange(k), rows), start + k - 1
    form = Shares(top, bottom, np.zeros(len(top)), np.ones(len(top)))
    keys = {column: list(np.repeat(np.array(v, dtype=object), k)) for column, v in asked.groups.columns.items()}
    reached, ends = running_ends(domain)
    label = free_name(reached, keys)
    keys[label] = ends * rows
    found = _answer(asked, sums, form, f"running shares of {name}", keys, bottom + 1)
    found = replace(found, running=label, spans=behind(domain), attribute=name)
    found = _smoothed(asked, name, found, smooth, lambda one: list(one.cdf))
    own = found.value.reshape(rows, k)
    if found.closer is None and smooth is None and (np.diff(own) < 0).any():  # true running shares never fall
        found = replace(found, closer=np.concatenate([rising(one) for one in own]))
    return found


def quantile(ev: Evidence, name: str, q: Any, by: By = None, where: Where = None, smooth: bool | None = None) -> Rows:
    """Where the running share passes q; limits hold every bin where it may. ``smooth`` as in ``cdf``."""
    levels = check_quantiles(q)
    asked, domain = ask(ev, [name], by, where, smooth), _ordered(ev, name, "quantiles")
    if smooth or name in noisy(ev):
        return smooth_quantile(asked, name, levels)
    sums, per, k = _running(asked, name, domain)
    rows = len(asked.groups.labels)
    continuous = isinstance(domain, Numeric)
    spots = between(domain) if continuous else numbers(domain)[:k]
    form = Quantiles(tuple(levels), per * np.arange(rows), k, spots, continuous, *behind(domain))
    many = len(levels)
    keys = {column: list(np.repeat(np.array(v, dtype=object), many)) for column, v in asked.groups.columns.items()}
    keys[free_name("q", keys)] = list(levels) * rows
    everybody = np.repeat(per * np.arange(rows) + k, many)
    found = _answer(asked, sums, form, f"quantiles of {name}{in_units(domain)}", keys, everybody)
    found = replace(found, attribute=name, named=places(domain), said=(*found.said, *clipped(domain, "quantile")))
    if (form.most > form.least)[: max(k - 1, 1)].any():  # a last bin of two whole numbers is no wide one
        found = replace(found, said=(*found.said, WHOLE_BINS))
    at = replace(form, start=np.zeros(1, dtype=np.int64))
    return _smoothed(asked, name, found, smooth, lambda one: list(at.value(one.cdf)))


def _smoothed(
    asked: Asked, name: str, found: Answer, smooth: bool | None, of_group: Callable[[Smooth], list[float]]
) -> Answer:
    """The answer with estimates from a smoothed distribution of each group, where there is one; limits stay."""
    domain = asked.ev.schema[name]
    k = domain.size - domain.nullable
    if smooth is False:
        return found
    several = found.closer is not None or len(asked.groups.labels) * k > MOST_RUNNING
    groups = None if several else smoothed_groups(asked, name)
    if groups is None:
        return replace(found, said=(*found.said, _NOT_SMOOTHED)) if smooth else found
    running = found.sums if isinstance(found.form, Quantiles) or found.running else _running(asked, name, domain)[0]
    if heaped(running, k + domain.nullable, k, groups):
        return replace(found, said=(*found.said, "values heap: estimates are not smoothed over neighbouring ones"))
    per = len(found.value) // len(groups)
    closer = np.concatenate([np.full(per, np.nan) if one is None else of_group(one) for one in groups])
    both = ", True: both" if isinstance(found.form, Quantiles) or found.running else "; of means, never intervals"
    said = f"estimates are smoothed over neighbouring values, intervals are not (smooth=False: neither{both})"
    return replace(found, closer=closer, said=(*found.said, said))


def _ordered(ev: Evidence, name: str, what: str) -> Domain:
    domain = ev.schema[name]
    if not domain.ordered:
        raise EstimationError(f'{name!r} has no order, so that it has no {what}: ask for its shares, share("{name}")')
    return domain


def _check_running(asked: Asked, k: int, name: str) -> None:
    rows = len(asked.groups.labels) * k
    if rows > MOST_RUNNING:
        raise EstimationError(
            f"{name} has {k:,} values in {len(asked.groups.labels)} groups, more than {MOST_RUNNING:,} shares in all: "
            f"ask for fewer groups, or wider bins"
        )


def _running(asked: Asked, name: str, domain: Domain) -> tuple[Sums | ModelSums, int, int]:
    """The sums up to each value, the last one all who answered; how many sums and how many values a group has."""
    k = domain.size - domain.nullable
    _check_running(asked, k, name)
    up_to = np.tri(k, domain.size)
    each: list[Statistic] = [{name: row} for row in up_to]
    if domain.nullable:
        each.append({})
    return asked.sums(lambda noises: each), len(each), k


def _running_by_group(asked: Asked, name: str, domain: Domain) -> Iterator[tuple[Array, Array]]:
    """The sums up to each value with their covariance, without the model's shrinking, group by group."""
    at_once = max(MOST_RUNNING // domain.size, 1)
    groups = len(asked.groups.labels)
    if groups > MOST_TIMES * at_once:
        raise EstimationError(f"{name} has too many values in {groups} groups")
    for first in range(0, groups, at_once):
        some = asked.groups.part(first, first + at_once)
        sums, per, k = _running(replace(asked, groups=some), name, domain)
        if isinstance(sums, ModelSums) and sums.unbiased is not None:
            sums = sums.unbiased
        S, C = sums.finite()
        for start in range(0, per * len(some.labels), per):
            yield S[start : start + k], C[start : start + k, start : start + k]


def _answer(
    asked: Asked,
    sums: Sums | ModelSums,
    form: AnswerForm,
    what: str,
    keys: Mapping[str, list[Any]],
    everybody: Index | None,
) -> Answer:
    everybody = everybody if asked.nullable() else None
    said, closer = asked.notes(sums), None
    if isinstance(sums, ModelSums) and sums.unbiased is not None:
        closer = form.value(sums.means * sums.n)
        sums = sums.unbiased
    return Answer(sums, form, what + asked.whom, keys, everybody=everybody, said=said, closer=closer)
