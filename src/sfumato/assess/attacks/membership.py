"""The attack on resampled tables: who was in the table? The one that also judges releases at their owner."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Labels
from sfumato.assess.attacks.recovery import Recovery, table
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_progress
from sfumato.membership import SHADOWS, Filtered, Progress, Shadows, auc, loneliest
from sfumato.owner.resample import Resampled
from sfumato.randomness import Rng, source

#: The part of the strangers that may be members before the attack is refused: beyond it, it measures nothing.
MOST_ALIKE = 0.5

_CHANCE = 1e-4  # how seldom members and strangers who are alike are said to differ


def membership(
    members: ArrayLike,
    strangers: ArrayLike,
    released: Resampled | ArrayLike,
    method: Callable[..., Any] | None = None,
    *,
    labels: tuple[Any, ...] | None = None,
    shadows: int = SHADOWS,
    rng: Rng = None,
    progress: Progress | None = None,
) -> Recovery:
    """Tell the records that were in the table from others, by shadow releases of random halves of both together.

    The attacker knows the method and its setting: that of a ``Resampled`` release, or ``method``, a function of
    (records, labels, rng) that returns rows, (rows, labels) or a ``Resampled``. ``labels`` are the classes of members,
    strangers and (unless ``released`` has them) released rows. ``progress`` is called with 1 after
    every shadow release.

    The error is 1 - AUC, the chance of ranking a stranger above a member: 1/2 is blind. The details hold the AUC and
    that of the loneliest tenth with their standard errors (Hanley and McNeil 1982). Recovered are the members'
    scores. What sets members and strangers apart of itself counts as found: a detail says so where they differ by more
    than chance.
    """
    inside, outside = table(members, "members"), table(strangers, "strangers")
    check_progress(SfumatoError, progress)
    rows = released.X if isinstance(released, Resampled) else table(released, "released")
    if not inside.shape[1] == outside.shape[1] == rows.shape[1]:
        raise SfumatoError(
            f"the tables must have the same columns, got {inside.shape[1]}, {outside.shape[1]} and {rows.shape[1]}"
        )
    marks = _labels(labels, released, len(inside), len(outside), len(rows))
    way = method if method is not None else released.again if isinstance(released, Resampled) else None
    if way is None:
        raise SfumatoError(
            "method must say how releases are made, as a function of (records, labels, rng): the attacker repeats "
            "it; or give the result of resample, which knows"
        )
    if isinstance(shadows, bool) or not isinstance(shadows, int | np.integer) or shadows < 8:
        raise SfumatoError(f"shadows must be a whole number of at least 8 shadow releases, got {shadows!r}")
    both = np.column_stack([inside, _codes(marks[0])]), np.column_stack([outside, _codes(marks[1])])
    alike, unlike = _members_among(*both), _unlike(*both)
    if alike > MOST_ALIKE:
        raise SfumatoError(
            f"{100 * alike:.3g} % of the strangers are rows of the members: they must be records that were not in the "
            "table, or nobody can be told from them"
        )
    X, y = np.vstack([inside, outside]), np.concatenate(marks[:2])
    src = source(rng)
    repeated = way if isinstance(way, Filtered) else lambda A, b, s: _rows(way(A, b, s), b)
    known = Shadows.draw(X, y, repeated, src, int(shadows), progress)
    score = known.learn().score(known.pool.features(rows, marks[2]))
    member = np.arange(len(X)) < len(inside)
    lonely = loneliest(X, y)
    area, outer = (auc(score[member & some], score[~member & some]) for some in (np.full(len(X), True), lonely))
    details: dict[str, Any] = {
        "auc": area,
        "se": _hanley(area, len(inside), len(outside)),
        "outliers": outer,
        "outliers_se": _hanley(outer, int((member & lonely).sum()), int((~member & lonely).sum())),
        "shadows": int(shadows),
    }
    if alike > 0:
        details["strangers"] = f"{100 * alike:.3g} % of them are rows of the members, and make the attack look weaker"
    if unlike:
        details["condition"] = (
            f"strangers are such as might have been members; here the two differ by more than chance in {unlike} of "
            f"{both[0].shape[1]} columns, and what sets them apart of itself counts as found: deal them out at random"
        )
    return Recovery("membership", score[member], 1 - area, 0.5, None, details)


def _members_among(inside: Array, outside: Array) -> float:
    """The part of the strangers who seem to be members: rows that the members hold, beyond what chance repeats.

    How many of the members have a like among the others tells what chance repeats; three deviations are left to it.
    """
    _, place = np.unique(np.vstack([inside, outside]), axis=0, return_inverse=True)
    own, other = np.split(place.reshape(-1), [len(inside)])
    count = np.bincount(own, minlength=int(place.max()) + 1)
    chance, found = float((count[own] > 1).mean()), float((count[other] > 0).mean())
    slack = 3 * np.sqrt(max(chance * (1 - chance), 0.0) * (1 / len(own) + 1 / len(other)))
    return 0.0 if found <= chance + slack or chance == 1 else (found - chance) / (1 - chance)


def _unlike(inside: Array, outside: Array) -> int:
    """In how many columns members and strangers differ by more than chance, by ranks (Mann and Whitney 1947)."""
    m, n = len(inside), len(outside)
    limit = NormalDist().inv_cdf(1 - _CHANCE / 2 / inside.shape[1]) * np.sqrt((m + n + 1) / (12 * m * n))
    return sum(abs(auc(own, other) - 0.5) > limit for own, other in zip(inside.T, outside.T, strict=True))


def _codes(labels: Labels) -> Array:
    """Classes as numbers that are the same in both tables."""
    names, place = np.unique(labels, return_inverse=True)
    digests = [int.from_bytes(sha256(str(name).encode()).digest()[:6], "big") for name in names]
    return np.array(digests, dtype=np.float64)[place]


def _labels(labels: Any, released: Any, *sizes: int) -> tuple[Labels, ...]:
    known = released.y if isinstance(released, Resampled) else None
    if labels is None:
        if known is not None and len(np.unique(known)) > 1:
            raise SfumatoError("the release has classes: give labels=(those of members, those of strangers)")
        return tuple(np.zeros(n, dtype=np.int64) for n in sizes)
    given = tuple(np.asarray(part) for part in labels)
    if known is not None and len(given) == 2:
        given = (*given, np.asarray(known))
    if len(given) != 3 or any(part.shape != (n,) for part, n in zip(given, sizes, strict=True)):
        raise SfumatoError(
            f"labels must be those of the {sizes[0]} members, the {sizes[1]} strangers and the {sizes[2]} released rows"
        )
    return given


def _rows(found: Any, y: Labels) -> tuple[Array, Labels]:
    if isinstance(found, Resampled):
        return found.X, np.zeros(len(found.X), dtype=np.int64) if found.y is None else found.y
    rows, labels = found if isinstance(found, tuple) else (found, None)
    rows = np.asarray(rows, dtype=np.float64)
    if labels is None:
        if len(np.unique(y)) > 1:
            raise SfumatoError("method must return (rows, labels) where there are several classes")
        labels = np.full(len(rows), y[0])
    return rows, np.asarray(labels)


def _hanley(area: float, m: int, n: int) -> float:
    if not m or not n:
        return float("nan")
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    return float(np.sqrt(max(area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2), 0) / (m * n)))
