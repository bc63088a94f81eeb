"""Probabilistic k-anonymity: among how many true values an answer hides its own (Ma 2006, section 3.1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.entropy import entropy
from sfumato.assess.subject import Attribute, subject
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_number


@dataclass(frozen=True)
class KAnonymity:
    """K_p and Dist_K, the worst over the answers, and both for each answer (0 and nan where it never occurs)."""

    k: int
    distance: float
    k_by_output: NDArray[np.int64]
    distance_by_output: Array


def k_anonymity(
    of: Any, prior: ArrayLike | None = None, threshold: float = 0.0, *, attribute: Attribute = None
) -> KAnonymity:
    r"""How many true values remain possible after an answer, and how unevenly.

        K_p = min over y of m_y,   m_y = #{x : Pr(x | y) > threshold},      Dist_K = max over y of log2 m_y - H(X | y)

    The thesis prints min for Dist_K, which is the best case; the worst is the max. A threshold on the posterior keeps
    hardly possible values from counting (its future work b); beliefs are then rescaled to the values that remain.

    >>> k_anonymity([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]).k
    2
    """
    if not 0 <= check_number(SfumatoError, "threshold", threshold) < 1:
        raise SfumatoError(f"threshold must lie in [0, 1), got {threshold} instead")
    seen = subject(of, prior, attribute)
    kept = np.where(seen.posterior > threshold, seen.posterior, 0.0)
    count = (kept > 0).sum(axis=0)
    total = kept.sum(axis=0)
    shares = np.divide(kept, total, out=np.zeros_like(kept), where=total > 0)
    distance = np.where(count > 0, np.log2(np.maximum(count, 1)) - entropy(shares), np.nan)
    at = seen.seen
    worst = float(np.nanmax(distance[at])) if (count[at] > 0).any() else float("nan")
    return KAnonymity(int(count[at].min()), max(worst, 0.0), np.where(at, count, 0), np.where(at, distance, np.nan))
