"""Messages along a junction tree: how likely findings are, and how likely every value is together with them.

A finding is a likelihood over one attribute or several of one clique, a row per case: the indicator of a value that is
given, or Pr(released value | true value). From the leaves to the roots the messages sum up to the probability of all
findings; back from the roots they tell every clique what the others know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.model.triangulate import Clique, Link
from sfumato.evidence.seen import Seen

_ENTRIES = 1 << 21
_BLOCK = 1 << 15
Finding = tuple[Clique, Array]  # attributes in ascending order; likelihoods, an axis for the cases before theirs


class Messages:
    """The cliques' conditional distributions, each given what it shares with its parent, ready to be asked."""

    def __init__(self, links: Sequence[Link], factors: Sequence[Array], sizes: Sequence[int]) -> None:
        self.links, self.factors, self.sizes = list(links), list(factors), tuple(sizes)
        self._rows = max(1, _ENTRIES // max(factor.size for factor in self.factors))

    def mass(self, findings: Sequence[Finding], n: int) -> Array:
        """Pr(all findings) of each of n cases."""
        return np.concatenate([np.prod(self._up(part, m)[1], axis=0) for part, m in self._cut(findings, n)])

    def singles(self, findings: Sequence[Finding], n: int) -> list[Array]:
        """For every attribute, Pr(its value and all findings): a row per case, a column per value."""
        blocks = [self._down(*self._up(part, m)) for part, m in self._cut(findings, n)]
        return [np.concatenate(one) for one in zip(*blocks, strict=True)]

    def _cut(self, findings: Sequence[Finding], n: int) -> Iterator[tuple[list[Finding], int]]:
        for start in range(0, n, self._rows):
            m = min(self._rows, n - start)
            yield [(axes, rows[start : start + m]) for axes, rows in findings], m

    def _up(self, findings: Sequence[Finding], n: int) -> tuple[list[Array], list[Array], list[Array]]:
        """Every clique with its findings and its children's messages; the roots' masses; the messages sent."""
        tables = [np.broadcast_to(factor, (n, *factor.shape)) for factor in self.factors]
        for axes, rows in findings:
            home = next(i for i, link in enumerate(self.links) if set(axes) <= set(link.clique))
            tables[home] = tables[home] * self._spread(rows, axes, home)
        sent: list[Array] = [np.empty(0)] * len(tables)
        masses = []
        for i in range(len(tables) - 1, -1, -1):
            link = self.links[i]
            sent[i] = tables[i].sum(axis=tuple(1 + link.clique.index(axis) for axis in link.own))
            if link.parent is None:
                masses.append(sent[i].reshape(n))
            else:
                tables[link.parent] = tables[link.parent] * self._spread(sent[i], link.shared, link.parent)
        return tables, masses, sent

    def _down(self, tables: list[Array], masses: list[Array], sent: list[Array]) -> list[Array]:
        """The same tables after the parents' messages, summed to single attributes."""
        whole = np.prod(masses, axis=0)
        out: dict[int, Array] = {}
        for i, link in enumerate(self.links):
            if link.parent is None:
                others = np.divide(whole, sent[i].reshape(-1), out=np.zeros_like(whole), where=whole > 0)
                tables[i] = tables[i] * others.reshape(-1, *(1 for _ in link.clique))
            else:
                above = self._sum(tables[link.parent], link.parent, link.shared)
                news = np.divide(above, sent[i], out=np.zeros_like(above), where=sent[i] > 0)
                tables[i] = tables[i] * self._spread(news, link.shared, i)
            out |= {axis: self._sum(tables[i], i, (axis,)) for axis in link.own}
        return [out[axis] for axis in range(len(self.sizes))]

    def _sum(self, table: Array, place: int, axes: Clique) -> Array:
        gone = tuple(1 + at for at, axis in enumerate(self.links[place].clique) if axis not in axes)
        return np.asarray(table.sum(axis=gone))

    def _spread(self, rows: Array, axes: Sequence[int], place: int) -> Array:
        """Rows over some of a clique's attributes, ready to multiply the clique's table."""
        shape = (self.sizes[axis] if axis in axes else 1 for axis in self.links[place].clique)
        return rows.reshape(len(rows), *shape)


def given(values: Mapping[int, NDArray[np.integer]], sizes: Sequence[int]) -> list[Finding]:
    """Findings that say the value of some attributes outright, an array of codes each."""
    return [((axis,), np.eye(sizes[axis])[codes]) for axis, codes in sorted(values.items())]


def findings(records: Seen) -> Iterator[tuple[list[Finding], Array]]:
    """Findings of listed released records, in blocks, and how many records there are of each."""
    told = records.likelihoods()
    for start in range(0, len(records.counts), _BLOCK):
        cut = slice(start, start + _BLOCK)
        codes = [one[cut] for one in records.joined]
        yield [(axes, table[own]) for (axes, table), own in zip(told, codes, strict=True)], records.counts[cut]
