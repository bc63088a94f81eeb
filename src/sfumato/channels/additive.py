"""Additive noise: z = x + y with y drawn from a public density, as in Agrawal and Aggarwal (2001), AA01.

Continuous noise added in double precision is **not differentially private**: the spacing of doubles betrays the input
(two thirds of naive Laplace outputs at x = 0 cannot come from x = 1). It is here for the papers' own comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels.additive_given import Frozen, Tabulated, empirical, from_scipy, named, tabulated
from sfumato.channels.noise import TIE, Closed, Noise
from sfumato.errors import ChannelError


@dataclass(frozen=True, eq=False)
class Uniform(Closed):
    r"""Uniform noise on [-a, a]: F(t) = (t + a) / 2a, G(t) = (t + a)^2 / 4a inside. AA01 section 5.

    >>> uniform(1).pdf([0.0, 1.0, 1.5])
    array([0.5 , 0.25, 0.  ])
    """

    half_width: float
    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        _positive("half_width", self.half_width)

    def cdf(self, x: ArrayLike) -> Array:
        return np.clip((np.asarray(x, dtype=np.float64) / self.half_width + 1) / 2, 0.0, 1.0)

    def pdf(self, x: ArrayLike) -> Array:
        t = np.abs(np.asarray(x, dtype=np.float64)) / self.half_width
        inside = np.where(t < 1, 1.0, 0.0)
        return np.where(np.abs(t - 1) <= TIE, 0.5, inside) / (2 * self.half_width)

    def quantile(self, u: ArrayLike) -> Array:
        return self.half_width * (2 * np.asarray(u, dtype=np.float64) - 1)

    @property
    def support(self) -> tuple[float, float]:
        return (-self.half_width, self.half_width)

    @property
    def sd(self) -> float:
        return self.half_width / math.sqrt(3)

    def moment(self, power: int) -> float:
        return 0.0 if power % 2 else self.half_width**power / (power + 1)

    def _cdf_integral(self, t: Array) -> Array:
        a = self.half_width
        return np.where(t >= a, t, np.square(np.clip(t, -a, a) + a) / (4 * a))

    def parameters(self) -> dict[str, Any]:
        return {"half_width": self.half_width}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Uniform:
        return uniform(parameters["half_width"])


@dataclass(frozen=True, eq=False)
class Gaussian(Closed):
    r"""Normal noise with mean 0: G(t) = t Phi(t / s) + s phi(t / s). AA01 section 5."""

    std: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        _positive("sd", self.std)

    def cdf(self, x: ArrayLike) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr(np.asarray(x, dtype=np.float64) / self.std), dtype=np.float64)

    def pdf(self, x: ArrayLike) -> Array:
        u = np.asarray(x, dtype=np.float64) / self.std
        return np.exp(-u * u / 2) / (self.std * math.sqrt(2 * math.pi))

    def quantile(self, u: ArrayLike) -> Array:
        from scipy.special import ndtri

        return np.asarray(self.std * ndtri(np.asarray(u, dtype=np.float64)), dtype=np.float64)

    @property
    def sd(self) -> float:
        return self.std

    def moment(self, power: int) -> float:
        return 0.0 if power % 2 else self.std**power * math.prod(range(power - 1, 0, -2))

    def _cdf_integral(self, t: Array) -> Array:
        return t * self.cdf(t) + self.std**2 * self.pdf(t)

    def parameters(self) -> dict[str, Any]:
        return {"sd": self.std}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Gaussian:
        return gaussian(parameters["sd"])


@dataclass(frozen=True, eq=False)
class Laplace(Closed):
    r"""Double-exponential noise of scale b: F(t) = e^{t/b} / 2 for t < 0, G(t) = max(t, 0) + b e^{-|t|/b} / 2."""

    scale: float
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        _positive("scale", self.scale)

    def cdf(self, x: ArrayLike) -> Array:
        t = np.asarray(x, dtype=np.float64) / self.scale
        tail = np.exp(-np.abs(t)) / 2
        return np.where(t < 0, tail, 1 - tail)

    def pdf(self, x: ArrayLike) -> Array:
        return np.exp(-np.abs(np.asarray(x, dtype=np.float64)) / self.scale) / (2 * self.scale)

    def quantile(self, u: ArrayLike) -> Array:
        q = np.asarray(u, dtype=np.float64)
        centred = q - 0.5
        with np.errstate(divide="ignore"):  # at 0 and 1 it is infinite
            return np.asarray(-self.scale * np.sign(centred) * np.log1p(-2 * np.abs(centred)))

    @property
    def sd(self) -> float:
        return self.scale * math.sqrt(2)

    def moment(self, power: int) -> float:
        return 0.0 if power % 2 else self.scale**power * math.factorial(power)

    def _cdf_integral(self, t: Array) -> Array:
        return np.maximum(t, 0.0) + self.scale / 2 * np.exp(-np.abs(t) / self.scale)

    def parameters(self) -> dict[str, Any]:
        return {"scale": self.scale}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Laplace:
        return laplace(parameters["scale"])


def uniform(half_width: float) -> Uniform:
    """Noise uniform on [-half_width, half_width]."""
    return Uniform(_number("half_width", half_width))


def gaussian(sd: float) -> Gaussian:
    """Normal noise with standard deviation sd."""
    return Gaussian(_number("sd", sd))


def laplace(scale: float) -> Laplace:
    """Double-exponential noise; its standard deviation is scale times the square root of 2."""
    return Laplace(_number("scale", scale))


def parse_noise(text: str) -> Noise:
    """Noise from its command-line form: uniform:1, gaussian:0.5, laplace:2, or scipy.NAME:arg,arg.

    >>> parse_noise("uniform:1")
    Uniform(half_width=1.0)
    """
    name, _, rest = text.strip().partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise ChannelError(f"noise must look like uniform:1, got {text!r}: {rest!r} is no number") from None
    plain = {"uniform": uniform, "gaussian": gaussian, "normal": gaussian, "laplace": laplace}
    if name in plain:
        if len(numbers) != 1:
            raise ChannelError(f"{name} noise takes one number, as in {name}:1, got {text!r}")
        return plain[name](numbers[0])
    if name.startswith("scipy."):
        return named(name.removeprefix("scipy."), numbers, {})
    raise ChannelError(f"noise must be uniform:, gaussian:, laplace: or scipy.NAME: with numbers, got {text!r}")


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ChannelError(f"{name} must be a positive number, got {value!r}") from None


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ChannelError(f"{name} must be positive and finite, got {value}")


__all__ = [
    "Frozen",
    "Gaussian",
    "Laplace",
    "Noise",
    "Tabulated",
    "Uniform",
    "empirical",
    "from_scipy",
    "gaussian",
    "laplace",
    "parse_noise",
    "tabulated",
    "uniform",
]
