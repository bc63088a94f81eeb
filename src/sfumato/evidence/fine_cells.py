r"""Numbers under additive noise as codes of fine cells, with scores for smooth functions of them.

Cut into cells, noise is a channel P between the cells of the true numbers and those of the released ones. Its left
inverse is useless: it tells neighbouring cells apart, which strong noise does not. But what regressions sum over the
records are smooth functions of the number, such as x F(βx), and these are told well. The score h of a function f over n
records is the one that minimises

    C n Σ_x (P h - f)[x]² w[x]  +  Σ_z h[z]² q[z]

the squared bias C times, and the variance; w are even weights. q are shares of the released cells that no single record
moves, from the mean and the variance of the numbers alone: scores that leaned on the counts themselves would be large
where these are small by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.channels.linear import Dense
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import Block, blocks
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.questions.records import power_scores
from sfumato.evidence.seen import Seen, columns
from sfumato.released.part import Part
from sfumato.schema import Numeric, Schema

CELLS, RELEASED = 64, 200
#: C: how much more the square of a bias counts than a variance. Set on other values than those that judge
#: (docs/regression.md).
BIAS = 10.0


class FineCells:
    """The records of some evidence with every number under noise as the code of a fine cell."""

    def __init__(self, source: Evidence, names: Sequence[str]) -> None:
        self._parts = [part for part in asking(source.release, tuple(names)) if len(part)]
        self._noisy = {name for part in self._parts for name in part.scheme.noises if name in names}
        for name in sorted(self._noisy):
            coded = [part.scheme for part in self._parts if name not in part.scheme.noises]
            if any(len(scheme.group(name).names) > 1 for scheme in coded):
                raise EstimationError(
                    f"{name!r} carries additive noise in one part and is randomized together with others in another: "
                    f"give one of them only"
                )
        own = {name: source.schema[name] for name in names}
        self._edges = {name: cast(Numeric, own[name]).edge_array for name in self._noisy}
        fine = {name: Numeric(float(e[0]), float(e[-1]), bins=CELLS) for name, e in self._edges.items()}
        self.schema = Schema({**own, **fine})

    def records(self, names: Sequence[str]) -> Iterator[Seen]:
        """The released records of every part, one by one."""
        return (self._records(part, tuple(names)) for part in self._parts)

    def _records(self, part: Part, names: tuple[str, ...]) -> Seen:
        coded = tuple(name for name in names if name not in self._noisy)
        shown = list(blocks(part.scheme, coded) if coded else ())
        table = part.arrow()
        codes = {column: table.column(column).to_numpy() for column in columns(shown)}
        for name in (one for one in names if one in self._noisy):
            edges = cast(Numeric, self.schema[name]).edge_array
            if name in part.scheme.noises:
                noise, z = cast(Noise, part.scheme.noises[name]), table.column(name).to_numpy()
                block, codes[name] = _block(name, noise, edges, z)
            else:
                (own,) = blocks(part.scheme, (name,))
                block = _split(own, self._edges[name], edges)
                codes |= {column: table.column(column).to_numpy() for column in own.columns}
            shown.append(block)
        return Seen(names, tuple(shown), np.ones(table.num_rows), codes, scheme=part.scheme)


def _split(block: Block, bins: Array, cells: Array) -> Block:
    """Codes of bins as told of fine cells: a function counts by its mean over the bin."""
    ends = np.minimum(bins[1:, None], cells[None, 1:]) - np.maximum(bins[:-1, None], cells[None, :-1])
    overlap = np.maximum(ends, 0.0)
    forward = (overlap / np.diff(cells)).T @ block.P
    backward = (overlap / np.diff(bins)[:, None]).T @ block.A
    return Block(block.names, (CELLS,), block.columns, block.outputs, forward=Dense(forward), backward=Dense(backward))


def _block(name: str, noise: Noise, edges: Array, z: Array) -> tuple[Block, Index]:
    """The noise as a channel between cells, with scores of smooth functions in place of an inverse; and the codes."""
    low, high = min(float(z.min()), float(edges[0])), max(float(z.max()), float(edges[-1]))
    shown = np.linspace(low, high, RELEASED + 1)
    shown[0], shown[-1] = -np.inf, np.inf
    P = noise.interval_matrix(edges, shown)
    scores = _scores(P, _spread_out(noise, edges, z) @ P, len(z))
    block = Block((name,), (CELLS,), (name,), (RELEASED,), forward=Dense(P), backward=Dense(scores))
    return block, np.asarray(np.searchsorted(shown, z, side="right") - 1, dtype=np.int64)


def _spread_out(noise: Noise, edges: Array, z: Array) -> Array:
    """Shares of the cells: half even, half normal with the mean and the variance that the numbers seem to have."""
    middles = (edges[1:] + edges[:-1]) / 2
    mean = float(np.clip(power_scores(noise, z, 1).mean(), edges[0], edges[-1]))
    variance = max(float(power_scores(noise, z, 2).mean()) - mean**2, float(edges[-1] - edges[0]) ** 2 / 400)
    bell = np.exp(-((middles - mean) ** 2) / (2 * variance))
    return np.asarray(0.5 / CELLS + 0.5 * bell / bell.sum())


def _scores(P: Array, q: Array, n: int) -> Array:
    """A with h = Aᵀ f of the module's formula."""
    heavy = BIAS * n / len(P) * P.T
    return np.asarray(np.linalg.solve(heavy @ P + np.diag(q), heavy).T)
