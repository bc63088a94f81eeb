"""The ratio of two estimated counts: its standard deviation, its limits and its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array


def delta_variance(top: ArrayLike, bottom: ArrayLike, v11: ArrayLike, v12: ArrayLike, v22: ArrayLike) -> Array:
    r"""The variance of top / bottom to first order.

        Var(X₁ / X₂) ≈ (σ₁² - 2 w σ₁₂ + w² σ₂²) / μ₂²,        w = μ₁ / μ₂

    Ma (2006) section 5.4 prints μ₁² in the denominator for μ₂².

    >>> float(delta_variance(1.0, 2.0, 0.04, 0.0, 0.0))
    0.01
    """
    top, bottom = np.asarray(top, dtype=np.float64), np.asarray(bottom, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        w = top / bottom
        spread = np.asarray(v11) - 2 * w * np.asarray(v12) + w**2 * np.asarray(v22)
        return np.asarray(np.maximum(spread, 0.0) / bottom**2)


def fieller(
    top: ArrayLike, bottom: ArrayLike, v11: ArrayLike, v12: ArrayLike, v22: ArrayLike, level: float = 0.95
) -> tuple[Array, Array]:
    r"""Limits for μ₁ / μ₂, infinite where the bottom is not clearly different from zero.

        { w : (X₁ - w X₂)² <= z² (σ₁² - 2 w σ₁₂ + w² σ₂²) }

    Fieller (1954).

    >>> low, high = fieller(50.0, 100.0, 25.0, 0.0, 0.0)
    >>> round(float(low), 4), round(float(high), 4)
    (0.402, 0.598)
    """
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    x, y, s11, s12, s22 = (np.asarray(part, dtype=np.float64) for part in (top, bottom, v11, v12, v22))
    a, b = y**2 - z2 * s22, x * y - z2 * s12
    # b² - (y² - z² σ₂²)(x² - z² σ₁²), written so that it is 0 and not a rounding error where nothing varies
    inside = z2 * (x**2 * s22 - 2 * x * y * s12 + y**2 * s11) - z2**2 * (s11 * s22 - s12**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(inside, 0.0))
        low, high = (b - root) / a, (b + root) / a
    bounded = (a > 0) & (inside >= 0)
    return np.where(bounded, low, -np.inf), np.where(bounded, high, np.inf)


@dataclass(frozen=True)
class Hinkley:
    r"""The distribution of X₁ / X₂ for jointly normal X₁, X₂.

        f(w) = b d / (√(2π) σ₁ σ₂ a³) [2 Φ(b / (√(1-ρ²) a)) - 1] + √(1-ρ²) / (π σ₁ σ₂ a²) exp(-c / (2(1-ρ²)))
        a² = w²/σ₁² - 2ρw/(σ₁σ₂) + 1/σ₂²,    b = μ₁w/σ₁² - ρ(μ₁ + μ₂w)/(σ₁σ₂) + μ₂/σ₂²
        c = μ₁²/σ₁² - 2ρμ₁μ₂/(σ₁σ₂) + μ₂²/σ₂²,    d = exp((b² - c a²) / (2(1-ρ²)a²))

    Hinkley (1969); Ma (2006) section 5.4.1 keeps the first term only (``exact=False``), and misprints c.

    >>> round(float(Hinkley(4000, 8000, 90.0, 60.0, 0.2).pdf(0.5)), 2)
    35.86
    """

    mean1: float
    mean2: float
    sd1: float
    sd2: float
    rho: float

    def pdf(self, w: ArrayLike, exact: bool = True) -> Array:
        """The density at w."""
        from scipy.special import ndtr

        w = np.asarray(w, dtype=np.float64)
        m1, m2, s1, s2, r = self.mean1, self.mean2, self.sd1, self.sd2, self.rho
        a2 = w**2 / s1**2 - 2 * r * w / (s1 * s2) + 1 / s2**2
        b = m1 * w / s1**2 - r * (m1 + m2 * w) / (s1 * s2) + m2 / s2**2
        c = m1**2 / s1**2 - 2 * r * m1 * m2 / (s1 * s2) + m2**2 / s2**2
        rest = 1 - r**2
        first = b * np.exp((b**2 - c * a2) / (2 * rest * a2)) / (np.sqrt(2 * np.pi) * s1 * s2 * a2**1.5)
        if not exact:
            return np.asarray(first)
        first = first * (2 * ndtr(b / np.sqrt(rest * a2)) - 1)
        return np.asarray(first + np.sqrt(rest) / (np.pi * s1 * s2 * a2) * np.exp(-c / (2 * rest)))
