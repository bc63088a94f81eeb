"""Resample a table: rows drawn around the records instead of the records themselves (Tan and Ng 2007).

``resample(X, y)`` is the paper's method. ``resample(X, y, max_risk=0.55)`` is the recommended one: it mixes each record
as little as a bound on disclosure allows. Neither is a proof of privacy: where one is needed, use channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.owner.resample.blend import Setting
from sfumato.owner.resample.calibrate import Risk
from sfumato.owner.resample.companions import accompany, check_scheme, warn_of_riders
from sfumato.owner.resample.intake import LOOKED, Intake, check_group, groups, refuse_one_row, site_of, take_in
from sfumato.owner.resample.kernel import Array, Index, centres
from sfumato.owner.resample.paper import Kernel, check_options, kernel_words
from sfumato.owner.resample.recommended import Site, check_bounds, refuse_or_warn
from sfumato.owner.resample.result import Resampled
from sfumato.owner.resample.stream import resample_file
from sfumato.randomness import Source, source

if TYPE_CHECKING:
    from sfumato.scheme import Scheme

__all__ = ["Resampled", "Risk", "Setting", "resample", "resample_file"]

Rng = np.random.Generator | Source | int | None


def resample(
    X: Any,
    y: Any = None,
    sites: Any = 1,
    bandwidth: str | float = "scott",
    shrink: bool = False,
    per_class: bool = True,
    *,
    max_risk: float | None = None,
    max_outlier_risk: float | None = None,
    rows: int | Mapping[Any, int] | None = None,
    ride: Sequence[str] = (),
    scheme: Scheme | None = None,
    rng: Rng = None,
) -> Resampled:
    """Draw sanitized rows from the records of each site and class; labels are kept.

    The paper's method by default: ``bandwidth`` is "scott" (eq. 16) or a multiple of it, ``shrink`` takes back the
    variance that the kernel adds, ``per_class=False`` draws from each site as a whole and gives a row the label of its
    centre. ``max_risk`` asks for the recommended method instead: no attack on membership may do better than this
    AUC, nor better than ``max_outlier_risk`` (.05 more by default) on the loneliest tenth of the records.

    X is a matrix or any table, y the labels or the name of the label column, ``sites`` a number (the rows are dealt
    out at random, for experiments), the site of each row, or the name of the column that tells it. Columns of
    ``scheme`` pass through its channels, columns in ``ride`` go along with their centre as they are. ``rows`` are how
    many to release, in all or for each site by name; as many as there are records by default.

    >>> released = resample(np.random.default_rng(0).normal(size=(60, 2)), [0, 1] * 30, rng=1)
    >>> released.X.shape, released.y.tolist().count(1)
    ((60, 2), 30)
    """
    src = source(rng)
    named = sites if isinstance(sites, str) else None
    ride = (ride,) if isinstance(ride, str) else tuple(dict.fromkeys(ride))
    check_scheme(scheme)
    kept = [*ride, *(scheme.schema.names if scheme is not None else ()), *([named] if named else [])]
    data = take_in(X, y, kept)
    if named and data.others is not None:
        sites = np.asarray(data.others.column(named))
    multiplier = check_options(bandwidth, shrink, max_risk, max_outlier_risk)
    if max_risk is not None and data.y is not None and not per_class:
        raise SfumatoError("max_risk keeps classes apart: with few rows of a class, pool sites instead")
    site = site_of(sites, len(data.X), src)
    _check_names(data, several=not named and bool(site.strides[0]) and len(np.unique(site)) > 1)
    found = groups(data.y, site, per_class)
    quota = _quotas(found, rows)
    for place, label, members in found:
        where = _where(place, label, sites)
        if len(members) < 2:
            refuse_one_row(where, pooling=max_risk is None and label is not None)
        check_group(data.X[members[:LOOKED]], len(members), where, bounded=max_risk is not None)
    drawn = np.empty((sum(quota), data.X.shape[1]))
    slots = [drawn[end - n : end] for end, n in zip(np.cumsum(quota), quota, strict=True)]
    risk: dict[Any, Risk] = {}
    if max_risk is None:
        own = []
        for (_, _, members), slot in zip(found, slots, strict=True):
            kernel = Kernel.fit(data.X, multiplier, shrink, members)
            own.append(members[centres(src, len(members), len(slot), balanced=False)])
            kernel.around(data.X, own[-1], src, slot)
        method = kernel_words(multiplier, shrink)
    else:
        own, risk = _recommended(data, site, found, slots, check_bounds(max_risk, max_outlier_risk), src)
        method = "blend within cells, calibrated"
    centre = np.concatenate(own) if len(own) > 1 else own[0]
    one = np.asarray(found[0][0])
    single = all(place == one for place, *_ in found)
    places = np.broadcast_to(one, len(drawn)) if single else np.repeat([place for place, *_ in found], quota)
    if data.y is None:
        kinds = None
    else:  # per class the labels are known without looking them up
        kinds = np.repeat(np.array([label for _, label, _ in found]), quota) if per_class else data.y[centre]
    warn_of_riders(ride)
    others = None if data.others is None else accompany(data.others, centre, ride, scheme, src)
    return Resampled(drawn, kinds, places, centre, data.names, data.target, method, risk, others, named or "site")


def _recommended(
    data: Intake,
    site: Any,
    found: list[tuple[Any, Any, Index]],
    slots: list[Array],
    bounds: tuple[float, float],
    src: Source,
) -> tuple[list[Index], dict[Any, Risk]]:
    labels = np.zeros(len(data.X), dtype=np.int64) if data.y is None else data.y
    models: dict[Any, Site] = {}
    for place in np.unique(site):
        here = np.flatnonzero(site == place)
        rows = sum(len(slot) for (at, *_), slot in zip(found, slots, strict=True) if at == place) / len(here)
        models[place] = Site.fit(data.X[here], labels[here], *bounds, src, rows)
    own = []
    for (place, label, members), slot in zip(found, slots, strict=True):
        slot[:], chosen = models[place].draw(0 if label is None else label, data.X[members], len(slot), src)
        own.append(members[chosen])
    for place, model in models.items():
        if not model.risk.held:
            refuse_or_warn(place if len(models) > 1 else None, model.risk)
    return own, {place: model.risk for place, model in models.items()}


def _check_names(data: Intake, several: bool) -> None:
    """The columns that a release adds must not be there already."""
    added = [*(["y"] if data.y is not None and data.target is None else []), *(["site"] if several else [])]
    taken = {*data.names, *(data.others.column_names if data.others is not None else ()), data.target}
    for name in added:
        if name in taken:
            raise SfumatoError(f"the release gets a column {name!r}, and the table has one already: rename that")


def _quotas(found: list[tuple[Any, Any, Index]], rows: int | Mapping[Any, int] | None) -> list[int]:
    """Released rows of each group, from the number for all or the numbers for each site."""
    sizes = [len(members) for *_, members in found]
    if not isinstance(rows, Mapping):
        return _quota(sizes, rows)
    places = list(dict.fromkeys(place for place, *_ in found))
    if set(rows) != set(places):
        raise SfumatoError(
            f"rows must name every site ({', '.join(map(str, places))}), got {', '.join(map(str, rows))}"
        )
    out = []
    for place in places:
        out += _quota([n for (at, *_), n in zip(found, sizes, strict=True) if at == place], rows[place])
    return out


def _quota(sizes: list[int], rows: int | None) -> list[int]:
    """Released rows of each group, in proportion to its records; every group keeps at least one."""
    if rows is None:
        return sizes
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < len(sizes):
        raise SfumatoError(
            f"rows must be a whole number, at least one for each of the {len(sizes)} groups, got {rows!r}"
        )
    share = np.array(sizes) * (rows / sum(sizes))
    out = np.maximum(np.floor(share).astype(int), 1)
    for group in np.argsort(out - share)[: max(rows - int(out.sum()), 0)]:
        out[group] += 1
    return [int(n) for n in out]


def _where(place: Any, label: Any, sites: Any) -> str:
    many = not (isinstance(sites, int) and sites == 1)
    parts = ([f"class {label}"] if label is not None else []) + ([f"site {place}"] if many else [])
    return " at ".join(parts) if parts else "the table"
