"""Zhang, Zhao and Chen (2004): the effective sample size, and privacy as a game."""

from sfumato.papers.zhang04 import bound, example1, intrusion

FIGURES = (bound.THEOREM1, bound.FOOTNOTE, example1.EXAMPLE1, intrusion.THEOREM2)
