"""Naive Bayes from randomized data: every attribute's distribution by class, from pair tables alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.evidence import Evidence
from sfumato.evidence.density import density
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.simplex import project
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Classifier, normalise, refuse_one_class, surely_held
from sfumato.learn.noisy_numbers import NumberClassifier
from sfumato.learn.plot import bars
from sfumato.printable import label_text

#: Of larger tables the errors leave out how the counts of a class vary together.
_COVARIANCE_CELLS = 512
#: Of an even density over all that an attribute was seen to be: no class is ruled out by one number.
_LEAST_DENSITY = 1e-6


class NaiveBayes(Classifier):
    r"""Pr(c | x) ∝ Pr(c) ∏_j Pr(x_j | c), from the pair tables (x_j, c) of any evidence.

    Each table holds two attributes, so the noise does not grow with their number. Every class gets ``smoothing`` more
    records that follow the attribute's own distribution; on randomized evidence also as many as the noise of its counts
    is worth, so that what is mostly noise says little.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> round(NaiveBayes().fit(sf.evidence(table, schema), target="class").score(table), 2)
    0.98
    """

    def __init__(self, smoothing: float = 1.0, target: str | None = None) -> None:
        self.smoothing = smoothing
        self.target = target

    class_prior_: Array
    tables_: dict[str, Array]  # values by class, columns sum to 1
    standard_errors_: dict[str, Array]  # of tables_, for the population behind the records
    told_classes_: NDArray[np.bool_]  # which classes some records surely hold: of the others the tables tell nothing

    def _learn(self, source: Evidence) -> None:
        check_number("smoothing", self.smoothing, least=0)
        own = source.counts([self.target_], quiet=True)
        pairs = source.counts_many([[name, self.target_] for name in self.features_], quiet=True)
        classes = project(own.value, own.n)
        refuse_one_class(classes, self.target_, self.schema_[self.target_].labels)
        self.class_prior_ = classes / classes.sum()
        self.told_classes_ = surely_held(source, self.target_)
        self.tables_, self.standard_errors_ = {}, {}
        for name, pair in zip(self.features_, pairs, strict=True):
            table = project(pair.value, pair.n).reshape(pair.shape)
            noise = 0.0 if source.exact or source.smoothed else pair.variance.reshape(pair.shape)
            margin = table.sum(axis=1, keepdims=True) / max(table.sum(), 1e-300)
            # Shrink towards the attribute's own distribution by as many records as the noise is worth.
            weight = self.smoothing + np.sum(noise * np.ones_like(table), axis=0) / np.maximum(classes, 1.0)
            smooth = table + weight * np.maximum(margin, 1e-9)
            self.tables_[name] = smooth / np.maximum(smooth.sum(axis=0, keepdims=True), 1e-300)
            held = np.maximum(table.sum(axis=0), 1.0)
            # Drawn towards the attribute's own distribution, an estimate keeps this share of its variance.
            errors = _ratio_errors(pair, self.tables_[name], held)
            self.standard_errors_[name] = errors * np.sqrt(held / (held + weight))

    def plot(self, path: str | Path | None = None) -> Any:
        """Pr(value | class), a bar per class that surely some records hold; 95 % intervals."""
        self._check_fitted()
        rows = [f"{name} = {label_text(label)}" for name in self.tables_ for label in self.schema_[name].labels]
        told = self.told_classes_
        values = np.concatenate(list(self.tables_.values()))[:, told]
        spread = 1.96 * np.concatenate(list(self.standard_errors_.values()))[:, told]
        labels = [f"{self.target_} = {label_text(label)}" for label in self.classes_[told]]
        title = f"Shares of each value by {self.target_}, with 95 % intervals"
        axis, held = "share within the class", self.class_prior_[told]
        return bars(path, rows, values, labels, title, axis, held, spread, limits=(0.0, 1.0))

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        rows = len(next(iter(codes.values())))
        logs = np.tile(np.log(np.maximum(self.class_prior_, 1e-300)), (rows, 1))
        for name, table in self.tables_.items():
            logs += np.log(np.maximum(table, 1e-300))[np.asarray(codes[name])]
        return normalise(logs)


def _ratio_errors(pair: Estimate, shares: Array, classes: Array) -> Array:
    """Standard errors of n_vc / n_c to first order: the deviation of n_vc - share · n_c, over n_c."""
    found = pair.sampled()
    values, count = pair.shape
    if len(pair.value) > _COVARIANCE_CELLS:
        return np.asarray(np.sqrt(found.variance).reshape(pair.shape) * pair.n / classes)
    cov = found.cov.reshape(values, count, values, count)
    out = np.zeros(pair.shape)
    for c in range(count):
        slope = np.eye(values) - shares[:, [c]]
        out[:, c] = np.sqrt(np.maximum(np.diag(slope @ cov[:, c, :, c] @ slope.T), 0.0)) * pair.n / classes[c]
    return out


class DensityNaiveBayes(NumberClassifier):
    """Naive Bayes on numbers with additive noise: each attribute's density is reconstructed by class.

    The "by class" method of Agrawal and Srikant (2000): the records of a class are deconvolved alone. ``noises`` holds
    a noise per column, as ``sfumato.channels.uniform`` and its kin make them; the others go to ``sfumato.density``.
    """

    def __init__(
        self, noises: Sequence[Any], support: Any = None, bins: int | None = None, method: str = "auto"
    ) -> None:
        self.noises = noises
        self.support = support
        self.bins = bins
        self.method = method

    @property
    def _columns(self) -> int:
        return len(self.noises)

    def _learn(self, values: Array, codes: NDArray[np.int64]) -> None:
        self.class_prior_ = np.bincount(codes) / len(codes)
        options = {"support": self.support, "bins": self.bins, "method": self.method}
        # classes are told apart by place and width
        self.densities_ = [
            [density(values[codes == c, j], noise, **options, place_only=True) for j, noise in enumerate(self.noises)]
            for c in range(len(self.classes_))
        ]

    def _logs(self, values: Array) -> Array:
        logs = np.tile(np.log(self.class_prior_), (len(values), 1))
        for j, by_class in enumerate(zip(*self.densities_, strict=True)):
            ends = [edge for one in by_class for edge in (one.edges[0], one.edges[-1])]
            least = _LEAST_DENSITY / (max(ends) - min(ends))
            for i, one in enumerate(by_class):
                logs[:, i] += np.log(np.maximum(one.pdf(values[:, j]), least))
        return logs
