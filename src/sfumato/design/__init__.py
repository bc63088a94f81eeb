"""Choose channels under a bound, and see what each choice costs."""

from sfumato.design.candidates import Candidate, candidates
from sfumato.design.choose import Choice, Design, design
from sfumato.design.tradeoff import Tradeoff, tradeoff

__all__ = ["Candidate", "Choice", "Design", "Tradeoff", "candidates", "design", "tradeoff"]
