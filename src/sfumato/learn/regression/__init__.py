"""Regression with response and covariates randomized: coefficients with standard errors."""

from sfumato.learn.regression.families import family_of
from sfumato.learn.regression.model import Regression as Regression

__all__ = ["Regression", "family_of"]
