"""What liars can do to a mean, or to a share within a group: ratios of sums that false answers move both of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.poisoning import checked_share, moved_rows
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.protocol import By
from sfumato.evidence.questions.cell_scores import released_scores
from sfumato.evidence.questions.gather import noisy
from sfumato.evidence.questions.groups import groups
from sfumato.evidence.questions.statistics import Statistic
from sfumato.evidence.questions.values import answered_by, ends_of, numbers
from sfumato.evidence.seen import seen
from sfumato.pages.shown_table import ShownTable
from sfumato.printable import label_text

Vertices = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class MovedMeans(ShownTable):
    """How far a share of false answers can move the mean of each group, ``down`` and ``up``."""

    share: float
    labels: tuple[str, ...]
    down: Array
    up: Array

    @property
    def _title(self) -> str:
        return f"how far {100 * self.share:g} % false answers can move each mean"

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        return ["group", "down", "up"], *moved_rows(self.labels, self.down, self.up)


def poisoned_mean(ev: Evidence, share: float, name: str, by: By = None) -> MovedMeans:
    """How far a share of false answers can move the unbiased mean of an ordered attribute, by group if asked.

    The bound is exact where all records were released under one scheme. Of several, every record counts the same, and
    the false answers stand under the scheme where they move the mean most.

    >>> import sfumato as sf
    >>> schema = sf.Schema({"grade": sf.Ordinal(("a", "b", "c"))})
    >>> scheme = sf.Scheme(schema, {"grade": sf.channels.symmetric(3, gamma=4)})
    >>> release = sf.randomize({"grade": ["a", "b", "c"] * 100}, scheme, rng=sf.experiment(1))
    >>> poisoned_mean(sf.evidence(release), 0.01, "grade").up.round(3).tolist()
    [0.03]
    """
    share = checked_share(share)
    domain = ev.schema[name]
    if not domain.ordered:
        raise EstimationError(f"{name!r} has no order, so that it has no mean that could be moved")
    held = groups(ev.schema, noisy(ev), by, None)
    _refuse_noise(ev, name)
    answered, values = answered_by(domain), numbers(domain)
    own = values[answered > 0]
    honest = [(float(own.min()), 1.0), (float(own.max()), 1.0)]
    if by or domain.nullable:  # somebody of another group, or who gives no answer, adds nothing
        honest.append((0.0, 0.0))
    down, up = [], []
    for group in range(len(held.labels)):
        top, bottom = (held.statistic(group, {name: one}) for one in (values * answered, answered))
        moved = _moved(ev, (*held.names, name), top, bottom, honest, share, ends_of(domain, values))
        down.append(moved[0])
        up.append(moved[1])
    labels = tuple(" ".join(map(label_text, one)) or "everybody" for one in held.labels)
    return MovedMeans(share, labels, np.array(down), np.array(up))


def poisoned_share(
    ev: Evidence, share: float, held: Mapping[str, int], given: Mapping[str, int] | None = None
) -> tuple[float, float]:
    """How far false answers can move an unbiased share, down and up: of those who hold some codes, by attribute, among
    those who hold the given ones; among everybody where none are given.
    """
    fixed = dict(given or {})
    for one in (*held, *fixed):
        _refuse_noise(ev, one)
    bottom: Statistic = {one: np.eye(ev.schema[one].size)[code] for one, code in fixed.items()}
    top: Statistic = {**bottom, **{one: np.eye(ev.schema[one].size)[code] for one, code in held.items()}}
    honest = ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0)) if fixed else ((0.0, 1.0), (1.0, 1.0))
    return _moved(ev, tuple(top), top, bottom, honest, checked_share(share), (0.0, 1.0))


def _moved(
    ev: Evidence,
    names: tuple[str, ...],
    top: Statistic,
    bottom: Statistic,
    honest: Vertices,
    share: float,
    ends: tuple[float, float],
) -> tuple[float, float]:
    parts = seen(ev.release, names, inverted=False)
    scores = [released_scores(part, [top, bottom]) for part in parts]
    n = sum(part.total for part in parts)
    t, b = np.sum([own @ part.counts for own, part in zip(scores, parts, strict=True)], axis=0) / n
    return ratio_moves(float(t), float(b), scores, honest, share, ends)


def ratio_moves(
    t: float, b: float, scores: Iterable[Array], honest: Vertices, share: float, ends: tuple[float, float]
) -> tuple[float, float]:
    r"""How far t / b moves, down and up, when a share s of the answers is replaced by false ones.

        (t + s (g[y] - h)) / (b + s (g'[y] - h'))

    where g[y] and g'[y] are what the answer y adds to t and b, and (h, h') what its sender would have added honestly.
    The ratio is monotone along every line, so that its extremes lie at the corners of what senders would have added.
    Where the bottom may reach 0, nothing is held: the ratio can become anything between its ``ends``.

    >>> ratio_moves(0.5, 1.0, [np.array([[2.0, -1.0], [1.0, 1.0]])], [(0, 1), (1, 1)], 0.01, (0, 1))
    (-0.02, 0.02)
    """
    least, most = ends
    now = min(max(t / b, least), most) if b > 0 else float("nan")
    reached = []
    for top, bottom in scores:
        for h, own in honest:
            below = b + share * (bottom - own)
            if b <= 0 or (below <= 0).any():
                return least - now, most - now
            reached.append((t + share * (top - h)) / below)
    every = np.clip(np.concatenate(reached), least, most)
    return round(float(every.min()) - now, 12), round(float(every.max()) - now, 12)


def _refuse_noise(ev: Evidence, name: str) -> None:
    if name in noisy(ev):
        raise EstimationError(f"{name!r} has additive noise: an answer can be any number, and no bound holds")
