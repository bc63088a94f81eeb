"""Choose between joint models by the likelihood of held-out randomized records, which needs no clean data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix, Term, pairwise, star
from sfumato.evidence.model.likelihood import Likelihood, log_released
from sfumato.evidence.model.loglinear import Fitted, fit
from sfumato.evidence.model.own_penalties import all_the_way, fit_own_penalties
from sfumato.evidence.model.target_dependence import independent_target, target_is_told
from sfumato.evidence.model.tuning import FEWEST, LARGE, LOOSE, PARTS, STRENGTHS, SURE, TAU, WORTH

#: Of each of some terms its penalty.
Penalties = Callable[[Sequence[Term]], Array]
DEFAULT, INDEPENDENT = "pairwise, a penalty for each pair", "independent"


@dataclass(frozen=True)
class TriedModel:
    """A model that was tried: the held-out log-likelihood per record over the default's, and that gain's own noise."""

    name: str
    gain: float
    noise: float
    target_gain: float = 0.0  # the same for the released target given the other released values
    chosen: bool = False


@dataclass(frozen=True, eq=False)
class ChosenModel:
    """The chosen distribution, the log-linear fit behind it and what it was chosen from."""

    theta: Array
    fitted: Fitted
    strength: float | None  # of the pairwise model as a prior, where the full joint table was chosen
    candidates: tuple[TriedModel, ...]

    @property
    def name(self) -> str:
        alone = DEFAULT
        if isinstance(self.fitted.tau, float | int):
            alone = f"pairwise, tau={self.fitted.tau:g}"
        return next((c.name for c in self.candidates if c.chosen), alone)

    def about(self, observed: Likelihood, target: int, rng: np.random.Generator | None = None) -> ChosenModel:
        """The same, with the target made independent of all else unless held-out records show what foretells it.

        The models of fewer records start where this one ends, but know nothing yet of what foretells the target: what
        they learn of it comes from their own records.
        """
        design = self.fitted.design
        start = np.where(design.of_pairs_with(target), 0.0, self.fitted.parameters)

        def refit(data: Likelihood) -> Array:
            again = fit(data, design, self.fitted.tau, start, LOOSE).theta
            return again if self.strength is None else joint_with_prior(data, again, self.strength)

        if target_is_told(observed, self.theta, design, target, refit, rng):
            return self
        return replace(self, theta=independent_target(self.theta, observed.sizes, target))


def fit_only(observed: Likelihood, tau: float | Array, order: int = 2) -> ChosenModel:
    """The pairwise model with given penalties, unquestioned."""
    fitted = fit(observed, DesignMatrix(observed.sizes, pairwise(len(observed.sizes), order)), tau)
    return ChosenModel(fitted.theta, fitted, None, ())


def choose(
    observed: Likelihood,
    target: int | None,
    penalties: Penalties,
    rng: np.random.Generator | None = None,
    order: int = 2,
) -> ChosenModel:
    """The candidate that foretells held-out randomized records best; the default unless the gain is sure.

    Candidates: the pairwise model with a penalty for each pair, the same with weaker ones, independent attributes,
    naive Bayes where a target is named, and the full joint table with the pairwise model as its prior.

    Of forms, which say little of each pair, the pairwise model alone is fitted, its penalties sought together.
    """
    if observed.total < FEWEST:
        return fit_only(observed, TAU, order)
    attributes = len(observed.sizes)
    own = fit_own_penalties(observed, order) if observed.of_forms and prod(observed.sizes) <= LARGE else None
    if own is not None:
        return _plain(own)
    tau = penalties(pairwise(attributes, order))
    if observed.of_forms or prod(observed.sizes) > LARGE:
        return fit_only(observed, tau, order)
    learn, held = _held_out(observed, rng)
    design = DesignMatrix(observed.sizes, pairwise(attributes, order))
    first, weaker = fit(learn, design, tau, tolerance=LOOSE), all_the_way(tau)
    makers: dict[str, Callable[[Likelihood, float], ChosenModel]] = {
        "pairwise, weaker penalties": lambda data, tol: _plain(fit(data, design, weaker, first.parameters, tol)),
        INDEPENDENT: lambda data, tol: _plain(
            fit(data, DesignMatrix(data.sizes, pairwise(attributes, 1)), 1.0, None, tol)
        ),
    }
    if target is not None and attributes > 2:
        makers["naive Bayes"] = lambda data, tol: _plain(
            fit(data, DesignMatrix(data.sizes, star(attributes, target)), 3.0, None, tol)
        )
    for strength in STRENGTHS:
        makers[f"full joint, strength {strength:g}"] = _joint_maker(first, learn, strength)
    tried = [TriedModel(DEFAULT, 0.0, 0.0)]
    for name, make in makers.items():
        theta = make(learn, LOOSE).theta
        about = 0.0 if target is None else _compare(held, theta, first.theta, target)[0]
        tried.append(TriedModel(name, *_compare(held, theta, first.theta, None), about))
    best = _best(tried, target is not None)
    candidates = tuple(replace(c, chosen=c is best) for c in tried)
    if best is tried[0]:
        fitted = fit(observed, design, tau, first.parameters)
        return ChosenModel(fitted.theta, fitted, None, candidates)
    return replace(makers[best.name](observed, 3e-5), candidates=candidates)


def _best(tried: list[TriedModel], has_target: bool) -> TriedModel:
    """The default, unless another surely foretells records better, by enough to matter, and the target no worse."""
    default, *others = tried
    alone = next(c for c in others if c.name == INDEPENDENT)
    worth = max(-alone.gain, 0.0) * WORTH
    better = [c for c in others if c.gain > max(SURE * c.noise, worth) and (not has_target or c.target_gain > 0)]
    if better:
        return max(better, key=lambda c: c.target_gain if has_target else c.gain)
    # pairs that do not foretell held-out records better are noise
    return alone if alone.gain > 0 else default


def joint_with_prior(observed: Likelihood, prior: Array, strength: float, steps: int = 60) -> Array:
    """The full joint table with the model as its prior, by EM.

    θ ← (N · posterior table + s · prior) / (N + s)
    """
    theta = prior
    total = observed.total
    for _ in range(steps):
        following = (total * theta * observed.evaluate(theta)[1] + strength * prior) / (total + strength)
        following /= following.sum()
        moved = float(np.abs(following - theta).sum())
        theta = following
        if moved < 1e-5:
            break
    return theta


def _joint_maker(first: Fitted, learn: Likelihood, strength: float) -> Callable[[Likelihood, float], ChosenModel]:
    def make(data: Likelihood, tolerance: float) -> ChosenModel:
        again = data is not learn
        fitted = fit(data, first.design, first.tau, first.parameters, tolerance) if again else first
        return ChosenModel(joint_with_prior(data, fitted.theta, strength), fitted, strength, ())

    return make


def _plain(fitted: Fitted) -> ChosenModel:
    return ChosenModel(fitted.theta, fitted, None, ())


def _held_out(observed: Likelihood, rng: np.random.Generator | None) -> tuple[Likelihood, Likelihood]:
    held, *learn = observed.folds(PARTS, rng)
    return Likelihood.together(learn), held


def _compare(held: Likelihood, theta: Array, other: Array, target: int | None) -> tuple[float, float]:
    """The mean difference of the log-likelihoods per record, and its standard error.

    Where a target is named, of its released value given the others': that is what learners will ask.
    """
    total = square = 0.0
    for part in held.parts:
        seen = part.counts > 0
        ratio = (log_released(part, theta, target) - log_released(part, other, target))[seen]
        total += float(part.counts[seen] @ ratio)
        square += float(part.counts[seen] @ ratio**2)
    n = held.total
    mean = total / n
    return mean, float(np.sqrt(max(square / n - mean**2, 0.0) / n))
