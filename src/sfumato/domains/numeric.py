"""Numbers between two limits, cut into bins or rounded at random to points."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Codes
from sfumato.domains.base import Domain, Tally, count, is_number, is_text, null_rows
from sfumato.domains.edges import as_written, check_step, checked_limits, edge_texts, evenly, refuse_between_steps
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.randomness import ONE
from sfumato.reading.csv_reader import NULL_WORDS

if TYPE_CHECKING:
    import pyarrow as pa

#: The most bins of a numeric attribute, and of all that a document describes by their number.
MOST_BINS = 1 << 20
_FARTHEST = 1e50  # fourth powers, of which variances of squares are made, are still doubles


@dataclass(frozen=True)
class Numeric(Domain):
    """Numbers in [low, high], cut into bins of equal width or at given edges; values decode to the middle of their bin.

    With ``points`` they are rounded at random to one of so many equally spaced points, low and high among them: up with
    the probability that leaves the mean of the codes where the value is. The owner rounds with the secure source (or
    under the key) before anything is randomized; elsewhere a value goes to the nearest point.

    ``step`` says that the numbers are multiples of it: whole numbers have the step 1. A bin then stands for the mean of
    the multiples in it, which is half a step below its middle, and the last bin ends below its upper edge as all do; a
    number at that edge is moved into it.

    ``clip`` moves numbers outside the limits to the nearest end. ``unit`` is what the data write beside the number.

    >>> age = Numeric(0, 100, bins=4)
    >>> age.encode([0, 24.9, 25, 100]), age.labels[0]
    (array([0, 0, 1, 3], dtype=uint8), '[0, 25)')
    >>> Numeric(edges=(0, 5, 50), clip=True, unit="mg").encode(["3 mg", "7 mg", "900 mg"])
    array([0, 1, 1], dtype=uint8)
    >>> Numeric(0, 100, points=11).labels[:3]
    ('0', '10', '20')
    >>> Numeric(0, 20, bins=2, step=1).midpoints, Numeric(0, 20, bins=2, step=1).greatest
    (array([ 4.5, 14.5]), 19.0)
    """

    low: float | None = None
    high: float | None = None
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    nullable: bool = False
    points: int | None = field(default=None, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    clip: bool = field(default=False, compare=False, kw_only=True)
    missing: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    unit: str | None = field(default=None, compare=False, kw_only=True)

    kind = "numeric"

    @property
    def ordered(self) -> bool:
        return True

    def __post_init__(self) -> None:
        if self.points is not None:
            edges = self._around_points()
        elif self.edges is not None:
            try:
                edges = tuple(float(edge) for edge in self.edges)
            except (TypeError, ValueError):
                raise SchemaError(f"edges must be a list of numbers, got {self.edges!r:.60} instead") from None
            if len(edges) < 2 or not all(a < b for a, b in pairwise(edges)):
                raise SchemaError(f"edges must increase and hold at least two numbers, got {edges[:6]} instead")
            if self.bins not in (None, len(edges) - 1):
                raise SchemaError("give either bins or edges, not both")
            if self.low not in (None, edges[0]) or self.high not in (None, edges[-1]):
                raise SchemaError(f"low and high must be the first and last edge, got {self.low} and {self.high}")
        else:
            low, high = checked_limits(self.low, self.high)
            if self.bins is not None and not _is_whole(self.bins):
                raise SchemaError(f"bins must be a whole number of at least 1, got {self.bins!r} instead")
            if self.bins is not None and self.bins > MOST_BINS:
                raise SchemaError(f"bins must be at most {MOST_BINS}, got more: use wider ones")
            edges = tuple(evenly(low, high, int(self.bins or 20) + 1).tolist())
            if len(set(edges)) < len(edges):
                raise SchemaError(f"{self.bins} bins between {self.low} and {self.high} are too narrow for doubles")
        if not np.isfinite(edges).all():
            raise SchemaError(f"the limits must be finite, got {edges[0]} and {edges[-1]} instead")
        if max(-edges[0], edges[-1]) > _FARTHEST or edges[-1] - edges[0] < 1 / _FARTHEST:
            raise SchemaError(
                f"limits beyond {_FARTHEST:g}, or closer than its inverse, cannot be squared: change the unit"
            )
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "low", edges[0])
        object.__setattr__(self, "high", edges[-1])
        object.__setattr__(self, "bins", len(edges) - 1)
        self._check_missing()
        if self.step is not None:
            check_step(self.step, self.points, lambda: self.edges_between_values)
        if self.unit is not None and (not isinstance(self.unit, str) or not self.unit.strip()):
            raise SchemaError(f"unit must be the text beside the numbers, such as mg or %, got {self.unit!r} instead")

    def _around_points(self) -> tuple[float, ...]:
        """The edges of the cells whose numbers have their point as the nearest one."""
        low, high = checked_limits(self.low, self.high)
        points = self.points
        if isinstance(points, bool) or not isinstance(points, int | np.integer) or points < 2:
            raise SchemaError(f"points must be a whole number of at least 2, got {points!r} instead")
        if points > MOST_BINS:
            raise SchemaError(f"points must be at most {MOST_BINS}, got more: use fewer")
        grid = np.linspace(low, high, int(points))
        edges = (low, *((grid[1:] + grid[:-1]) / 2).tolist(), high)
        if not all(a < b for a, b in pairwise(edges)):
            raise SchemaError(f"{points} points between {self.low} and {self.high} are too close for doubles")
        if self.bins not in (None, int(points)) or self.edges not in (None, edges):
            raise SchemaError("give either points or bins, not both")
        object.__setattr__(self, "points", int(points))
        return edges

    @property
    def spaced(self) -> bool:
        middle = self.midpoints
        return len(middle) > 1 and bool(np.allclose(np.diff(middle), middle[1] - middle[0], rtol=1e-6))

    @property
    def rounds(self) -> bool:
        return self.points is not None

    @property
    def size(self) -> int:
        return len(self.edges or ()) - 1 + self.nullable

    @cached_property
    def edge_array(self) -> NDArray[np.float64]:
        return np.array(self.edges)

    @cached_property
    def midpoints(self) -> NDArray[np.float64]:
        """What each code stands for as a number: its point, or the middle of its bin."""
        if self.points is not None:
            return evenly(self.edge_array[0], self.edge_array[-1], self.points)
        return as_written((self.edges_between_values[1:] + self.edges_between_values[:-1]) / 2)

    @cached_property
    def edges_between_values(self) -> NDArray[np.float64]:
        """The edges; of numbers in steps, midway between the last value below and the first one above."""
        if self.step is None:
            return self.edge_array
        return np.asarray(self.step * (np.ceil(self.edge_array / self.step - 1e-9) - 0.5))

    @property
    def upper_ends(self) -> NDArray[np.float64]:
        """The number up to which the values of each bin reach; of numbers in steps, the last one below the edge.

        >>> Numeric(0, 30, bins=3, step=1).upper_ends
        array([ 9., 19., 29.])
        """
        return self.edge_array[1:] if self.step is None else as_written(self.edges_between_values[1:] - self.step / 2)

    @property
    def greatest(self) -> float:
        """The greatest number inside the limits."""
        return float(self.upper_ends[-1])

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        if self.points is not None:
            names = edge_texts(self.midpoints.tolist())
        else:
            names = [f"[{a}, {b})" for a, b in pairwise(edge_texts(self.edges or ()))]
            if self.step is None:
                names[-1] = names[-1][:-1] + "]"
        return (*names, None) if self.nullable else tuple(names)

    def numbers(self, column: Any, name: str = "value", tally: Tally | None = None) -> NDArray[np.float64]:
        numbers, nulls = self._numbers(column, name, tally)
        if nulls.null_count:
            raise OutsideDomainError(name, "null", None, nulls.null_count, "noise needs a number in every row")
        return numbers

    def _numbers(self, column: Any, name: str, tally: Tally | None) -> tuple[NDArray[np.float64], pa.Array]:
        """The column as doubles inside the limits, and as Arrow with NaN turned into null."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._read(column)
        if is_text(column.type):
            text = pc.utf8_trim_whitespace(column.cast(pa.string()))
            if self.unit is not None:
                unit = re.escape(self.unit.strip())
                text = pc.replace_substring_regex(text, rf"^([-+]?){unit}\s*|\s*{unit}$", r"\1")
            column = pc.if_else(pc.is_in(text, value_set=pa.array(NULL_WORDS)), pa.scalar(None, text.type), text)
        whole = pa.types.is_integer(column.type)
        try:
            column = column.cast(pa.float64(), safe=not whole)  # the nearest double
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            bad = [value for value in column.to_pylist() if value is not None and not is_number(value)]
            first = bad[0] if bad else column.type
            raise OutsideDomainError(name, "text", first, len(bad), f"numbers in {self.limits_text()}") from None
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
        numbers = np.asarray(column.to_numpy(zero_copy_only=False))
        if self.step is not None and not (whole and self.step == 1):
            refuse_between_steps(numbers, self.step, self.midpoints, name)
        low, high = self.edge_array[0], self.greatest
        outside = (numbers < low) | (numbers > high + (self.step or 0.0) / 2)
        beyond = outside  # of numbers in steps the last bin once held its edge
        if self.step is not None:
            beyond = outside & (np.abs(numbers - self.edge_array[-1]) > self.step / 100)
        if outside.any() and (self.clip or not beyond.any()):
            count(tally, name, int(outside.sum()))
            numbers = np.clip(numbers, low, high)
        elif outside.any():
            strays = numbers[outside]
            below, above = bool((strays < low).any()), bool((strays > high).any())
            kind = "range" if below and above else "below" if below else "above"
            raise OutsideDomainError(name, kind, float(strays[0]), len(strays), self.limits_text())
        return numbers, column

    def encode(self, column: Any, name: str = "value", tally: Tally | None = None) -> Codes:
        import pyarrow as pa

        numbers, column = self._numbers(column, name, tally)
        codes = np.searchsorted(self.edge_array, numbers, side="right") - 1
        codes[numbers == self.edge_array[-1]] = len(self.edge_array) - 2
        mask = np.isnan(numbers)
        return self._with_nulls(pa.array(codes, mask=mask if mask.any() else None), column.null_count, name)

    def codes_of(self, values: Sequence[Any]) -> Codes:
        """The codes of values that the caller names: a number stands for its bin, also one between two steps.

        >>> Numeric(0, 30, bins=3, step=5).codes_of([12, 12.5])
        array([1, 1], dtype=uint8)
        """
        if self.step is None:
            return super().codes_of(values)
        edges = (*self.edge_array[:-1].tolist(), math.nextafter(self.edge_array[-1], -math.inf))
        between = replace(self, step=None, low=None, high=None, edges=edges)
        return between.codes_of(values)

    def unrounded(self, column: Any, name: str = "value", tally: Tally | None = None) -> NDArray[np.float64]:
        numbers, column = self._numbers(column, name, tally)
        if column.null_count and not self.nullable:
            raise null_rows(name, column.null_count)
        return numbers

    def rounded(self, numbers: NDArray[np.float64], draws: NDArray[np.uint64]) -> Codes:
        r"""The code of one of the two points around each number, by a uniform 63-bit draw.

            p = (x - low) / (high - low) (points - 1),    i = floor(p),    i + 1 if draw < (p - i) 2^63 else i

        So the mean of the point is the number itself, up to the last digit of p.
        """
        if self.points is None:
            raise SchemaError("only a numeric attribute with points is rounded at random")
        low, high = self.edge_array[0], self.edge_array[-1]
        gone = np.isnan(numbers)
        place = (np.where(gone, low, numbers) - low) / (high - low) * (self.points - 1)
        below = np.minimum(np.floor(place), self.points - 2)
        chance = np.clip(place - below, 0.0, 1.0) * float(ONE)  # a power of two: no rounding
        codes = below.astype(np.int64) + (draws < chance.astype(np.uint64))
        codes[gone] = self.points
        return np.asarray(codes.astype(self.code_type))

    def limits_text(self) -> str:
        low, high = self.edge_array[0], self.greatest
        texts = edge_texts((low, high)) if low < high else [f"{low:g}"] * 2
        return f"[{', '.join(texts)}]"

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        values = [*self.midpoints.tolist(), None] if self.nullable else self.midpoints
        return pa.array(values, type=pa.float64()).take(pa.array(self._known(codes)))

    def meaning(self) -> dict[str, Any]:
        if self.points is not None:
            limits = {"low": self.low, "high": self.high, "points": self.points}
            return {"kind": self.kind, **limits, "nullable": self.nullable}
        step = {} if self.step is None else {"step": self.step}
        return {"kind": self.kind, "edges": list(self.edges or ()), **step, "nullable": self.nullable}

    def _written(self) -> dict[str, Any]:
        unit = {} if self.unit is None else {"unit": self.unit}
        return {**super()._written(), **({"clip": True} if self.clip else {}), **unit}


def _is_whole(bins: Any) -> bool:
    return isinstance(bins, int | float | np.number) and bool(1 <= bins < math.inf) and bins == int(bins)
