"""Decision trees from randomized data: ID3 as Ma (2006) section 7.2 has it, and grown on the joint model."""

from sfumato.learn.tree.classifier import DecisionTree
from sfumato.learn.tree.grow import Node

__all__ = ["DecisionTree", "Node"]
