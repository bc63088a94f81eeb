"""From evidence to models."""

from sfumato.evidence.splits import hold_out
from sfumato.learn.adapter import FromCells
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.crossfit import cross_score
from sfumato.learn.linear import AdditiveLDA, LinearClassifier
from sfumato.learn.naive_bayes import DensityNaiveBayes, NaiveBayes
from sfumato.learn.regression import Regression
from sfumato.learn.rules import AssociationRules, read_baskets
from sfumato.learn.score import Score
from sfumato.learn.tan import TAN
from sfumato.learn.tree import AdditiveTree, DecisionTree

__all__ = [
    "TAN",
    "AdditiveLDA",
    "AdditiveTree",
    "AssociationRules",
    "BayesianNetwork",
    "DecisionTree",
    "DensityNaiveBayes",
    "FromCells",
    "LinearClassifier",
    "NaiveBayes",
    "Regression",
    "Score",
    "cross_score",
    "hold_out",
    "read_baskets",
]
