"""What is said before the work: scales that doubles cannot hold, noise that swamps the data or cannot have made it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sfumato.channels.additive import Noise
from sfumato.errors import EstimationError, UnrecoverableWarning, warn
from sfumato.evidence.density.binning import Sample

SURE = 6.0  # standard errors
LEAST, MOST = 1e-140, 1e140  # squares and their ratios must not leave the doubles


def check_scale(sample: Sample, noise: Noise) -> None:
    """Refuse z and noise so large, small or far from zero that the arithmetic would overflow or lose every digit."""
    largest = max(abs(sample.low), abs(sample.high))
    width = sample.high - sample.low if largest < MOST else math.inf
    if not LEAST <= width <= MOST:
        raise EstimationError(
            f"z must span between {LEAST:g} and {MOST:g}, got {sample.low:g} to {sample.high:g}: change its unit"
        )
    if width < 1e-13 * largest:
        raise EstimationError(
            f"z must vary by more than its rounding, got {width:g} at {largest:g}: subtract a constant"
        )
    spread = float(noise.quantile(0.75)) - float(noise.quantile(0.25))
    if not spread <= MOST:
        raise EstimationError(f"the noise must be narrower than {MOST:g}, got {spread:g}: change the unit")


def unrounded(sample: Sample, noise: Noise) -> Sample:
    """The sample as it stands when its lattice is wider than the noise: rounding cannot have made that.

    Cells of the lattice would spread z over widths at which this noise says nothing.
    """
    scale = noise.sd if math.isfinite(noise.sd) else float(noise.quantile(0.75)) - float(noise.quantile(0.25))
    if sample.step <= scale:
        return sample
    warn(
        f"z lies on a lattice of step {sample.step:.4g}, wider than the noise ({scale:.4g}): taken as exact values, "
        "though continuous noise cannot have made them",
        UnrecoverableWarning,
        stacklevel=3,
    )
    return replace(sample, step=0.0)


def warn_if_hopeless(sample: Sample, noise: Noise, support: tuple[float, float] | None) -> bool:
    """Warn when the noise swamps the data: Var x = Var z - Var y, for its shape N (Var x / Var z)^2 values count.

    Noise of infinite variance is measured by the shortest interval that holds half of it. Returns whether it warned.
    """
    finite = math.isfinite(noise.sd)
    if finite:
        scale, (_, square) = noise.sd, sample.moments()
        wide = support is not None and math.sqrt(3) * scale > support[1] - support[0]
    else:
        scale, square = _noise_half(noise), _sample_half(sample) ** 2
        wide = support is not None and scale > support[1] - support[0]
    signal = max(square - scale**2, 0.0)
    if not (wide or signal < scale**2 / 9):
        return False
    if finite and square < scale**2 * (1 - SURE * math.sqrt((_kurtosis(noise) - 1) / sample.n)):
        line = (
            f"this noise cannot have made this z: its sd is {scale:.4g}, that of z only {math.sqrt(square):.4g}; "
            "check the noise, the estimate means nothing"
        )
    else:
        name = "sd" if finite else "half of it within"
        line = (
            f"the noise ({name} {scale:.4g}) is wider than the data's whole range "
            f"({name} about {math.sqrt(signal):.2g}): little more than the mean is recoverable; "
            f"{sample.n} values weigh like {sample.n * (signal / square) ** 2:.1f} for the shape"
        )
    warn(line, UnrecoverableWarning, stacklevel=3)
    return True


def _kurtosis(noise: Noise) -> float:
    y = np.asarray(noise.quantile((np.arange(4000) + 0.5) / 4000))
    y = y - y.mean()
    return float((y**4).mean() / (y**2).mean() ** 2)


def _noise_half(noise: Noise) -> float:
    start = np.linspace(0.001, 0.499, 250)
    return float(np.min(noise.quantile(start + 0.5) - noise.quantile(start)))


def _sample_half(sample: Sample) -> float:
    return min(sample.quantile(q + 0.5) - sample.quantile(q) for q in np.linspace(0.001, 0.499, 250))
