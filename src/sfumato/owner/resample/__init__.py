"""Resample a table: new rows for training, instead of the records.

``resample(X, y, max_risk=0.55)`` draws from a blurred model of each class, as little blurred as a bound on measured
risk allows. ``resample(X, y, epsilon=1, ranges=...)`` proves a bound instead. ``resample(X, y)`` is the method of Tan
and Ng (2007), which draws around the records and bounds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.membership import Risk
from sfumato.owner.resample.calibrate import refuse_or_warn
from sfumato.owner.resample.intake import Intake, site_of, take_in
from sfumato.owner.resample.plan import Plan, learn
from sfumato.owner.resample.proved import Guarantee
from sfumato.owner.resample.request import Request
from sfumato.owner.resample.result import Resampled
from sfumato.owner.resample.setting import Setting
from sfumato.owner.resample.stream import resample_file
from sfumato.randomness import Rng, source

__all__ = ["Guarantee", "Resampled", "Risk", "Setting", "resample", "resample_file"]


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
    epsilon: float | None = None,
    delta: float | None = None,
    ranges: Any = None,
    rows: int | Mapping[Any, int] | None = None,
    rng: Rng = None,
) -> Resampled:
    """Draw sanitized rows for the records of each site and class; labels are kept.

    ``max_risk`` is a bound on the membership AUC of the shadow attack (``sf.attacks.membership``), measured on the
    records themselves; ``max_outlier_risk`` is that for the loneliest tenth, .05 more by default. Rows are drawn
    from a normal model that is blurred until both are held. Where they cannot be, a warning names what is held.

    ``epsilon`` (with ``delta``, 1e-4 by default, and the ``ranges`` that each column can take, declared rather than
    looked up) releases a model with noise that is proved to hide every record from every attack: see ``Guarantee``.

    Neither: the paper's method. ``bandwidth`` is "scott" (eq. 16) or a multiple of it, ``shrink`` takes back the
    variance that the kernel adds, ``per_class=False`` draws from each site as a whole and gives a row the label of
    its centre.

    X is a matrix or any table, y the labels or the name of the label column, ``sites`` a number (the rows are dealt
    out at random, for experiments), the site of each row, or the name of the column that tells it. ``rows`` are how
    many to release, in all or for each site by name: by default four for each record from a model, up to 20 000, and
    as many as there are records otherwise.

    >>> released = resample(np.random.default_rng(0).normal(size=(60, 2)), [0, 1] * 30, rng=1)
    >>> released.X.shape, released.y.tolist().count(1)
    ((60, 2), 30)
    """
    src = source(rng)
    request = Request.check(bandwidth, shrink, per_class, max_risk, max_outlier_risk, epsilon, delta, ranges)
    request.warn_of_seed(rng)
    named = sites if isinstance(sites, str) else None
    data = take_in(X, y, named)
    site = data.site if data.site is not None else site_of(sites, len(data.X), src)
    several = named is not None or not (isinstance(sites, int) and sites == 1)
    _check_names(data, several=named is None and bool(site.strides[0]) and len(np.unique(site)) > 1)
    batches = [(data, site)]
    learned = learn(batches, request, src, named=several)
    plan = Plan.make(
        request, learned, request.quotas({key: one.n for key, one in learned.items()}, rows), data.names, src
    )
    for place, one in plan.risk.items():
        if not one.held:
            refuse_or_warn(place if several else None, one)
    drawn = np.empty((sum(plan.rows.values()), data.X.shape[1]))
    pieces = list(plan.pieces(batches, src, drawn))
    return Resampled(
        drawn,
        None if data.y is None else np.concatenate([piece.y for piece in pieces]),
        np.concatenate([np.full(len(piece.X), piece.key[0]) for piece in pieces]),
        None if request.modelled else np.concatenate([piece.centres for piece in pieces]),
        data.names,
        data.target,
        plan,
        named,
    )


def _check_names(data: Intake, several: bool) -> None:
    """The columns that a release adds must not be there already."""
    added = [*(["y"] if data.y is not None and data.target is None else []), *(["site"] if several else [])]
    for name in added:
        if name in {*data.names, data.target}:
            raise SfumatoError(f"the release gets a column {name!r}, and the table has one already: rename that")
