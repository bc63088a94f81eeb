"""Conditional probabilities from estimated counts, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.simplex import project
from sfumato.input_checks import check_flags
from sfumato.learn.arguments import real
from sfumato.learn.bayesnet.count_moments import Triple, covariances, second_moments
from sfumato.learn.bayesnet.probability_limits import score_limits
from sfumato.learn.bayesnet.ratio_of_counts import Hinkley, delta_variance, fieller
from sfumato.printable import label_text
from sfumato.schema import Schema
from sfumato.writing.data_frames import as_frame

PRIORS = ("ml", "bdeu", "k2")
#: An interval of a probability as wide as this leaves it open: the records tell nothing about it.
ALL_POSSIBLE = 0.95
#: No probability has a larger standard deviation.
LARGEST_ERROR = 0.5


@dataclass(frozen=True, eq=False)
class CPT:
    r"""Pr(node | parents): a table with an axis per parent, the node's own axis last.

        ML:   θ_jk = N̂_jk / N̂_j                 MAP:  θ_jk = (α_jk + N̂_jk) / (α_j + N̂_j)

    ``values`` never leave the simplex; ``raw`` is the estimate as it came, which may. Where no record is estimated to
    hold a parent configuration, the row is uniform (or the prior's) and ``supported`` is False. Ma (2006) section 5.4.
    """

    node: str
    parents: tuple[str, ...]
    schema: Schema  # of the parents, then the node
    values: Array
    estimate: Estimate | None = None  # what it was estimated from; None for a table that was given
    alpha: Array | float = 0.0  # the prior weight of each cell, in the table's shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @cached_property
    def counts(self) -> Array:
        """N̂ in the shape of the table: the model's where the evidence is a model, else unbiased."""
        return self._fitted().judged

    @cached_property
    def raw(self) -> Array:
        """The estimate before it was brought into [0, 1]; NaN where nothing holds the parent configuration."""
        top, bottom = self.counts, self.counts.sum(-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, (self.alpha + top) / (self._prior_records + bottom), np.nan)

    @cached_property
    def supported(self) -> Any:
        """Whether any record is estimated to hold each parent configuration."""
        return self.counts.sum(-1) > 0

    @cached_property
    def known(self) -> Any:
        """Whether the records tell anything about each probability.

        Its 95 % interval leaves something out, and its error is not that of a ratio whose bottom may be 0.
        """
        low, high = self.interval()
        return (high - low < ALL_POSSIBLE) & (self.sd() < LARGEST_ERROR)

    def moments(self, population: bool = True) -> tuple[Array, Array, Array, Array, Array]:
        """N̂_jk, N̂_j and their variances and covariance: (μ₁, μ₂, σ₁², σ₁₂, σ₂²), each in the table's shape."""
        top = self.counts
        bottom = np.broadcast_to(top.sum(-1, keepdims=True), top.shape)
        return top, bottom, *covariances(self._fitted(), self._second, population or self._asked_in_part)

    def sd(self, population: bool = True) -> Array:
        """The standard deviation of each probability, by the delta method."""
        top, bottom, v11, v12, v22 = self.moments(population)
        variance = delta_variance(top, bottom, v11, v12, v22)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom > 0, np.sqrt(variance) * bottom / (bottom + self._prior_records), np.nan)

    def interval(self, level: float = 0.95, method: str = "score", population: bool = True) -> tuple[Array, Array]:
        """Limits that cover each probability, kept within [0, 1].

        "delta": estimate ± z sd. "fieller": Fieller's set, right also where the parent configuration is rare. "score":
        Fieller's set with the variance taken at the probability in question, right also for probabilities near 0 and
        1; it is Wilson's interval where nothing was randomized. Of a joint model it is Fieller's set.
        """
        check_flags(EstimationError, population=population)
        level = real("level", level)
        if not 0 < level < 1:
            raise EstimationError(f"level must lie in (0, 1), got {level} instead")
        if method == "delta":
            from scipy.special import ndtri

            half = float(ndtri((1 + level) / 2)) * self.sd(population)
            low, high = self.raw - half, self.raw + half
        elif method == "fieller":
            low, high = fieller(*self.moments(population), level)
        elif method == "score":
            low, high = score_limits(self._fitted(), self._second, level, population or self._asked_in_part)
        else:
            raise EstimationError(f"method must be delta, fieller or score, got {method!r} instead")
        known = self.supported[..., None] & ~np.isnan(low) & ~np.isnan(high)
        return np.where(known, np.clip(low, 0.0, 1.0), 0.0), np.where(known, np.clip(high, 0.0, 1.0), 1.0)

    def density(self, cell: tuple[int, ...], population: bool = True) -> Hinkley:
        """The approximate distribution of one estimate, as a ratio of two normals."""
        inside = isinstance(cell, tuple | list) and len(cell) == len(self.shape)
        inside = inside and all(0 <= at < k for at, k in zip(cell, self.shape, strict=True))
        if not inside:
            raise EstimationError(f"cell must be the codes of {', '.join(self.schema)} within {self.shape}, got {cell}")
        m1, m2, v11, v12, v22 = (float(part[cell]) for part in self.moments(population))
        if min(v11, v22) <= 0 or v12**2 >= v11 * v22 * (1 - 1e-12):
            raise EstimationError(f"the estimate at {cell} has no spread: no such record, or exact counts")
        return Hinkley(m1, m2, v11**0.5, v22**0.5, v12 / (v11 * v22) ** 0.5)

    def frame(self, level: float | str = 0.95, backend: str = "pyarrow") -> Any:
        """A row per probability: the parents' values, the node's, the estimate, and its uncertainty where known.

        ``backend`` is "pyarrow", "pandas" or "polars"; ``frame("pandas")`` will do.
        """
        import pyarrow as pa

        level, backend = (0.95, level) if isinstance(level, str) else (level, backend)

        columns: dict[str, Any] = {}
        for (name, domain), codes in zip(self.schema.items(), np.indices(self.shape), strict=True):
            columns[name] = [label_text(domain.labels[code]) for code in codes.reshape(-1)]
        columns["probability"] = self.values.reshape(-1)
        if self.estimate is not None:
            low, high = self.interval(level)
            columns |= {"raw": self.raw.reshape(-1), "sd": self.sd().reshape(-1)}
            columns |= {"low": low.reshape(-1), "high": high.reshape(-1)}
            columns["supported"] = np.repeat(np.ravel(self.supported), self.shape[-1])
            columns["known"] = self.known.reshape(-1)
        return as_frame(pa.table(columns), backend)

    def _fitted(self) -> Estimate:
        if self.estimate is None:
            raise EstimationError(f"the probabilities of {self.node!r} were given, not estimated: they carry no counts")
        return self.estimate.of_asked

    @property
    def _asked_in_part(self) -> bool:
        """Whether only some records were asked: then they are a sample also of the table itself."""
        return self.estimate is not None and self.estimate.records is not None and self.estimate.asked < 1

    @property
    def _prior_records(self) -> Array:
        """α_j, in the shape of the table with its last axis summed."""
        return np.asarray(np.broadcast_to(self.alpha, self.shape).sum(-1, keepdims=True))

    @cached_property
    def _second(self) -> Triple:
        return second_moments(self._fitted())


