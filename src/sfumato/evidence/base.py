"""What all kinds of evidence share: they speak of some attributes of a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence, Sized
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Codes
from sfumato.channels.pram import check_distribution
from sfumato.channels.response import is_identity
from sfumato.errors import EstimationError
from sfumato.evidence import mle
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import blocks
from sfumato.evidence.counting import counter
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.protocol import By, Where
from sfumato.evidence.roll_up import Levels
from sfumato.evidence.seen import Seen, columns, seen, seen_records
from sfumato.evidence.some_cells import check_most, largest
from sfumato.evidence.texts import listed_texts, top_texts
from sfumato.input_checks import check_kind, check_names, check_numbers, fitting
from sfumato.pages.display import MOST, html_table
from sfumato.randomness import numpy_generator
from sfumato.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.evidence.density import Density
    from sfumato.evidence.questions.answer import Answer
    from sfumato.evidence.questions.rows import Rows

#: The most cells of a table that is listed whole to answer a question.
ANSWER_CELLS = 1 << 20

question = fitting(EstimationError, "; the level of an interval goes to the answer: .interval(level), .frame(level)")


class ReleaseEvidence(ABC):
    """Evidence about a release: ``names`` are the attributes it speaks of, all unless given; ``schema`` is theirs."""

    method: str
    smoothed = False
    _kind = "evidence"

    def __init__(self, release: Release, names: Sequence[str] | None = None) -> None:
        self.release = release
        self.names = release.schema.names if names is None else check_names(EstimationError, "names", names)
        self.schema = release.schema if names is None else release.schema.select(self._check(self.names))

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.release)

    @property
    def exact(self) -> bool:
        """Whether every attribute passed unchanged, so that estimates are the counts themselves.

        What a model says is smoothed, also of raw records.
        """
        groups = (group for part in self.release.parts for group in part.scheme.groups)
        asked = set(self.names)
        if self.smoothed or not all(asked <= set(part.scheme.schema) for part in self.release.parts):
            return False
        return all(is_identity(group.channel) for group in groups if asked & set(group.names))

    def _repr_html_(self) -> str:
        rows = [[name, domain.kind, domain.size, domain.nullable] for name, domain in self.schema.items()]
        shown = [[*row[:3], "yes" if row[3] else ""] for row in rows[:MOST]]
        return html_table(repr(self), ["attribute", "kind", "values", "nullable"], shown, len(rows) - len(shown))

    @abstractmethod
    def counts(self, names: str | Sequence[str], *, level: Levels | None = None, quiet: bool = False) -> Estimate: ...

    @abstractmethod
    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate: ...

    @abstractmethod
    def shares(self, names: Sequence[str], cells: Codes | None = None) -> Array: ...

    @abstractmethod
    def about(self, target: str) -> ReleaseEvidence: ...

    def covering(self, names: Sequence[str]) -> ReleaseEvidence:
        self._check(names)
        return self

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def refitted(self, release: Release) -> ReleaseEvidence: ...

    @abstractmethod
    def sample_codes(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]: ...

    @abstractmethod
    def _likelihood(self, release: Release) -> float:
        """log Pr(released records) under the evidence's own model."""

    def top(self, names: str | Sequence[str], most: int = 10) -> Estimate:
        """The values with the largest counts, largest first; the intervals hold for all values together.

        Of free text the values are found, too: those that are surely there, all but one time in twenty.
        """
        most = check_most(most)
        asked = self._asked(names)
        if len(asked) == 1 and not self.schema[asked[0]].listed:
            return top_texts(self.release, asked[0], most)
        return largest(self.counts(asked, quiet=True), most)

    def listed(self, name: str, values: Sequence[Any]) -> Estimate:
        """The counts of some values of one attribute, also of one with very many, or of free text."""
        (asked,) = self._asked(name)
        if isinstance(values, str) or not isinstance(values, Sized) or not len(values):
            raise EstimationError("values must be a list of at least one value")
        if not self.schema[asked].listed:
            return listed_texts(self.release, asked, values)
        return self.cells(asked, self.schema[asked].codes_of(values)[:, None])

    def counts_many(self, requests: Sequence[Sequence[str]], *, quiet: bool = False) -> list[Estimate]:
        return [self.counts(names, quiet=quiet) for names in requests]

    def listable(self, names: Sequence[str]) -> bool:
        return prod(self.schema.sizes(names)) <= ANSWER_CELLS

    def within(self, fixed: Mapping[str, int | Codes], names: Sequence[str], target: str) -> list[Array]:
        found = self.counts_many([[*fixed, name, target] for name in names], quiet=True)
        return [one.table[tuple(fixed.values())] for one in found]

    def region(self, fixed: Mapping[str, int], target: str) -> Array:
        classes = np.arange(self.schema[target].size)[:, None]
        codes = np.tile(np.array([*fixed.values()], dtype=np.int64), (len(classes), 1))
        return self.cells([*fixed, target], np.hstack([codes, classes])).cov

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> pa.Table:
        """n synthetic records, none of them anybody's unless the evidence is exact."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise EstimationError(f"n must be a whole number of at least 1, got {n!r} instead")
        return self.schema.decode(self.sample_codes(int(n), numpy_generator(rng)))

    def log_likelihood(
        self,
        names: str | Sequence[str] | None = None,
        theta: ArrayLike | None = None,
        *,
        release: Release | None = None,
    ) -> float:
        """log Pr(released values of these attributes) if the true ones followed theta, flat as ``counts`` gives.

        Without them: of all released records under the model itself. ``release`` holds other (held-out) records.
        """
        held = self.release if release is None else release
        check_kind(EstimationError, "release", held, Release, "a release")
        if names is None or theta is None:
            return self._likelihood(held)
        asked = self._asked(names)
        given = check_numbers(EstimationError, "theta", theta).reshape(-1)
        flat = check_distribution(given, prod(self.schema.sizes(asked)), "theta")
        found = mle.whole_groups(seen(held, asked), "theta must cover the whole group")
        return sum(mle.log_likelihood(one.transition, one.counts, one.in_blocks(flat).reshape(-1)) for one in found)

    def seen(self, names: Sequence[str]) -> tuple[Seen, ...]:
        return seen(self.release, self._check(names))

    def records(self, names: Sequence[str], *, distinct: bool = True, inverted: bool = True) -> Iterator[Seen]:
        asked = self._check(names)
        return (seen_records(part, asked, distinct, inverted) for part in asking(self.release, asked) if len(part))

    def released_cells(self, names: Sequence[str]) -> int:
        asked = self._check(names)
        return max(prod(block.released for block in blocks(p.scheme, asked)) for p in asking(self.release, asked))

    def tabulated(self, names: Sequence[str]) -> bool:
        asked = self._check(names)
        return all(counter(p).holds(columns(blocks(p.scheme, asked))) for p in asking(self.release, asked))

    def expect_many(self) -> None:
        for part in self.release.parts:
            counter(part).count_pairs()

    def feasible(self, names: Sequence[str]) -> bool:
        """Whether method "mle" can find the table of these attributes in reasonable time."""
        asked = self._check(names)
        schemes = (part.scheme for part in asking(self.release, asked))
        return all(mle.feasible(Seen(asked, blocks(scheme, asked), np.zeros(0)).full) for scheme in schemes)

    def density(self, name: str, **options: Any) -> Density:
        """The density of an ordered attribute, with a band.

        Of numbers with additive noise as ``sfumato.density`` gives it, with its options; else the smoothed distribution
        of the values through their channels.
        """
        from sfumato.evidence.density.of_attribute import density_of

        self._check([name])
        return density_of(self.release, name, options)

    # What analysts ask: ``by`` gives a row per group, ``where={"sex": "F"}`` restricts.

    @question
    def mean(self, name: str, by: By = None, where: Where = None, *, smooth: bool | None = None) -> Answer:
        """The mean of those who answered. A bin counts as its middle, ordinal text as its place from 0.

        ``smooth=False`` gives the unbiased estimate; else that of a smoothed distribution where there is one. The
        limits are those of the unbiased one either way.
        """
        from sfumato.evidence.questions import ask

        return ask.mean(self, name, by, where, smooth)

    @question
    def share(self, name: str, by: By = None, where: Where = None) -> Answer:
        """The share of each value among those who answered."""
        from sfumato.evidence.questions import ask

        return ask.share(self, name, by, where)

    @question
    def quantile(
        self,
        name: str,
        q: float | Sequence[float] = 0.5,
        by: By = None,
        where: Where = None,
        *,
        smooth: bool | None = None,
    ) -> Rows:
        """Where the running share passes q: .5 is the median. Limits by inverting the test of the running share.

        Estimates of ten values and more are smoothed where they may be, limits are not. ``smooth=False`` smooths
        nothing, ``smooth=True`` the limits too: narrower where bins are narrow, and too narrow where values heap.
        """
        from sfumato.evidence.questions import ask

        return ask.quantile(self, name, q, by, where, smooth)

    @question
    def cdf(self, name: str, by: By = None, where: Where = None, *, smooth: bool | None = None) -> Rows:
        """The share of those up to each value, among those who answered; ``smooth`` as for quantiles."""
        from sfumato.evidence.questions import ask

        return ask.cdf(self, name, by, where, smooth)

    @question
    def correlation(self, a: str, b: str, by: By = None, where: Where = None) -> Answer:
        """Pearson's correlation of two attributes among those who answered both."""
        from sfumato.evidence.questions import ask

        return ask.correlation(self, a, b, by, where)

    def released_counts(self, names: str | Sequence[str]) -> NDArray[np.int64]:
        """The counts of the released values themselves, uncorrected, where all rows share one scheme."""
        asked = self._asked(names)
        shown = columns(blocks(self.release.scheme, asked))
        found = [counter(part).counts(shown) for part in self.release.parts]
        return np.asarray(np.sum(found, axis=0), dtype=np.int64)

    def _asked(self, names: str | Sequence[str]) -> tuple[str, ...]:
        return self._check((names,) if isinstance(names, str) else names)

    def _check(self, names: Sequence[str]) -> tuple[str, ...]:
        asked = check_names(EstimationError, "names", names)
        if not asked or len(set(asked)) != len(asked):
            raise EstimationError(f"name each attribute once, and at least one; got {list(asked)}")
        for name in asked:
            if name not in self.names:
                self.release.schema[name]
                raise EstimationError(f"{name!r} is not in the {self._kind}, which covers {', '.join(self.names)}")
        return asked
