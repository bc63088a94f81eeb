"""A scikit-learn transformer that randomizes, for pipelines that end in a learner of this package."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sfumato.errors import SchemeError
from sfumato.owner.randomize import randomize
from sfumato.printable import many
from sfumato.release import Release
from sfumato.scheme import Scheme


class Randomizer:
    """``transform(table)`` gives a release: the table randomized under the scheme.

    In a pipeline the learner after it reads the class from the release, so the table holds the target column too:

        make_pipeline(sf.Randomizer(scheme), sf.learn.DecisionTree(target="income")).fit(table)

    Predicting takes clean rows: ``predict`` on the last step, or build the pipeline with ``passthrough=True``. It then
    randomizes only while it fits (``fit``, ``fit_transform``), and ``transform`` alone hands rows on as they are.
    """

    def __init__(self, scheme: Scheme, rng: Any = None, passthrough: bool = False) -> None:
        self.scheme = scheme
        self.rng = rng
        self.passthrough = passthrough

    def fit(self, table: Any, y: Any = None) -> Self:
        """Nothing is learned: a scheme does not look at the data."""
        if not isinstance(self.scheme, Scheme):
            raise SchemeError(f"scheme must be a Scheme, got {type(self.scheme).__name__} instead")
        self.fitted_ = True
        return self

    def transform(self, table: Any) -> Any:
        """The randomized release; with ``passthrough=True`` the rows as they are, for a model to predict on."""
        return table if self.passthrough else self._release(table)

    def fit_transform(self, table: Any, y: Any = None) -> Release:
        """Randomize the table to learn from."""
        return self.fit(table)._release(table)

    def _release(self, table: Any) -> Release:
        drawn = self.rng if not isinstance(self.rng, int | np.integer) else int(self.rng)
        return randomize(table, self.scheme, rng=drawn)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"scheme": self.scheme, "rng": self.rng, "passthrough": self.passthrough}

    def set_params(self, **parameters: Any) -> Self:
        """Change the constructor's arguments."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise SchemeError(f"Randomizer has no parameter {name!r}; it has {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            classifier_tags=None,
            regressor_tags=None,
            input_tags=InputTags(categorical=True, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    def __repr__(self) -> str:
        return f"Randomizer({many(len(self.scheme.schema), 'attribute')}, gamma={self.scheme.gamma:.4g})"
