"""Limits for the class probabilities in the leaves of a tree.

They hold those of the unbiased answer for the records of a leaf, and those of the evidence itself, by the delta method
on the logit scale. The latter alone are too narrow: a model draws its answers together by more than its covariance
tells, and leaves are chosen for what they seem to say. Where there is no unbiased answer they are all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import by_method
from sfumato.evidence.questions.ask import share, share_where
from sfumato.learn.tree.grow import GrownTree, Node
from sfumato.learn.tree.plot import Branch, Limits


def set_intervals(tree: GrownTree, level: float = 0.95) -> None:
    """Give every leaf limits for the population behind the records."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    unbiased = None if tree.evidence_.exact else by_method(tree.evidence_, "moment")
    for leaf in tree.root_.leaves:
        if leaf.low is not None:
            continue
        leaf.low, leaf.high = own_limits(tree, leaf, z)
        path = [(axis, (code,)) for axis, code in leaf.path]
        told = None if unbiased is None else _unbiased_limits(unbiased, tree, path, z)
        if told is not None:
            leaf.low, leaf.high = np.minimum(told[0], leaf.low), np.maximum(told[1], leaf.high)


def branch_limits(tree: GrownTree, level: float) -> Limits:
    """The unbiased limits of a branch, which several values of its last question may lead to."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    source = tree.evidence_ if tree.evidence_.exact else by_method(tree.evidence_, "moment")

    def leading(branch: Branch) -> list[tuple[int, Sequence[int]]]:
        path: list[tuple[int, Sequence[int]]] = [(axis, (code,)) for axis, code in branch.node.path]
        if path and branch.codes:
            path[-1] = (path[-1][0], branch.codes)
        return path

    def held(branch: Branch) -> tuple[float, float] | None:
        if not branch.node.path:
            return 1.0, 1.0  # everybody
        try:
            low, high = share_where(source, _condition(source, tree, leading(branch))).population().limits(z)
        except EstimationError:
            return None
        return float(low[0]), float(high[0])

    return Limits(lambda branch: _unbiased_limits(source, tree, leading(branch), z), held)


def own_limits(tree: GrownTree, leaf: Node, z: float) -> tuple[Array, Array]:
    """Limits by the covariance of the evidence that the tree was grown from."""
    from scipy.special import expit, logit

    share = np.clip(leaf.probabilities, 1e-9, 1 - 1e-9)
    slope = z * _deviation(tree, leaf, share) / (share * (1 - share))
    return np.asarray(expit(logit(share) - slope)), np.asarray(expit(logit(share) + slope))


def _unbiased_limits(
    source: Evidence, tree: GrownTree, path: Sequence[tuple[int, Sequence[int]]], z: float
) -> tuple[Array, Array] | None:
    """Of the shares of the classes where a path leads, no answer being a class; None where these are not told."""
    try:
        where = _condition(source, tree, path)
        return share(source, tree.target_, where=where, answered=False).population().limits(z)
    except EstimationError:  # a channel without an inverse, or a table that is too large
        return None


def _condition(source: Evidence, tree: GrownTree, path: Sequence[tuple[int, Sequence[int]]]) -> dict[str, Any]:
    """What holds for the records that a path leads to."""
    fixed = {}
    for axis, codes in path:
        labels = source.schema[tree.features_[axis]].labels
        fixed[tree.features_[axis]] = [labels[code] for code in codes] if len(codes) > 1 else labels[codes[0]]
    return fixed


def _deviation(tree: GrownTree, leaf: Node, share: Array) -> Array:
    """The standard deviation of each class share within the leaf: shares are ratios of the class counts."""
    counts = _covariance(tree, leaf)
    total = max(float(leaf.counts.sum()), 1e-12)
    slope = (np.eye(len(share)) - share[:, None]) / total
    variance = np.einsum("ij,jk,ik->i", slope, counts, slope)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _covariance(tree: GrownTree, leaf: Node) -> Array:
    """The covariance of the leaf's class counts."""
    source = tree.evidence_
    if source.exact:
        p = leaf.probabilities
        return np.asarray(float(leaf.counts.sum()) * (np.diag(p) - np.outer(p, p) + np.eye(len(p)) * 1e-6))
    return source.region({tree.features_[axis]: code for axis, code in leaf.path}, tree.target_)