#: "ml", "bdeu", "k2", a number of records, or the weight of each cell by node.
Prior = str | float | Mapping[str, ArrayLike]


def fit_cpt(estimate: Estimate, prior: Prior = "ml") -> CPT:
    """The table of the last named attribute given the others.

    ``prior`` is "ml" (none), "k2" (one record per cell), "bdeu" (ten records spread evenly over the table), the number
    of records to spread, or for each node the Dirichlet weights of its cells (nodes that are left out have none).
    """
    *parents, node = estimate.names
    k = estimate.shape[-1]
    counts = estimate.of_asked.value.reshape(-1, k)
    alpha = dirichlet(prior, node, estimate.shape)
    values = np.full(counts.shape, 1.0 / k)
    for row, weight, found in zip(values, alpha.reshape(-1, k), counts, strict=True):
        total = max(float(found.sum()), 0.0)
        possible = np.zeros(k) if not total else found if (found >= 0).all() else project(found, total)
        if total + weight.sum() > 0:  # else nothing holds this configuration, nor says the prior anything: uniform
            row[:] = (weight + possible) / (weight.sum() + total)
    return CPT(node, tuple(parents), estimate.schema, values.reshape(estimate.shape), estimate, alpha)


def given_cpt(node: str, parents: tuple[str, ...], schema: Schema, given: ArrayLike | None) -> CPT:
    """A table whose probabilities are known."""
    if given is None:
        raise EstimationError(f"the probabilities of {node!r} are missing")
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimationError(f"the table of {node!r} must hold numbers in rows of equal length") from None
    shape = (*schema.sizes(parents), schema[node].size)
    if table.shape != shape:
        raise EstimationError(f"the table of {node!r} must have shape {shape}, got {table.shape} instead")
    if not (table >= 0).all() or not np.allclose(table.sum(-1), 1, atol=1e-6):
        raise EstimationError(f"the probabilities of {node!r} must be non-negative and sum to 1 in each row")
    return CPT(node, parents, schema.select((*parents, node)), table)


def dirichlet(prior: Prior, node: str, shape: tuple[int, ...]) -> Array:
    """The prior weight of each cell of a node's table.

    >>> dirichlet("bdeu", "x", (2, 2))
    array([[2.5, 2.5],
           [2.5, 2.5]])
    """
    cells = prod(shape)
    if isinstance(prior, str):
        if prior not in PRIORS:
            raise EstimationError(f"prior must be one of {', '.join(PRIORS)} or a number of records, got {prior!r}")
        return np.full(shape, {"ml": 0.0, "k2": 1.0, "bdeu": 10.0 / cells}[prior])
    if isinstance(prior, Mapping):
        try:
            weights = np.broadcast_to(np.asarray(prior.get(node, 0.0), dtype=np.float64), shape)
        except (TypeError, ValueError):
            raise EstimationError(f"the prior of {node!r} must be weights of shape {shape}") from None
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise EstimationError(f"the prior of {node!r} must be finite weights, none negative")
        return weights
    records = real("prior", prior)
    if records < 0:
        raise EstimationError(f"prior must be a number of records, 0 or more, got {prior} instead")
    return np.full(shape, records / cells)
