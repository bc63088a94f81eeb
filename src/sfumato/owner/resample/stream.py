"""Resample a file of any size, a batch at a time: one pass to learn, one pass to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import SchemaError, SfumatoError
from sfumato.owner.resample.companions import accompany, check_scheme, warn_of_riders
from sfumato.owner.resample.envelope import Envelope
from sfumato.owner.resample.intake import LOOKED, Intake, check_group, refuse_one_row
from sfumato.owner.resample.kernel import Array, Index
from sfumato.owner.resample.learn import Moments
from sfumato.owner.resample.paper import Kernel, check_options, kernel_words
from sfumato.owner.resample.reading import Key, Reading
from sfumato.owner.resample.recommended import FITTED, Site, check_bounds, refuse_or_warn
from sfumato.owner.resample.result import describe, plain
from sfumato.owner.resample.sink import Sink, check_target
from sfumato.randomness import Source, source

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.scheme import Scheme

Rng = np.random.Generator | Source | int | None
Draw = Callable[[Key, Array, Source], tuple[Array, Index]]


def resample_file(
    table: Any,
    target: str | Path,
    y: str | None = None,
    *,
    site_column: str | None = None,
    drop: Sequence[str] = (),
    per_class: bool = True,
    bandwidth: str | float = "scott",
    shrink: bool = False,
    max_risk: float | None = None,
    max_outlier_risk: float | None = None,
    ride: Sequence[str] = (),
    scheme: Scheme | None = None,
    rng: Rng = None,
    strict: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Resample a table of any size into a Parquet or CSV file, as many rows as it holds; return its description.

    The law is that of ``resample``, per site and class. The paper's method draws its centres with replacement from the
    whole table; the recommended one fits a sample of each class and releases one row for every record. ``strict``
    refuses where the bound is not held. The table is read twice. Within a batch the order is random; which batch a
    row comes from can be told from its place in the file.
    """
    check_target(table, target, overwrite)
    src = source(rng)
    ride = (ride,) if isinstance(ride, str) else tuple(dict.fromkeys(ride))
    warn_of_riders(ride)
    multiplier = check_options(bandwidth, shrink, max_risk, max_outlier_risk)
    if max_risk is not None and y is not None and not per_class:
        raise SfumatoError("max_risk keeps classes apart: with few rows of a class, pool sites instead")
    check_scheme(scheme)
    extra = [*ride, *(scheme.schema.names if scheme is not None else ()), *([site_column] if site_column else [])]
    reading = Reading(table, y, extra, site_column, drop, per_class)
    learned = _learn(reading, FITTED if max_risk is not None else LOOKED, max_risk is not None, src)
    draw, risk = _drawing(learned, multiplier, shrink, max_risk, max_outlier_risk, src)
    for place, one in risk.items():
        if not one.held:
            refuse_or_warn(place, one, strict)
    with Sink(target, overwrite) as sink:
        for data, site in reading.intakes():
            for piece in _pieces(reading, data, site, draw, ride, scheme, src):
                sink.write(piece)
            if progress is not None:
                progress(len(data.X))
        counts = [_count(key, moments, y, site_column) for key, moments in learned.items()]
        method = "blend within cells, calibrated" if risk else kernel_words(multiplier, shrink)
        return sink.finish(describe(method, counts, risk))


def _learn(reading: Reading, sample: int, bounded: bool, src: Source) -> dict[Key, Moments]:
    learned: dict[Key, Moments] = {}
    for data, site in reading.intakes():
        for key, rows in reading.keys(data, site):
            learned.setdefault(key, Moments(data.X.shape[1], sample)).add(data.X[rows], src)
    if not learned:
        raise SchemaError("the table is empty: there is nothing to resample")
    for (place, label), moments in learned.items():
        named = " at ".join(f"{kind} {v}" for kind, v in (("class", label), ("site", place)) if v is not None)
        where = named or "the table"
        if moments.n < 2:
            refuse_one_row(where, pooling=not bounded and label is not None)
        check_group(moments.sample[:LOOKED], moments.n, where, bounded)
    return dict(sorted(learned.items(), key=lambda item: tuple(map(str, item[0]))))


def _drawing(
    learned: dict[Key, Moments],
    bandwidth: float,
    shrink: bool,
    max_risk: float | None,
    max_outlier_risk: float | None,
    src: Source,
) -> tuple[Draw, dict[Any, Any]]:
    if max_risk is None:
        kernels = {key: Kernel.from_moments(one.n, one.mean, one.sd, bandwidth, shrink) for key, one in learned.items()}
        left = {key: [one.n, one.n] for key, one in learned.items()}  # rows to draw, records to come
        word = np.empty(4, dtype=np.uint64)
        src.fill(word.view(np.uint8))
        # How many rows a batch gets tells nothing of a record, so a seeded generator may decide it.
        deal = np.random.default_rng([int(part) for part in word])

        def kernel(key: Key, X: Array, src: Source) -> tuple[Array, Index]:
            rows, records = left[key]
            share = rows if len(X) == records else int(deal.binomial(rows, len(X) / records))
            left[key] = [rows - share, records - len(X)]
            return kernels[key].draw(X, share, src)

        return kernel, {}
    bounds = check_bounds(max_risk, max_outlier_risk)
    fitted: dict[Key, Envelope] = {}
    risk = {}
    for place in dict.fromkeys(place for place, _ in learned):
        mine = {key: one for key, one in learned.items() if key[0] == place}
        labels = np.arange(len(mine))
        X = np.vstack([one.sample for one in mine.values()])
        site = Site.fit(X, np.repeat(labels, [len(one.sample) for one in mine.values()]), *bounds, src)
        fitted.update({key: Envelope.fit(model) for key, model in zip(mine, site.models, strict=True)})
        risk[place if place is not None else 0] = site.risk
    return (lambda key, X, src: fitted[key].draw(X, src)), risk


def _pieces(
    reading: Reading, data: Intake, site: Any, draw: Draw, ride: Sequence[str], scheme: Scheme | None, src: Source
) -> Iterator[pa.Table]:
    import pyarrow as pa

    for key, rows in reading.keys(data, site):
        drawn, centre = draw(key, data.X[rows], src)
        if not len(drawn):
            continue
        out = pa.table({name: drawn[:, i] for i, name in enumerate(data.names)})
        if ride or scheme is not None:
            others = accompany(data.others, rows[centre], ride, scheme, src)
            for name in others.column_names:
                out = out.append_column(name, others.column(name))
        if data.y is not None:
            labels = data.y[rows[centre]] if key[1] is None else np.full(len(drawn), key[1])
            out = out.append_column(data.target, pa.array(labels.tolist()))
        if reading.site_column is not None:
            out = out.append_column(reading.site_column, pa.array([key[0]] * len(drawn)))
        yield out


def _count(key: Key, moments: Moments, y: str | None, site_column: str | None) -> dict[str, Any]:
    named = (("site", site_column, key[0]), ("class", y, key[1]))
    return {word: plain(value) for word, name, value in named if None not in (name, value)} | {"rows": moments.n}
