"""Choose channels under a bound, and see what each choice costs."""

from sfumato.design.candidates import Candidate, candidates
from sfumato.design.choose import Choice, Design, design
from sfumato.design.rounds import RoundsDesign, design_rounds
from sfumato.design.tradeoff import Tradeoff, tradeoff
from sfumato.design.whole_record import RecordDesign, design_record

__all__ = [
    "Candidate",
    "Choice",
    "Design",
    "RecordDesign",
    "RoundsDesign",
    "Tradeoff",
    "candidates",
    "design",
    "design_record",
    "design_rounds",
    "tradeoff",
]
