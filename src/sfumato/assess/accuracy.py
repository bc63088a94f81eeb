"""What accuracy is left, under one roof: ``sfumato.accuracy``."""

from __future__ import annotations

from sfumato.assess.distances import (
    anderson_darling,
    conditional_kl,
    information_loss,
    kl,
    kolmogorov,
    kuiper,
    total_variation,
)
from sfumato.assess.evasive import Evasive, evasive
from sfumato.assess.goodness_of_fit import GoodnessOfFit, goodness_of_fit
from sfumato.assess.odds_ratio import OddsRatio, odds_ratio, odds_ratio_spread
from sfumato.assess.poisoned_ratio import MovedMeans, poisoned_mean
from sfumato.assess.poisoned_regression import poisoned_coefficients
from sfumato.assess.poisoning import Poisoning, poisoning
from sfumato.assess.precision import half_width, worst_half_width
from sfumato.assess.resampling import Deterioration, dapl, dapl_lower, deterioration, scott_bandwidth
from sfumato.assess.robust import RobustShares, robust

__all__ = [
    "Deterioration",
    "Evasive",
    "GoodnessOfFit",
    "MovedMeans",
    "OddsRatio",
    "Poisoning",
    "RobustShares",
    "anderson_darling",
    "conditional_kl",
    "dapl",
    "dapl_lower",
    "deterioration",
    "evasive",
    "goodness_of_fit",
    "half_width",
    "information_loss",
    "kl",
    "kolmogorov",
    "kuiper",
    "odds_ratio",
    "odds_ratio_spread",
    "poisoned_coefficients",
    "poisoned_mean",
    "poisoning",
    "robust",
    "scott_bandwidth",
    "total_variation",
    "worst_half_width",
]
