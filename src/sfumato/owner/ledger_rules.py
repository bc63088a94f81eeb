"""What the owner's ledger refuses, and what it tells of."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.arrays import Words
from sfumato.channels.longitudinal import Longitudinal
from sfumato.channels.ratios import Ratio, as_float
from sfumato.channels.response import Symmetric
from sfumato.errors import DisclosureWarning, ReleaseError, warn
from sfumato.forms import Forms
from sfumato.owner.composition import GivenAnswer, Total
from sfumato.owner.ledger_file import Entry
from sfumato.owner.ledger_people import PeopleBlock
from sfumato.question import question
from sfumato.scheme import Scheme


@dataclass(frozen=True)
class AskedAttribute:
    """One attribute of a scheme that is about to be released."""

    name: str
    question: str
    gamma: Ratio
    plain: bool
    domain: str
    form: int | None = None  # the form that asks it, where each person answers one of several
    rounds: bool = False  # whether its channel is made for values that change

    def answer(self, key: str | None, block: PeopleBlock, truth: Words | None) -> GivenAnswer:
        """The answer that those of a block who are asked would give."""
        token = self.question if self.plain else (self.question, key)  # without a key: of this release alone
        return GivenAnswer(as_float(self.gamma), token, block.asked(self.form), truth)


def asked_by(scheme: Scheme | Forms, keyed: bool) -> list[AskedAttribute]:
    """The attributes of a scheme, or of each form, as the ledger knows them.

    A longitudinal channel keeps its answer to a class under a key: booked at once is all that it can ever come to.
    """
    if isinstance(scheme, Forms):
        return [replace(one, form=i) for i, form in enumerate(scheme.forms) for one in asked_by(form, keyed)]
    out: list[AskedAttribute] = []
    for group in scheme.groups:
        asked, channel = question(scheme, group.names).hex(), group.channel
        plain = isinstance(channel, Symmetric) and channel.other == 0
        kept = channel.permanent if isinstance(channel, Longitudinal) and keyed else channel
        out += [
            AskedAttribute(name, asked, kept.exact_gamma, plain, _domain(scheme, name), rounds=kept is not channel)
            for name in group.names
        ]
    return out


def _domain(scheme: Scheme, name: str) -> str:
    text = json.dumps(scheme.schema[name].meaning(), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Names:
    """Earlier answers by attribute: Age and age are one, and so are names that were said to be the same."""

    def __init__(self, entries: Sequence[Entry], aliases: dict[str, str]) -> None:
        self._entries = entries
        self._aliases = {folded(name): folded(attribute) for name, attribute in aliases.items()}
        self._by_name: dict[str, list[Entry]] = {}
        for entry in entries:
            self._by_name.setdefault(self.first(entry.attribute), []).append(entry)

    def first(self, name: str) -> str:
        """The name that stands for all names of an attribute."""
        found, met = folded(name), set[str]()
        while found in self._aliases and found not in met:  # a name may have changed several times
            met.add(found)
            found = self._aliases[found]
        return min(met) if found in met else found  # names that were said to be each other

    def of(self, name: str) -> list[Entry]:
        """What was released of an attribute."""
        return self._by_name.get(self.first(name), [])

    def releases(self, name: str) -> int:
        """How many independent releases of an attribute there were."""
        return len({e.token if e.form is None else e.key or e.release for e in self.of(name)})

    def repeated_under_a_key(self, name: str) -> bool:
        """Whether an attribute was released several times with one question and key."""
        tokens = [entry.token for entry in self.of(name) if entry.key and not entry.plain]
        return len(set(tokens)) < len(tokens)

    def alike(self, names: Sequence[str]) -> list[list[int]]:
        """For each of these attributes the places of the others that are the same one to the ledger."""
        known = [self.first(name) for name in names]
        places: dict[str, list[int]] = {}
        for i, name in enumerate(known):
            places.setdefault(name, []).append(i)
        return [[j for j in places[name] if j != i] for i, name in enumerate(known)]

    def renamed(self, asked: Sequence[AskedAttribute]) -> tuple[str, str] | None:
        """An attribute that is new, and one it may be: of the same values, released before, and now missing."""
        here = {self.first(one.name) for one in asked}
        for one in asked:
            if not self.of(one.name):
                for entry in self._entries:
                    if entry.domain == one.domain and self.first(entry.attribute) not in here:
                        return one.name, entry.attribute
        return None


def folded(name: str) -> str:
    """A name without case, spacing and punctuation, unless nothing is left of it."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in text if letter.isalnum()) or text


