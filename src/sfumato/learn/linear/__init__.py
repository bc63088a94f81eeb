"""Linear classifiers by expected cost (Ma 2006, section 4.2 and chapter 6)."""

from sfumato.learn.linear.additive import AdditiveLDA
from sfumato.learn.linear.classifier import LinearClassifier

__all__ = ["AdditiveLDA", "LinearClassifier"]
