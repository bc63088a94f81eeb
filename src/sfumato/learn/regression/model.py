"""Regression from evidence: the estimator that people call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import as_evidence
from sfumato.evidence.limits import check_level
from sfumato.evidence.simplex import project
from sfumato.input_checks import check_kind, check_names, check_progress, check_word
from sfumato.learn.base import Classifier, check_rows, prepare, refuse_one_class, share_right
from sfumato.learn.regression.binned_numbers import binned_numbers
from sfumato.learn.regression.coefficient_limits import distances, limits, p_values
from sfumato.learn.regression.design_columns import Column, columns_of, matrix
from sfumato.learn.regression.families import Family, Gaussian, Logistic, Ordinal
from sfumato.learn.regression.fitting import fit
from sfumato.learn.regression.formula import is_formula, read_formula
from sfumato.learn.regression.level_ends import LevelEnds, level_ends
from sfumato.learn.regression.noisy_moments import noises_of
from sfumato.learn.regression.plot import plot
from sfumato.learn.regression.problem import Fit, Open, Problem, Progress
from sfumato.learn.regression.rare_silence import leave_out_rare_silence, with_silent_at_mean
from sfumato.learn.regression.rare_values import leave_out_rare_values
from sfumato.learn.regression.responding import Responding
from sfumato.learn.regression.response import occupied, response, told_responses
from sfumato.learn.regression.summary import explained, summary
from sfumato.learn.score import Score
from sfumato.printable import label_text
from sfumato.threads import one_thread
from sfumato.writing.data_frames import as_frame

FAMILIES = ("gaussian", "logistic", "ordinal")
COVARIANCES = ("model", "robust")
WAYS = ("auto", "scores", "model")


class Regression(Classifier):
    r"""Coefficients with standard errors, response and covariates randomized.

        Σ_cells N̂ ψ(cell; β) = 0,   N̂ = A Ñ,   Cov(β) = H⁻¹ (Σ_z Ñ_z s_z s_zᵀ) H⁻ᵀ,   s_z = Σ_cells A[cell, z] ψ(cell)

    ``names`` lists attributes and terms: "age" counts by its numbers (ranks, where it is ordinal), categories by a
    dummy for each value but the first, "C(age)" gives dummies to any attribute, "age:sex" is an interaction.
    ``formula`` is "ill ~ age * sex" instead. ``event`` is the response's value whose odds the logistic family explains,
    the second unless told. ``cov`` is for exact records: "model" or "robust" (HC0); randomized ones get the sandwich.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> exact = sf.evidence(table, schema)
    >>> found = Regression("logistic").fit(exact, target="class", names=["mitoses", "clump_thickness"])
    >>> found.terms_, found.coef_.round(2).tolist()
    (['Intercept', 'mitoses', 'clump_thickness'], [-4.81, 2.73, 3.56])
    """

    def __init__(
        self,
        family: str = "gaussian",
        names: Sequence[str] | None = None,
        formula: str | None = None,
        cov: str = "model",
        through: str = "auto",
        event: Any = None,
        target: str | None = None,
    ) -> None:
        self.family = family
        self.names = names
        self.formula = formula
        self.cov = cov
        self.through = through
        self.event = event
        self.target = target

    coef_: Array
    cov_: Array
    terms_: list[str]  # what each coefficient belongs to
    columns_: list[Column]
    method_: str
    covariance_: str
    converged_: bool
    n_: int  # records
    left_out_: float  # estimated records without a response
    freedom_: float  # of the t distribution behind intervals; infinite for the normal one
    scale_: float | None  # the variance around the mean (gaussian)
    ends_: LevelEnds | None  # what the counts tell of the ends of levels (ordinal, randomized)
    steep_: Open | None  # which lower and which upper limits are open, since steeper slopes fit as well

    @one_thread()
    def fit(
        self,
        source: Any,
        target: Any = None,
        names: Sequence[str] | None = None,
        formula: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from evidence or a release: ``target`` and ``names``, or a ``formula``, here or in the constructor.

        Without names all other attributes are covariates. Where errors need refits of a joint model, ``progress`` is
        called before each, with how many are done, of how many.
        """
        for name, allowed in (("family", FAMILIES), ("cov", COVARIANCES), ("through", WAYS)):
            check_word(EstimationError, name, getattr(self, name), allowed)
        check_progress(EstimationError, progress)
        found = as_evidence(source)
        text = self.formula if formula is None else formula
        check_kind(EstimationError, "formula", text, str | None, 'a text, such as "ill ~ age * sex"')
        asked = target if isinstance(target, str) else self.target
        if text is None and is_formula(asked, found.schema):
            text, asked = asked, None
        asked, columns = self._request(found, asked, self.names if names is None else names, text)
        prepare(self, found, asked)
        self.features_ = tuple(name for name in found.schema.names if any(name in column.names for column in columns))
        if asked in self.features_:
            raise EstimationError(f"the target {asked!r} stands among the covariates: leave it out there")
        self.columns_ = columns
        self._learn(found, progress)
        self.fitted_ = True
        return self

    def _request(
        self, source: Evidence, target: str | None, names: Sequence[str] | None, text: str | None
    ) -> tuple[str, list[Column]]:
        if names is not None:
            names = check_names(EstimationError, "names", names, "attributes and terms")
        if text is not None:
            if names is not None:
                raise EstimationError("give names or a formula, not both")
            if "~" not in text:
                raise EstimationError(f'a formula reads "response ~ covariates", got {text!r} instead')
            named, columns = read_formula(text, source.schema)
            if target is not None and named and target != named:
                raise EstimationError(f"the formula explains {named!r}, and the target is {target!r}: give one of them")
            return target or named, columns
        if target is None:
            raise EstimationError("Regression needs a target: fit(evidence, target=...)")
        if names == ():
            raise EstimationError('names must list at least one attribute; formula="y ~ 1" fits a constant alone')
        return target, columns_of([n for n in source.names if n != target] if names is None else names, source.schema)

    def _learn(self, source: Evidence, progress: Progress | None = None) -> None:
        found = response(self.target_, self.schema_[self.target_], self.family, self.event)
        counts, self.left_out_, self.ends_ = np.ones(len(found.kept)), 0.0, None
        noisy = noises_of(source, [self.target_])  # numbers with noise have no counts, and no missing answers
        if not noisy:
            held = source.counts([self.target_], quiet=True)
            counts, shares = held.value, project(held.value, held.n)
            refuse_one_class(np.where(found.kept, shares, 0.0), self.target_, self.schema_[self.target_].labels)
            self.left_out_ = max(float(held.value[~found.kept].sum()), 0.0)
            if not (source.exact or source.smoothed):
                found.refuse_one_class(self.family, held)
        given = Responding(self.target_, found.kept)
        columns, self.hardly_silent_ = leave_out_rare_silence(source, self.columns_, given)
        columns, self.rare_values_ = leave_out_rare_values(source, columns, given)
        family = self._family(len(found.labels))
        if isinstance(family, Ordinal):
            found, family = occupied(found, counts)
            self.ends_ = None if noisy or source.exact else level_ends(found, held)
            columns = [column for column in columns if column.names]
        if not columns and not isinstance(family, Ordinal):
            raise EstimationError("there is no covariate and no constant: nothing to fit")
        names, robust = (*self.features_, self.target_), self.cov == "robust"

        def fitted(kept: Sequence[Column]) -> Fit:
            return fit(source, Problem(family, kept, found, names, robust), self.through, progress)

        result, columns, silent = with_silent_at_mean(source, columns, given, fitted)
        self.hardly_silent_ |= silent
        self.binned_ = binned_numbers(source, columns, [self.target_] if self.family == "gaussian" else [])
        self.columns_, self.terms_, self.classes_ = columns, [column.term for column in columns], found.labels
        if isinstance(family, Ordinal):
            self.terms_ += [f"{one}/{other}" for one, other in pairwise(map(label_text, found.labels))]
        self.coef_, self.cov_, self.n_ = result.beta, result.cov, source.n
        self.method_, self.covariance_, self.converged_ = result.method, result.covariance, result.converged
        self.freedom_, self.scale_, self.steep_ = result.freedom, result.scale, result.open

    def _family(self, classes: int) -> Family:
        if self.family == "ordinal":
            return Ordinal(classes)
        return Logistic() if self.family == "logistic" else Gaussian()

    # What it says.

    @property
    def sd_(self) -> Array:
        """Standard errors."""
        self._check_fitted()
        return np.sqrt(np.maximum(np.diag(self.cov_), 0.0))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Limits that hold each coefficient with the given probability; infinite where they are open."""
        check_level(level)
        return limits(self.coef_, self.sd_, self.freedom_, self.ends_, self.steep_, level)

    @property
    def z_(self) -> Array:
        """How many standard errors each coefficient is away from 0; of the end of a level, how many reach 0."""
        return distances(self.coef_, self.sd_, self.ends_)

    @property
    def p_(self) -> Array:
        """How probable so large a coefficient would be if the true one were 0."""
        return p_values(self.z_, self.freedom_)

    def frame(self, level: float = 0.95, backend: str = "pyarrow") -> Any:
        """A row per coefficient: term, value, sd, low, high, p; ``frame("pandas")`` will do."""
        import pyarrow as pa

        level, backend = (0.95, level) if isinstance(level, str) else (level, backend)
        low, high = self.interval(level)
        columns = {"value": self.coef_, "sd": self.sd_, "low": low, "high": high, "p": self.p_}
        return as_frame(pa.table({"term": self.terms_, **columns}), backend)

    def summary(self, level: float = 0.95) -> str:
        """All of it as text, in the manner of statsmodels."""
        self._check_fitted()
        return summary(self, level)

    @property
    def intercepts(self) -> tuple[bool, ...]:
        """Which terms say where the target stands, not what goes along with it: Intercept, or the ends of levels."""
        levels = len(self.classes_) - 1 if self.family == "ordinal" else 0
        inner = len(self.terms_) - levels
        return tuple(term == "Intercept" or i >= inner for i, term in enumerate(self.terms_))

    def plot(self, path: str | Path | None = None, level: float = 0.95) -> Any:
        """The coefficients with their intervals; intercepts, which are on another scale, are left out."""
        self._check_fitted()
        low, high = self.interval(level)
        shown = [i for i, own in enumerate(self.intercepts) if not own] or list(range(len(self.terms_)))
        title = f"What goes along with {explained(self)}, by {self.family} regression"
        terms = [self.terms_[i] for i in shown]
        return plot(path, terms, self.coef_[shown], low[shown], high[shown], title, level)

    def _shown(self) -> tuple[Sequence[str], Sequence[Sequence[Any]], int]:
        if not self.fitted_:
            return ["not fitted"], [], 0
        rows = self.frame().to_pylist()
        return list(rows[0]), [list(row.values()) for row in rows], 0

    # What it foretells.

    def predict(self, table: Any) -> NDArray[Any]:
        """The mean of every row (gaussian), or its most probable class."""
        self._check_fitted()
        if self.family != "gaussian":
            return super().predict(table)
        return np.asarray(self._matrix(self._encode(table)) @ self.coef_)

    def score(self, table: Any, y: Any = None) -> float:
        """The share of rows with a response that are predicted right; gaussian: R², the share of variance explained."""
        said, truth = self.predict(table), self._own_target(table) if y is None else self._given(y)
        check_rows(said, truth)
        told = np.array([value is not None and value == value for value in truth])
        said, truth = said[told], truth[told]
        if self.family != "gaussian":
            return share_right(said, truth)
        apart = float(((truth - truth.mean()) ** 2).sum()) if told.any() else 0.0
        if not apart:
            raise EstimationError(f"the target {self.target_!r} does not vary in these rows: nothing to explain")
        return 1 - float(((truth - said) ** 2).sum()) / apart

    def _given(self, y: Any) -> NDArray[Any]:
        try:
            return np.asarray(y, dtype=np.float64 if self.family == "gaussian" else None)
        except (TypeError, ValueError):
            raise EstimationError("y must hold numbers, as the mean of a response is one") from None

    def estimate_score(self, source: Any, level: float = 0.95) -> Score:
        self._check_fitted()
        if self.family == "gaussian" or len(self.classes_) != self.schema_[self.target_].size:
            raise EstimationError("estimate_score needs a class for every value of the target")
        return super().estimate_score(source, level)

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        return self._family(len(self.classes_)).proba(self.coef_, self._matrix(codes))

    def _matrix(self, codes: Mapping[str, Codes]) -> Array:
        return matrix(self.columns_, codes, len(next(iter(codes.values()))))

    def _own_target(self, table: Any) -> NDArray[Any]:
        told = told_responses(self.target_, self.schema_[self.target_], self.family, self.event, self.classes_)
        return np.asarray(told[self.schema_.select([self.target_]).encode(table)[self.target_]])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.family == "gaussian":
            from sklearn.utils import RegressorTags

            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags
