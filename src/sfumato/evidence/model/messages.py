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

#: Numbers that are worked on at a time: of one clique where each is done with at once, of all where they are kept.
_IN_CACHE, _ENTRIES = 1 << 16, 1 << 24
_BLOCK = 1 << 15
Finding = tuple[Clique, Array]  # attributes in ascending order; likelihoods, an axis for the cases before theirs


class Messages:
    """The cliques' conditional distributions, each given what it shares with its parent, ready to be asked."""

    def __init__(self, links: Sequence[Link], factors: Sequence[Array], sizes: Sequence[int]) -> None:
        self.links, self.factors, self.sizes = list(links), list(factors), tuple(sizes)
        self._homes: dict[Clique, int] = {}
        self._largest = max(factor.size for factor in self.factors)
        self._together = sum(factor.size for factor in self.factors)

    def mass(self, findings: Sequence[Finding], n: int) -> Array:
        """Pr(all findings) of each of n cases."""
        cut = self._cut(findings, n, _IN_CACHE // self._largest)
        return np.concatenate([np.prod(self._up(part, m)[0], axis=0) for part, m in cut])

    def singles(self, findings: Sequence[Finding], n: int, wanted: Sequence[int] | None = None) -> list[Array]:
        """For each wanted attribute (all), Pr(its value and all findings): a row per case, a column per value."""
        asked = range(len(self.sizes)) if wanted is None else wanted
        blocks = []
        for part, m in self._cut(findings, n, _ENTRIES // self._together):
            tables: list[Array] = [np.empty(0)] * len(self.links)
            blocks.append(self._down(tables, *self._up(part, m, tables), asked))
        return [np.concatenate(one) for one in zip(*blocks, strict=True)]

    def _cut(self, findings: Sequence[Finding], n: int, rows: int) -> Iterator[tuple[list[Finding], int]]:
        for start in range(0, n, max(rows, 1)):
            m = min(max(rows, 1), n - start)
            yield [(axes, told[start : start + m]) for axes, told in findings], m

    def _up(
        self, findings: Sequence[Finding], n: int, tables: list[Array] | None = None
    ) -> tuple[list[Array], list[Array]]:
        """The roots' masses, and the messages sent.

        ``tables`` takes every clique with its findings and its children's messages, where they are wanted later.
        """
        told: list[list[tuple[Array, Clique]]] = [[] for _ in self.links]
        for axes, rows in findings:
            told[self._home(axes)].append((rows, axes))
        sent: list[Array] = [np.empty(0)] * len(self.links)
        masses = []
        for i in range(len(self.links) - 1, -1, -1):
            link = self.links[i]
            table = np.broadcast_to(self.factors[i], (n, *self.factors[i].shape))
            for rows, axes in told[i]:
                table = table * self._spread(rows, axes, i)
            told[i] = []
            sent[i] = table.sum(axis=tuple(1 + link.clique.index(axis) for axis in link.own))
            if link.parent is None:
                masses.append(sent[i].reshape(n))
            else:
                told[link.parent].append((sent[i], link.shared))
            if tables is not None:
                tables[i] = table
        return masses, sent

    def _home(self, axes: Clique) -> int:
        """The first clique that holds these attributes."""
        if axes not in self._homes:
            self._homes[axes] = next(i for i, link in enumerate(self.links) if set(axes) <= set(link.clique))
        return self._homes[axes]

    def _down(self, tables: list[Array], masses: list[Array], sent: list[Array], asked: Sequence[int]) -> list[Array]:
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
            out |= {axis: self._sum(tables[i], i, (axis,)) for axis in link.own if axis in asked}
        return [out[axis] for axis in asked]

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
