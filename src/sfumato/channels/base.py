"""The channel: a public random map P[x, y] = Pr(released y | true x), from which everything else follows."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Codes, Words
from sfumato.channels.codes import check_axes, check_range, join_codes, split_codes
from sfumato.channels.left_inverse import left_inverse
from sfumato.channels.linear import Dense, Operator
from sfumato.channels.lookup import Lookup, code_type
from sfumato.channels.ratios import Ratio, as_float, log
from sfumato.errors import ChannelError, cause
from sfumato.randomness import ONE, Rng, Source, source
from sfumato.schema import Domain

#: The most entries a matrix may have when a caller asks for it in full.
DENSE_LIMIT = 1 << 24
_LUMPING = np.uint64(ONE // 10**12)

#: Every family of channels, by the kind that its documents name.
FAMILIES: dict[str, type[Channel]] = {}


class Channel(ABC):
    r"""A random map from K true values to M released ones; the axes of a joint channel run first-slowest.

        P[x, y] = Pr(released y | true x),     gamma = max over y, x, x' of P[x, y] / P[x', y]

    where gamma is a *column* ratio, infinite where an output rules some input out (Evfimievski et al. 2003). The
    published matrix is ``weights / 2^63``, integers, and gamma is their exact ratio.
    """

    kind: ClassVar[str]
    continuous: ClassVar[bool] = False  # whether values are numbers, and not codes: with a density and no matrix
    memoizes: ClassVar[bool] = False  # whether a part of each answer is kept for all rounds (see ``longitudinal``)
    listed: ClassVar[bool] = True  # whether the true values can be; those of free text cannot

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in vars(cls):
            FAMILIES[cls.kind] = cls

    # What a family of channels must say of itself.

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """How many true values each attribute has."""

    @property
    def outputs(self) -> tuple[int, ...]:
        """How many released values each column has."""
        return self.sizes

    @property
    @abstractmethod
    def weights(self) -> Words:
        """The integer matrix, K by M, each row summing to 2^63."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What ``from_parameters`` needs to build this channel again, as plain JSON."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Channel: ...

    @property
    def releases_values(self) -> bool:
        """Whether a released code stands for a value of the attribute itself, and not for a set of values."""
        return True

    # What follows from the matrix; families with structure answer faster.

    @property
    def k(self) -> int:
        """The number of true values."""
        return prod(self.sizes)

    @property
    def m(self) -> int:
        """The number of released values."""
        return prod(self.outputs)

    @property
    def arity(self) -> int:
        """The number of attributes, known without listing them."""
        return len(self.sizes)

    @property
    def matrix_cells(self) -> int:
        """The entries of the matrices that randomizing and estimating may build."""
        return self.k * self.m

    @property
    def matrix(self) -> Array:
        """P as doubles, K by M."""
        if self.k * self.m > DENSE_LIMIT:
            raise ChannelError(
                f"the matrix would have {self.k} x {self.m} entries; ask for transition.apply() or marginal() instead"
            )
        return np.asarray(self.transition.dense())

    @cached_property
    def transition(self) -> Operator:
        """P as a structured linear map: ``transition.T.apply(theta)`` is the distribution of the released values."""
        return Dense(self.weights / float(ONE))

    @cached_property
    def inverse(self) -> Operator:
        """A with A Pᵀ = I: the weighted left inverse (P W Pᵀ)⁻¹ P W, W = 1 / (released distribution of a uniform x)."""
        if not self.invertible:
            raise ChannelError(f"{self} is not invertible: different inputs give the same output distribution")
        P = self.transition.dense()
        if self.k == self.m:
            return Dense(np.asarray(np.linalg.inv(P.T), dtype=np.float64))
        return Dense(left_inverse(P, P.mean(axis=0)))

    @cached_property
    def invertible(self) -> bool:
        """Whether the true distribution can be recovered from the released one."""
        P = self.transition.dense()
        return self.m >= self.k and int(np.linalg.matrix_rank(P, tol=1e-10)) == self.k

    def exact_gammas(self) -> list[Ratio]:
        """The worst likelihood ratio of each reachable released value, as exact fractions of integers."""
        out: list[Ratio] = []
        for column in self.weights.T:
            low, high = int(column.min()), int(column.max())
            if high:
                out.append(Fraction(high, low) if low else math.inf)
        return out

    @cached_property
    def exact_gamma(self) -> Ratio:
        """gamma as an exact fraction, or inf."""
        return max(self.exact_gammas())

    @property
    def gamma(self) -> float:
        """The worst column ratio of the integer matrix."""
        return as_float(self.exact_gamma)

    @property
    def epsilon(self) -> float:
        """ln gamma: the local differential privacy of one answer."""
        return log(self.exact_gamma)

    def verified(self, gamma: Ratio) -> Self:
        """This channel, once its integer matrix was seen to keep the promised bound."""
        if self.exact_gamma > gamma:
            raise ChannelError(f"{self} exceeds the promised gamma of {as_float(gamma):g}")
        return self

    # Randomizing.

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.weights)

    @property
    def draws(self) -> int:
        """How many 63-bit words one record's answer takes."""
        return 1

    def draw(self, codes: Codes, draws: Words) -> Codes:
        """The released code of each true code under a given 63-bit draw: the exact map that sampling follows."""
        return self._lookup.exact(codes, draws)

    def sample(self, codes: Codes, src: Source) -> Codes:
        """One released code per true code, from the given source of bits."""
        return self._lookup.sample(codes, src)

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        """``draw`` for a code per attribute; ``word(i)`` gives every record's i-th word."""
        return split_codes(self.draw(join_codes(columns, self.sizes), word(0)), self.outputs)

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        """``sample`` for a code per attribute."""
        return split_codes(self.sample(join_codes(columns, self.sizes), src), self.outputs)

    def randomize(self, codes: ArrayLike, rng: Rng = None) -> Codes:
        """Randomize codes; a joint channel takes flat codes, or one column per attribute and returns columns."""
        given = np.asarray(codes)
        if given.dtype.kind not in "iub" or given.ndim not in (1, 2):
            raise ChannelError(f"codes must be whole numbers, got {given.dtype} of shape {given.shape} instead")
        if given.ndim == 2 and given.shape[1] != len(self.sizes):
            raise ChannelError(f"codes must have {len(self.sizes)} columns, got {given.shape[1]} instead")
        columns = list(given.T) if given.ndim == 2 else [given]
        for column, size in zip(columns, self.sizes if given.ndim == 2 else (self.k,), strict=True):
            check_range(column, size)
        if given.ndim == 1:
            columns = split_codes(given.astype(code_type(self.k), copy=False), self.sizes)
        self.check_columns(columns)
        out = self.sample_columns(columns, source(rng))
        return np.column_stack(out) if given.ndim == 2 else join_codes(out, self.outputs)

    def check_columns(self, columns: Sequence[Codes]) -> None:  # noqa: B027
        """Raise if some row is impossible under this channel; none is, unless a family says otherwise."""

    def bind(self, domains: Sequence[Domain]) -> Channel:
        """This channel for these attributes: a joint channel learns its sizes here if it did not know them yet."""
        sizes = tuple(domain.size for domain in domains)
        if len(sizes) != self.arity or sizes != self.sizes:
            raise ChannelError(f"{self} does not fit attributes with {' x '.join(map(str, sizes))} values")
        return self

    # Joint channels.

    def factors(self, names: Sequence[str]) -> list[tuple[tuple[str, ...], Channel]]:
        """Channels that act independently side by side, each with its own of these attributes."""
        return [(tuple(names), self)]

    def columns(self, names: Sequence[str]) -> list[str]:
        """The released columns: the attributes', or others where the output does not split into attributes."""
        if len(self.outputs) == len(names):
            return list(names)
        joined = "+".join(names)
        return [joined] if len(self.outputs) == 1 else [f"{joined}.{i}" for i in range(len(self.outputs))]

    def marginal(self, axes: Sequence[int]) -> Channel:
        """The channel of some of the attributes alone, where there is one (Ma 2006, section 5.3, case d).

        It exists when what happens to the kept attributes does not depend on the values of the dropped ones.
        """
        axes = check_axes(axes, len(self.sizes))
        if axes == tuple(range(len(self.sizes))):
            return self
        if len(self.sizes) != len(self.outputs):
            raise ChannelError(f"{self} has no marginal channel: its output does not split into attributes")
        n = len(self.sizes)
        dropped = [i for i in range(n) if i not in axes]
        tensor = self.weights.reshape(*self.sizes, *self.outputs)
        order = [*axes, *dropped, *(n + i for i in axes), *(n + i for i in dropped)]
        tensor = tensor.transpose(order)
        kept_in = prod(self.sizes[i] for i in axes)
        kept_out = prod(self.outputs[i] for i in axes)
        summed = tensor.reshape(kept_in, -1, kept_out, prod(self.outputs[i] for i in dropped)).sum(axis=3)
        # a matrix given in doubles is lumpable only up to its own rounding
        if (np.maximum(summed, summed[:, :1]) - np.minimum(summed, summed[:, :1])).max() > _LUMPING:
            raise ChannelError(
                f"{self} has no marginal channel on axes {list(axes)}: it depends on the other attributes"
            )
        sizes, outputs = tuple(self.sizes[i] for i in axes), tuple(self.outputs[i] for i in axes)
        found: Any = FAMILIES["matrix"]
        return found(summed[:, 0], sizes, outputs)  # type: ignore[no-any-return]

    # JSON.

    def to_dict(self) -> dict[str, Any]:
        """A plain JSON document that rebuilds this channel exactly."""
        return {"kind": self.kind, **self.parameters()}

    @cached_property
    def _text(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Channel) and (self is other or self._text == other._text)

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return f"{self.kind}({' x '.join(map(str, self.sizes))})"

    def __repr__(self) -> str:
        return str(self)


def from_dict(document: dict[str, Any]) -> Channel:
    """The channel that ``to_dict`` described."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ChannelError(f"unknown kind of channel {kind!r}: this version knows {', '.join(sorted(FAMILIES))}")
    try:
        return FAMILIES[kind].from_parameters(document)
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError, AttributeError, RecursionError) as problem:
        if isinstance(problem, ChannelError):
            raise
        raise ChannelError(f"the description of the {kind} channel is damaged: {cause(problem)}") from None
