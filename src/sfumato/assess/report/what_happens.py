"""What a channel does to a true value, in a sentence or two for a reader who is no statistician."""

from __future__ import annotations

from sfumato.assess.changes import changes
from sfumato.assess.report.facts import Unit
from sfumato.assess.report.sentences import at_most, percent
from sfumato.channels.average import Average
from sfumato.channels.cells import Cells, of_one
from sfumato.channels.hyperplanes import Hyperplanes
from sfumato.channels.itemset import Mask
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.pram import Blocks
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.ratios import as_float
from sfumato.channels.response import Symmetric
from sfumato.channels.select_a_size import SelectASize
from sfumato.channels.subset import Subset
from sfumato.channels.valid import ValidSymmetric
from sfumato.channels.windows import Windows


def what_happens(unit: Unit) -> str:
    """What the channel does to a true value, in one sentence."""
    channel = unit.channel
    if channel.k == 1:
        return "There is only one possible value, so nothing can be disclosed."
    if unit.identity:
        return "The true value is passed on unchanged."
    if isinstance(channel, Symmetric | ValidSymmetric):
        changed = percent(channel.p)
        if len(unit.names) > 1:
            kind = "possible combinations" if isinstance(channel, ValidSymmetric) else "combinations of values"
            return (
                f"The {len(unit.names)} attributes are treated as one: in {changed} of the records the whole "
                f"combination is replaced by another of the {kind}, drawn at random."
            )
        by = "the other one" if channel.k == 2 else "one of the others, drawn at random"
        return f"In {changed} of the records the true value is replaced by {by}."
    values = "combinations" if isinstance(channel, Cells) else "values"
    channel = of_one(channel)
    if isinstance(channel, Subset | Hyperplanes):
        if isinstance(channel, Hyperplanes):
            size, inside = round(channel.k * channel.space.through_one / channel.m), channel.inside
        else:
            size = round(float(channel.membership.sum(axis=0).mean()))  # those of a projective design differ
            inside = float(channel.matrix[0] @ channel.membership[0])
        return (
            f"Not a value but a set of about {size:,} of the {channel.k:,} {values} is reported; it holds the true one "
            f"in {percent(inside)} of the records, and nobody can tell in which."
        )
    if isinstance(channel, Prefixes):
        return (
            "One question is drawn for each person: about the first letters of the text, or about the whole of it. "
            "Reported is a set of many beginnings, or of many texts; whether it holds the true one is left to chance."
        )
    if isinstance(channel, Windows):
        told = (
            "Not a value but a stretch of neighbouring values is reported, sometimes narrow, sometimes wide; whether "
            "it holds the true value is left to chance."
        )
        return told + (" “No answer” may be reported too, true or not." if channel.nullable else "")
    if isinstance(channel, Average):
        told = (
            "Not a value but a score is reported, drawn so that many scores have the mean of the values; "
            "one score tells little."
        )
        return told + (" “No answer” may be reported too, true or not." if channel.nullable else "")
    if isinstance(channel, Longitudinal):
        shown = changes(channel)
        return (
            f"A public hash function of each person puts the value into one of {channel.classes} classes. Under the "
            f"owner's key each class is answered once and for ever, and hidden behind a fresh draw in every round: all "
            f"rounds together shift the odds about the values by at most {at_most(as_float(channel.lifetime))} times. "
            f"At most {percent(shown.ever)} of the changes of a value can ever be seen."
        )
    if isinstance(channel, Mask):
        return f"Every item's presence is flipped in {percent(channel.p)} of the records, each on its own."
    if isinstance(channel, SelectASize):
        return "Some of a record's items are kept, the others dropped, and items that were not there are added."
    if isinstance(channel, Blocks):
        return (
            f"The values form {len(channel.channels)} groups and are exchanged at random within their own group only."
        )
    kept = [float(channel.matrix[x, x]) for x in range(channel.k)] if channel.k == channel.m else []
    if kept and channel.k * channel.m <= 1 << 16:
        low, high = percent(min(kept)), percent(max(kept))
        often = low if low == high else f"{low} to {high}"
        return (
            f"The true value is reported in {often} of the records, otherwise another one, by a fixed table of chances."
        )
    return "The answer is drawn from a fixed table of chances that depends on the true value."
