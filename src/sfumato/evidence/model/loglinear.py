"""Log-linear models of a whole table, fitted by penalised maximum likelihood through the channels.

    θ ∝ exp(Σ_s λ_s),       minimise  -(1/N) Σ_y Ñ_y log (Pᵀθ)_y + Σ_{|s| > 1} |λ_s|² / (2 N τ²)

where s runs over terms (sets of attributes). The gradient is the margins of θ, minus those of the posterior table
θ · P(Ñ / Pᵀθ) / N, plus the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix
from sfumato.evidence.model.likelihood import Likelihood
from sfumato.threads import one_thread

#: Up to this many records the gradient need not be smaller than asked for; more say more, so that it must be.
_RECORDS = 30_000


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted log-linear model."""

    design: DesignMatrix
    parameters: Array
    tau: float | Array  # of all terms, or of each
    iterations: int

    @cached_property
    def theta(self) -> Array:
        """The distribution over all cells, flat."""
        return self.design.theta(self.parameters)


#: The precision of main effects: a whisper, so that an empty category does not run off to minus infinity.
MAIN = 1e-2


def precisions(design: DesignMatrix, tau: float | Array) -> Array:
    """The penalty read as a prior: 1 / variance of every parameter, from tau of all terms, or of each."""
    own = np.broadcast_to(np.asarray(tau, dtype=np.float64), len(design.terms))[design.owner]
    return np.where(design.penalised, 1.0 / (own * own), MAIN)


@one_thread()
def fit(
    observed: Likelihood,
    design: DesignMatrix,
    tau: float | Array,
    start: Array | None = None,
    tolerance: float = 3e-5,
    most: int = 400,
) -> Fitted:
    """The penalised maximum by L-BFGS, from the corrected margins unless another start is given."""
    from scipy.optimize import minimize

    total = observed.total
    weight = precisions(design, tau) / total
    first = design.start(observed.margins()) if start is None else start

    def objective(parameters: Array) -> tuple[float, Array]:
        theta = design.theta(parameters)
        likelihood, ratio = observed.evaluate(theta)
        gradient = design.margins(theta * (1.0 - ratio)) + weight * parameters
        return -likelihood / total + 0.5 * float(weight @ parameters**2), gradient

    found = minimize(
        objective,
        first,
        jac=True,
        method="L-BFGS-B",
        options={"maxcor": 20, "maxiter": most, "gtol": tolerance * min(1.0, _RECORDS / total), "ftol": 1e-11},
    )
    return Fitted(design, np.asarray(found.x), tau, int(found.nit))
