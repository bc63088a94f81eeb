"""Trees under additive noise: the three algorithms of Agrawal and Srikant (2000)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.errors import EstimationError, UnrecoverableWarning, warn
from sfumato.evidence.density.deconvolution import as_noise
from sfumato.input_checks import check_word
from sfumato.learn.arguments import whole
from sfumato.learn.noisy_numbers import NumberClassifier
from sfumato.learn.tree.grow import Node
from sfumato.learn.tree.plot import draw, text
from sfumato.learn.tree.reconstruction import Column, by_class, local, number_of_intervals, overall
from sfumato.learn.tree.thresholds import Growing, Threshold, cut_back

RECONSTRUCTIONS = ("by_class", "local", "global", "none")
METHODS = ("as", "em", "auto")


class AdditiveTree(NumberClassifier):
    r"""A decision tree from z = x + noise, as Agrawal and Srikant (2000) grow it.

    ``reconstruct`` says where the distribution of an attribute is reconstructed: "global" once, from all records;
    "by_class" once, from the records of each class apart; "local" by class, in every node again; "none" takes the noisy
    numbers as they are, which is the paper's baseline. The classes themselves are taken to be free of noise.

    ``noises`` holds a noise per column (None: the column is exact), ``support`` a pair (low, high) per column, where x
    may lie. ``intervals`` cuts it; unless given a hundred records fall to each, from 10 to 100 intervals. ``method`` is
    that of ``sfumato.density``: "as" is the paper's. A leaf holds at least ``min_records``, and what lengthens the
    description of the classes is pruned. ``names`` and ``target`` are what words and pictures call the columns and the
    class.

    >>> import sfumato as sf
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 80, 20_000)
    >>> group = (age < 40) | (age >= 60)
    >>> noise = sf.channels.uniform(30)
    >>> tree = AdditiveTree([noise], support=[(20, 80)]).fit(noise.randomize(age[:, None], rng=1), group)
    >>> tree.score(age[:, None], group) > 0.9
    True
    """

    def __init__(
        self,
        noises: Sequence[Any],
        reconstruct: str = "by_class",
        support: Sequence[tuple[float, float]] | None = None,
        intervals: int | None = None,
        method: str = "as",
        min_records: int = 50,
        max_depth: int | None = None,
        names: Sequence[str] | None = None,
        target: str = "class",
    ) -> None:
        self.noises = noises
        self.reconstruct = reconstruct
        self.support = support
        self.intervals = intervals
        self.method = method
        self.min_records = min_records
        self.max_depth = max_depth
        self.names = names
        self.target = target

    root_: Threshold
    features_: tuple[str, ...]
    target_: str

    @property
    def _columns(self) -> int:
        return len(self.noises)

    def _learn(self, values: Array, codes: NDArray[np.int64]) -> None:
        for name, value, allowed in (
            ("reconstruct", self.reconstruct, RECONSTRUCTIONS),
            ("method", self.method, METHODS),
        ):
            check_word(EstimationError, name, value, allowed)
        least = whole("min_records", self.min_records, 1)
        deepest = None if self.max_depth is None else whole("max_depth", self.max_depth, 0)
        self.features_ = self._feature_names()
        self.target_ = self.target
        columns = self._described(values)
        drowned = [name for j, name in enumerate(self.features_) if columns[j].drowned(values[:, j])]
        if drowned:
            warn(
                f"the noise is more than three times as wide as what it hides in {', '.join(drowned)}: little can be "
                "learned from there",
                UnrecoverableWarning,
                stacklevel=3,
            )
        placing = None
        if self.reconstruct == "none":
            places = np.stack([one.plain(values[:, j]) for j, one in enumerate(columns)], axis=1)
        elif self.reconstruct == "global":
            places = overall(columns, values)
        else:
            places = by_class(columns, values, codes)
            placing = local(columns, values, codes) if self.reconstruct == "local" else None
        edges = [one.edges for one in columns]
        growing = Growing(edges, codes, len(self.classes_), least, deepest, placing)
        self.root_ = growing.grow(np.arange(len(values)), places, set())
        cut_back(self.root_, edges)

    def _described(self, values: Array) -> list[Column]:
        count = number_of_intervals(len(values)) if self.intervals is None else whole("intervals", self.intervals, 2)
        if self.support is not None and len(self.support) != self._columns:
            raise EstimationError(
                f"support must hold a pair (low, high) per column, got {len(self.support)} for {self._columns}"
            )
        found = []
        for j, given in enumerate(self.noises):
            noise: Noise | None = None if given is None else as_noise(given)
            low, high = float(values[:, j].min()), float(values[:, j].max())
            if self.support is not None and self.reconstruct != "none":
                low, high = _ends(self.support[j])
            if not low < high:
                raise EstimationError(f"column {self.features_[j]!r} holds one number only: leave it out")
            found.append(Column(noise, np.linspace(low, high, count + 1), self.method))
        return found

    def _feature_names(self) -> tuple[str, ...]:
        found = tuple(f"x{j}" for j in range(self._columns)) if self.names is None else tuple(map(str, self.names))
        if len(set(found)) != self._columns:
            raise EstimationError(f"names must name each of the {self._columns} columns once, got {len(found)} names")
        return found

    def _logs(self, values: Array) -> Array:
        out = np.empty((len(values), len(self.classes_)))
        todo: list[tuple[Node, NDArray[np.int64]]] = [(self.root_, np.arange(len(values)))]
        while todo:
            node, here = todo.pop()
            if node.attribute is None or not isinstance(node, Threshold):
                out[here] = np.log(np.maximum(node.probabilities, 1e-12))
                continue
            below = values[here, node.attribute] < node.at
            todo += [(node.children[0], here[below]), (node.children[1], here[~below])]
        return out

    def branch_labels(self, node: Node) -> tuple[str, str]:
        """What leads to either child of a node."""
        at = f"{node.at:.5g}" if isinstance(node, Threshold) else ""
        return f"below {at}", f"{at} or more"

    def in_order(self, node: Node) -> int:
        """How many children of a node follow each other in an order."""
        return 2

    def text(self, depth: int | None = None, least: float = 0.0, width: int | None = None) -> str:
        """The tree in words, as ``DecisionTree.text`` has it."""
        self._check_fitted()
        return text(self, depth, least, width)

    def plot(self, path: str | Path | None = None, depth: int = 3) -> Any:
        """The top of the tree as a picture."""
        self._check_fitted()
        return draw(self, path, depth)


def _ends(given: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        raise EstimationError(f"support must hold a pair of numbers (low, high) per column, got {given!r}") from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise EstimationError(f"support must hold two increasing finite numbers per column, got ({low:g}, {high:g})")
    return low, high