@dataclass
class Composed:
    """What one attribute's answers would add up to, over all blocks of people."""

    asked: AskedAttribute
    releases: int  # how many independent ones there were before
    worst: float = 1.0
    raised: float = 1.0  # the worst among the people for whom it grows
    repeated: int = 0
    changed: int = 0
    met: int = 0  # how often somebody asked now was asked before
    known: bool = False

    def add(self, found: Total, block: PeopleBlock, earlier: Sequence[GivenAnswer]) -> None:
        self.met += sum(int(answer.who.sum()) for answer in earlier)
        self.repeated += int((found.repeated & ~found.changed).sum())
        self.changed += int(found.changed.sum())
        self.known = block.known

    def reaches(self, gamma: float, raised: float) -> None:
        self.worst, self.raised = max(self.worst, gamma), max(self.raised, raised)

    def join(self, other: Composed) -> None:
        """Add what another form asks of the same attribute."""
        self.reaches(other.worst, other.raised)
        self.known = self.known or other.known
        self.repeated, self.changed, self.met = (
            self.repeated + other.repeated, self.changed + other.changed, self.met + other.met,
        )  # fmt: skip

    def refusal(self, others: int, free: bool) -> str:
        more = "" if not others else f" (and {others} other attribute{'' if others == 1 else 's'})"
        whom = f" of {self.repeated:,} of these people" if self.known else ""
        again = "release it with the same key, ids and scheme (free), or " if free else ""
        return (
            f"attribute {self.asked.name!r}{more} was already released {_times(self.releases)}{whom}: a fresh "
            f"answer can raise its gamma to {shown(self.worst)}; {again}ask for it with again=True"
        )


def by_attribute(found: Sequence[Composed]) -> list[Composed]:
    """What was found, once for each attribute, whatever forms ask it."""
    out: dict[str, Composed] = {}
    for finding in found:
        if finding.asked.name in out:
            out[finding.asked.name].join(finding)
        else:
            out[finding.asked.name] = finding
    return list(out.values())


def judge(found: Sequence[Composed], again: bool, limit: float, keyed_before: bool) -> list[str]:
    """Refuse second fresh answers that nobody asked for, and whatever goes past the limit; say whose values changed."""
    past = max(found, key=lambda finding: finding.raised)
    if past.raised > limit:
        raise ReleaseError(
            f"attribute {past.asked.name!r}: the answers of one person would add up to a gamma of "
            f"{shown(past.raised)}, past the limit of {shown(limit)} that was set for this ledger"
        )
    repeats = [finding for finding in found if finding.repeated]
    if repeats and not again:
        worst = max(repeats, key=lambda finding: finding.worst)
        raise ReleaseError(worst.refusal(len(repeats) - 1, keyed_before))
    changed = [finding for finding in found if finding.changed and not finding.asked.rounds]
    return [
        f"attribute {one.asked.name!r}: {one.changed:,} of these people have another value than when they were last "
        f"asked; theirs are new answers, and raise gamma to {shown(one.worst)}"
        for one in sorted(changed, key=lambda finding: -finding.changed)[:1]
    ]


def tell(line: str) -> None:
    warn(line, DisclosureWarning, stacklevel=6)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"


def shown(gamma: Ratio) -> str:
    """gamma in a message.

    >>> shown(9.5), shown(10000.0), shown(2476099.3)
    ('9.5', '10,000', '2,476,099')
    """
    number = as_float(gamma)
    return "infinity" if number == math.inf else f"{number:,.0f}" if 1e6 <= number < 1e15 else f"{number:,.6g}"
