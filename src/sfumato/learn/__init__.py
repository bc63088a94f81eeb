"""From evidence to models."""

from sfumato.learn.bayesnet import BayesianNetwork

__all__ = ["BayesianNetwork"]
