"""Bayesian networks from randomized data."""

from sfumato.learn.bayesnet.edges import Edge
from sfumato.learn.bayesnet.network import BayesianNetwork
from sfumato.learn.bayesnet.parameters import CPT

__all__ = ["CPT", "BayesianNetwork", "Edge"]
