"""What accuracy is left, under one roof: ``sfumato.accuracy``."""

from __future__ import annotations

from sfumato.assess.distances import conditional_kl, information_loss, kl, kolmogorov, total_variation
from sfumato.assess.goodness_of_fit import GoodnessOfFit, goodness_of_fit
from sfumato.assess.odds_ratio import OddsRatio, odds_ratio, odds_ratio_spread
from sfumato.assess.poisoning import Poisoning, poisoning
from sfumato.assess.precision import half_width, worst_half_width
from sfumato.assess.resampling import Deterioration, dapl, dapl_lower, deterioration, scott_bandwidth

__all__ = [
    "Deterioration",
    "GoodnessOfFit",
    "OddsRatio",
    "Poisoning",
    "conditional_kl",
    "dapl",
    "dapl_lower",
    "deterioration",
    "goodness_of_fit",
    "half_width",
    "information_loss",
    "kl",
    "kolmogorov",
    "odds_ratio",
    "odds_ratio_spread",
    "poisoning",
    "scott_bandwidth",
    "total_variation",
    "worst_half_width",
]
