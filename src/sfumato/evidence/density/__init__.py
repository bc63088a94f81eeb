"""Densities from additive noise: `density` and its result, `Density`."""

from sfumato.evidence.density.deconvolution import density
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.stopping import Stop

__all__ = ["Density", "Stop", "density"]
