"""Bayesian networks from randomized data."""

from sfumato.learn.bayesnet.network import BayesianNetwork, Edge
from sfumato.learn.bayesnet.parameters import CPT

__all__ = ["CPT", "BayesianNetwork", "Edge"]
