"""Columns of numbers, typed or written: whole numbers from a short list stay as they are, others go into bins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from shlex import quote

from sfumato.columns.bin_edges import edges_between, nice_edges, robust_limits, step_of
from sfumato.columns.bins_suit import crowded, ends_too_early, on_one_side
from sfumato.columns.codes import coded, look_like_codes
from sfumato.columns.id_names import MANY_IDS, may_name_things, named_like_codes
from sfumato.columns.months import as_months, look_like_months
from sfumato.columns.spellings import NOTHING, UNKNOWN
from sfumato.columns.value_counts import Cells
from sfumato.columns.verdict import RARE, Verdict, option, rare_values, rows_of, rows_that
from sfumato.domains import Numeric, Ordinal
from sfumato.reading.csv_numbers import CURRENCIES

_WRITTEN = re.compile(
    rf"(?P<sign>[-+](?=[{CURRENCIES}]|[A-Z]{{3}}\s))?(?P<before>[{CURRENCIES}]|[A-Z]{{3}}\s)?\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
    rf"(?P<after>%|‰|[{CURRENCIES}]|(?:°|[^\W\d_])[\w/²³µ°.]{{0,8}})?"
)
_LIMITED = re.compile(r"[<>]=?\s*[-+]?\d+(?:\.\d+)?.*|(\d+)\s*(?:\+|-\s*(\d+))")  # <5, 90+, 20-29
#: A column is numbers, or dates, if this share of its rows are; the rest must be few words for "no answer".
MOSTLY = 0.8
LARGEST = 1e150  # beyond it squares overflow
MOST_WORDS = 5
#: So few different fractions are a list, if each is in many rows.
FEW = 12


@dataclass(frozen=True)
class Wanted:
    """What was asked for: bins, a range, edges, points of one column."""

    bins: int = 20
    range: tuple[float, float] | None = None
    edges: tuple[float, ...] | None = None
    points: int | None = None

    @property
    def asked(self) -> bool:
        return self.range is not None or self.edges is not None or self.points is not None

    def holds(self, number: float) -> bool:
        """Whether a number was asked for as a value: it lies within the given limits."""
        if self.range is None and self.edges is None:
            return self.points is not None
        low, *_, high = self.range or self.edges or (0.0, 0.0)
        return low <= number <= high


@dataclass(frozen=True)
class Written:
    """Text read as numbers: the numbers, the unit beside them, and the words among them."""

    numbers: Counter[float]
    units: Counter[str]
    words: Counter[str]
    limited: int  # rows such as <5 or 90+

    @property
    def share(self) -> float:
        """The part of the rows that are numbers, words for no answer aside."""
        read = sum(self.numbers.values())
        strange = sum(times for word, times in self.words.items() if word.lower() not in NOTHING | UNKNOWN)
        mostly = read > 0.3 * (read + sum(self.words.values()))
        return read / max(read + strange, 1) if mostly else 0.0


def read_numbers(counts: Counter[str]) -> Written:
    """The numbers in a column of text.

    >>> read_numbers(Counter(["12 mg", "7 mg", "-"])).units
    Counter({'mg': 2})
    """
    numbers: Counter[float] = Counter()
    units: Counter[str] = Counter()
    words: Counter[str] = Counter()
    limited = 0
    for text, times in counts.items():
        found = _WRITTEN.fullmatch(text)
        if found is None or (found["before"] and found["after"]):
            words[text] += times
            limited += times * _is_limit(text)
            continue
        value = _value(found)
        numbers[int(value) if value.is_integer() and abs(value) < 2**63 else value] += times
        units[(found["before"] or found["after"] or "").strip()] += times
    return Written(numbers, units, words, limited)


def _value(found: re.Match[str]) -> float:
    """The number of a text such as -$5, whose sign may stand before the currency."""
    return float((found["sign"] or "") + found["number"])


def _is_limit(text: str) -> bool:
    """Whether a text is a limit or a range; 98108-1234 is none."""
    found = _LIMITED.fullmatch(text)
    return found is not None and (not found[2] or float(found[1]) < float(found[2]))


def are_codes(written: Written) -> bool:
    """Whether numbers are only names: all of one length, some with a hyphen and more digits, as postal codes."""
    lengths = {len(str(value)) for value in written.numbers}
    longer = sum(re.fullmatch(r"\d{3,}-\d+", word) is not None and not _is_limit(word) for word in written.words)
    return len(lengths) == 1 and min(lengths) >= 4 and longer > MOST_WORDS


def judge_written(cells: Cells, written: Written, wanted: Wanted) -> Verdict:
    """The verdict on text that is mostly numbers."""
    problems = []
    if len(written.words) > MOST_WORDS:
        rows = rows_that(sum(written.words.values()), "hold")
        more = f", {rows_of(written.limited)} as limits such as <5 or 90+" if written.limited else ""
        return Verdict(
            cells.name, "unreadable", f"mostly numbers, but {rows} {len(written.words)} different words{more}",
            problems=("turn the words into numbers or blanks, or write its domain by hand",),
        )  # fmt: skip
    unit = written.units.most_common(1)[0][0]
    if len(written.units) > 1:
        return Verdict(
            cells.name, "unreadable", f"numbers in {len(written.units)} different units, or with and without one",
            problems=("convert them to one unit first",),
        )  # fmt: skip
    if written.words:
        rows = rows_that(sum(written.words.values()), "hold")
        limits = "; some are limits such as <5, which are lost by it" if written.limited else ""
        problems.append(f"{rows} {_words(len(written.words))} instead of numbers, taken for no answer{limits}")
    if unit and not wanted.asked and len(written.numbers) <= wanted.bins and not cells.overflowing:
        few = _listed_with_unit(cells, written, unit, problems)
        if few is not None:
            return few
    return judge_numbers(cells, written.numbers, wanted, unit or None, sorted(written.words), problems)


def _listed_with_unit(cells: Cells, written: Written, unit: str, problems: Sequence[str]) -> Verdict | None:
    """Few whole numbers with a unit beside them, such as the doses of a drug: a list, each with its spellings."""
    if not all(isinstance(value, int) for value in written.numbers):
        return None
    spellings = {}
    for text in cells.counts:
        found = _WRITTEN.fullmatch(text)
        if found is not None and text not in written.words:
            spellings[text] = int(_value(found))
    values, words = tuple(sorted(written.numbers)), tuple(sorted(written.words))
    rare = rare_values(written.numbers) if written.numbers.total() >= 10 * RARE else []
    domain = Ordinal(values, bool(cells.blank or words), missing=words, spellings=spellings)
    why = f"{len(values)} different whole numbers, written with the unit {unit}"
    return Verdict(cells.name, "ordinal", why, f"the {len(values)} numbers", domain, (*problems, *rare))


def judge_numbers(
    cells: Cells,
    numbers: Counter[float],
    wanted: Wanted,
    unit: str | None = None,
    missing: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Verdict:
    """The verdict on numbers."""
    if not all(abs(value) < LARGEST for value in numbers):
        why = f"some of its numbers lie beyond {LARGEST:g}, or are none"
        return Verdict(cells.name, "unreadable", why, problems=("rescale them, or turn them into blanks",))
    said = list(problems)
    codes = () if cells.overflowing else tuple(code for code in coded(numbers) if not wanted.holds(code))
    if codes:
        numbers = Counter({value: times for value, times in numbers.items() if value not in codes})
        what, move = ("numbers look", "them") if len(codes) > 1 else ("number looks", "it")
        said.append(f"{len(codes)} {what} like a code for no answer: see missing; move {move} to the values if not")
    missing = [*missing, *(str(code) for code in codes)]
    nullable = bool(cells.blank or missing)
    whole = all(isinstance(value, int) for value in numbers)
    rare = rare_values(numbers) if numbers.total() >= 10 * RARE else []
    if whole and len(numbers) <= wanted.bins and not cells.overflowing and not wanted.asked and unit is None:
        values = tuple(sorted(numbers))
        if cells.kind == "text" and look_like_months(values):
            said.append(as_months(values))
        domain = Ordinal(values, nullable, missing=tuple(missing))
        why = f"{len(values)} different whole numbers"
        return Verdict(cells.name, "ordinal", why, f"the {len(values)} numbers", domain, (*said, *rare))
    if len(numbers) <= FEW and sum(numbers.values()) >= 10 * len(numbers) and not wanted.asked and unit is None:
        listed = tuple(sorted(numbers if whole else map(float, numbers)))
        scale = Ordinal(listed, nullable, missing=tuple(missing))
        why = f"{len(listed)} different numbers, {'most' if rare else 'each'} in many rows"
        return Verdict(cells.name, "ordinal", why, f"the {len(listed)} numbers", scale, (*said, *rare))
    return _binned(cells, numbers, wanted, unit, tuple(missing), said)


def _rows_outside(numbers: Counter[float], edges: Sequence[float], step: float | None) -> int:
    """How many rows are moved to an end when they are randomized; of numbers in steps, those at the last edge, too."""
    above = sum(times for value, times in numbers.items() if value > edges[-1] or (step and value == edges[-1]))
    return above + sum(times for value, times in numbers.items() if value < edges[0])


def _binned(
    cells: Cells, numbers: Counter[float], wanted: Wanted, unit: str | None, missing: tuple[str, ...], said: list[str]
) -> Verdict:
    """The verdict on numbers that go into bins, or to points."""
    whole = all(isinstance(value, int) for value in numbers)
    discloses = "nothing: the limits are yours"
    edges = _asked_edges(wanted, whole)
    if edges is None:
        low, high, far = robust_limits(numbers)
        edges = nice_edges(low, high, wanted.bins, whole)
        if edges[-1] in numbers and wanted.points is None:
            edges = _beyond_last(edges, step_of(numbers, edges))
        clipped = far or cells.overflowing
        discloses = "about where most values lie, rounded" if clipped else "the lowest and the highest value, rounded"
        things = may_name_things(cells.name, numbers) if len(numbers) > MANY_IDS and not cells.overflowing else None
        if things:
            said.append(f"{things}: if they tell persons or things apart, say --as {quote(cells.name)}=identifier")
        elif whole and len(numbers) <= MANY_IDS and named_like_codes(cells.name):
            said.append(f"its name speaks of codes: if they are, say --as {quote(cells.name)}=categorical")
        elif look_like_codes(numbers):
            said.append(
                "few of the numbers between its lowest and its highest occur, each in many rows: if they are codes, "
                f"say --as {quote(cells.name)}=categorical"
            )
        if outside := _rows_outside(numbers, edges, None if wanted.points else step_of(numbers, edges)):
            said.append(
                f"{rows_of(outside)} far outside the others would stretch the bins: moved to the nearest end "
                f"(say --range {option(cells.name)} for other limits)"
            )
    elif wanted.range is not None and wanted.points is None and wanted.range[1] >= edges[-1]:
        edges = _beyond_last(edges, step_of(numbers, edges))
    step = None if wanted.points else step_of(numbers, edges)
    outside = _rows_outside(numbers, edges, step)
    if cells.kind == "text" and look_like_months(numbers):
        said.append(as_months(numbers))
    if outside and wanted.asked:
        said.append(f"{rows_that(outside, 'lie')} outside the range: moved to the nearest end")
    clip, nullable = bool(outside) or cells.overflowing, bool(cells.blank or missing)
    if wanted.points is not None:
        domain = Numeric(
            edges[0], edges[-1], points=wanted.points, nullable=nullable, clip=clip, missing=missing, unit=unit
        )
        cut = f"rounded at random to {domain.points} points"
    else:
        if said_of_crowds := wanted.edges is None and crowded(numbers, edges):
            said.append(
                "most rows fall into one bin, so that its mean and median say little: give it edges, closer where "
                f"values are many (--edges {option(cells.name, 'LOW:NEXT:HIGH')})"
            )
        if not said_of_crowds and on_one_side(numbers, edges, step):
            said.append(
                "its last bin ends below its last edge, so that a mean of bins is off: add "
                f"an edge (--edges {option(cells.name, f'LOW:...:{edges[-1]:g}:{edges[-1] + (step or 0):g}')})"
                if ends_too_early(numbers, edges, step)
                else "its numbers lie on one side of their bins, so that a mean of bins is off: for means say --points "
                f"{quote(cells.name)}=11, or put edges between the values that heap, not at them "
                f"(--edges {option(cells.name, 'LOW:NEXT:HIGH')})"
            )
        domain = Numeric(edges=edges, nullable=nullable, clip=clip, missing=missing, unit=unit, step=step)
        cut = f"in {domain.bins} bins"
    several = "more than " if cells.sampled else ""
    kind = ("whole numbers" if whole else "numbers") + (f", written with the unit {unit}" if unit else "")
    why = f"{several}{len(numbers):,} different {kind}, {cut}"
    return Verdict(cells.name, "numeric", why, discloses, domain, tuple(said))


def _beyond_last(edges: tuple[float, ...], step: float | None) -> tuple[float, ...]:
    """The edges, with a last bin that holds the last edge: of numbers in steps, it ends one of them later.

    >>> _beyond_last((0.0, 50.0, 100.0), 1.0), _beyond_last((0.0, 50.0, 100.0), None)
    ((0.0, 50.0, 101.0), (0.0, 50.0, 100.0))
    """
    return edges if step is None else (*edges[:-1], float(f"{edges[-1] + step:.12g}"))


def _asked_edges(wanted: Wanted, whole: bool) -> tuple[float, ...] | None:
    """The edges that were asked for, or that follow from the range; None where they are read off the data."""
    if wanted.edges is not None or wanted.range is None:
        return wanted.edges
    low, high = wanted.range
    if wanted.points is not None:
        return low, high
    edges = edges_between(low, high, wanted.bins)
    if whole and all(float(edge).is_integer() for edge in (low, high)) and max(b - a for a, b in pairwise(edges)) <= 1:
        return tuple(low + place for place in range(int(high - low) + 2))  # a bin for each number, the highest too
    return edges


def _words(count: int) -> str:
    return f"{count} word{'s' * (count != 1)}"
