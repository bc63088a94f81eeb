"""Choose channels under a bound, and see what each choice costs."""

from sfumato.design.candidates import Candidate, candidates
from sfumato.design.choose import Choice, Design, design
from sfumato.design.rounds import RoundsDesign, design_rounds
from sfumato.design.tradeoff import Tradeoff, tradeoff

__all__ = [
    "Candidate",
    "Choice",
    "Design",
    "RoundsDesign",
    "Tradeoff",
    "candidates",
    "design",
    "design_rounds",
    "tradeoff",
]
