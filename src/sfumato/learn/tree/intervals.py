"""Limits for the class probabilities in the leaves of a tree."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.tree.grow import GrownTree, Node


def set_intervals(tree: GrownTree, level: float = 0.95) -> None:
    """Give every leaf limits, by the delta method on the evidence's own covariance, on the logit scale."""
    from scipy.special import expit, logit, ndtri

    z = float(ndtri((1 + level) / 2))
    for leaf in tree.root_.leaves:
        if leaf.low is not None:
            continue
        share = np.clip(leaf.probabilities, 1e-9, 1 - 1e-9)
        sd = _deviation(tree, leaf, share)
        slope = z * sd / (share * (1 - share))
        leaf.low, leaf.high = np.asarray(expit(logit(share) - slope)), np.asarray(expit(logit(share) + slope))


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
