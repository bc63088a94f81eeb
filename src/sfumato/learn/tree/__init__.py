"""Decision trees from randomized data: ID3 as Ma (2006) has it, grown on the joint model, and under additive noise."""

from sfumato.learn.tree.additive import AdditiveTree
from sfumato.learn.tree.classifier import DecisionTree
from sfumato.learn.tree.grow import Node

__all__ = ["AdditiveTree", "DecisionTree", "Node"]
