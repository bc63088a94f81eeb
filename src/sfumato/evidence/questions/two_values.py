"""The mean of an attribute of two values: where the share of the greater lies between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.questions.forms import Shares


@dataclass(frozen=True, eq=False)
class MeanOfTwo:
    """Limits are those of the share: few answers tell it as little."""

    share: Shares
    least: float
    width: float

    by_limits = False

    @property
    def low(self) -> Array:
        return self.least + self.width * self.share.low

    @property
    def high(self) -> Array:
        return self.least + self.width * self.share.high

    def value(self, S: Array) -> Array:
        return self.least + self.width * self.share.value(S)

    def jacobian(self, S: Array) -> Array:
        return self.width * self.share.jacobian(S)

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        low, high = self.share.limits(S, C, z)
        return self.least + self.width * low, self.least + self.width * high

    def records(self, S: Array) -> Array:
        return self.share.records(S)

    def of_population(self, people: float, squares: Array | None) -> Self:
        return replace(self, share=self.share.of_population(people, squares))

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        return self.share.unseen(S, (low - self.least) / self.width, (high - self.least) / self.width)
