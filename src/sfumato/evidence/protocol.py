"""Evidence: all that learners see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Codes
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.roll_up import Levels
from sfumato.evidence.seen import Seen
from sfumato.release import Release
from sfumato.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.evidence.density import Density
    from sfumato.evidence.questions.answer import Answer
    from sfumato.evidence.questions.rows import Rows

By = str | Sequence[str] | None
Where = Mapping[str, Any] | None


@runtime_checkable
class Evidence(Protocol):
    """Counts with their uncertainty, of the records behind a release, or of raw records.

    Three kinds answer: ``DirectEvidence`` (each table by itself), ``ModelEvidence`` (one log-linear model of all
    attributes) and ``JunctionEvidence`` (a tree of cliques). A learner never asks which kind it got.
    """

    @property
    def release(self) -> Release:
        """Where it comes from: for other evidence of the same records, see ``sfumato.evidence.kinds``."""
        ...

    @property
    def schema(self) -> Schema:
        """The attributes it speaks of, with their values."""
        ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def method(self) -> str:
        """ "moment", "project", "mle" or "model"."""
        ...

    @property
    def n(self) -> int:
        """The number of records."""
        ...

    @property
    def exact(self) -> bool:
        """Whether estimates are the counts themselves."""
        ...

    @property
    def smoothed(self) -> bool:
        """Whether estimates are those of a model, which smooths."""
        ...

    def counts(self, names: str | Sequence[str], *, level: Levels | None = None, quiet: bool = False) -> Estimate:
        """How many records hold each combination of values, or each value of a wider level of a tree; ``quiet`` for
        those who know what to do with negative counts.
        """
        ...

    def counts_many(self, requests: Sequence[Sequence[str]], *, quiet: bool = False) -> list[Estimate]:
        """Several tables, counted in as few scans as possible."""
        ...

    def top(self, names: str | Sequence[str], most: int = 10) -> Estimate:
        """The values with the largest counts; the intervals hold together. Of free text the values are found, too."""
        ...

    def listed(self, name: str, values: Sequence[Any]) -> Estimate:
        """The counts of some values of one attribute."""
        ...

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate:
        """How many records hold each of the listed combinations of codes."""
        ...

    def listable(self, names: Sequence[str]) -> bool:
        """Whether the table of these attributes has few enough cells to list them all."""
        ...

    def shares(self, names: Sequence[str], cells: Codes | None = None) -> Array:
        """The shares of such a table alone, flat; or of the listed cells, a row of codes each."""
        ...

    def within(self, fixed: Mapping[str, int | Codes], names: Sequence[str], target: str) -> list[Array]:
        """For each name its counts by the target's values, among the records with the fixed codes.

        Arrays of codes ask of several such sets of records at once: they come along the first axis of each table.
        """
        ...

    def region(self, fixed: Mapping[str, int], target: str) -> Array:
        """The covariance of the counts of the target's values among the records with the fixed codes.

        Of a model it is as much as its parameters tell, where they do.
        """
        ...

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> pa.Table:
        """Synthetic records that follow the evidence."""
        ...

    def sample_codes(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """The same as codes."""
        ...

    def log_likelihood(self, names: str | Sequence[str] | None = None, theta: ArrayLike | None = None) -> float:
        """log Pr(released values) if the true ones followed theta, flat as ``counts`` gives; a model's own without."""
        ...

    def seen(self, names: Sequence[str]) -> tuple[Seen, ...]:
        """The released counts that tell of some attributes, with their channels, scheme by scheme."""
        ...

    def records(self, names: Sequence[str], *, distinct: bool = True, inverted: bool = True) -> Iterator[Seen]:
        """The released records themselves, part by part; ``inverted`` refuses channels that have no inverse."""
        ...

    def released_cells(self, names: Sequence[str]) -> int:
        """The cells of the largest released table that tells of some attributes."""
        ...

    def tabulated(self, names: Sequence[str]) -> bool:
        """Whether the released counts of some attributes are there: always, unless sites shared certain tables only."""
        ...

    def released_counts(self, names: str | Sequence[str]) -> NDArray[np.int64]:
        """The counts of the released values themselves, uncorrected, where all rows share one scheme."""
        ...

    def feasible(self, names: Sequence[str]) -> bool:
        """Whether method "mle" can find the table of these attributes in reasonable time."""
        ...

    def density(self, name: str, **options: Any) -> Density:
        """The density of an ordered attribute, with a band."""
        ...

    def mean(self, name: str, by: By = None, where: Where = None, *, smooth: bool | None = None) -> Answer:
        """The mean of those who answered; ``by`` gives a row per group, ``where={"sex": "F"}`` restricts."""
        ...

    def share(self, name: str, by: By = None, where: Where = None) -> Answer:
        """The share of each value among those who answered."""
        ...

    def quantile(
        self,
        name: str,
        q: float | Sequence[float] = 0.5,
        by: By = None,
        where: Where = None,
        *,
        smooth: bool | None = None,
    ) -> Rows:
        """Where the running share passes q."""
        ...

    def cdf(self, name: str, by: By = None, where: Where = None, *, smooth: bool | None = None) -> Rows:
        """The share of those up to each value."""
        ...

    def correlation(self, a: str, b: str, by: By = None, where: Where = None) -> Answer:
        """Pearson's correlation of two attributes."""
        ...

    def about(self, target: str) -> Evidence:
        """What a learner of the target should ask; see ``ModelEvidence.about``."""
        ...

    def covering(self, names: Sequence[str]) -> Evidence:
        """What to ask about all of these attributes: another model where this one holds them nowhere together."""
        ...

    def said(self, names: Sequence[str]) -> tuple[str, ...]:
        """What to know of answers about these attributes together."""
        ...

    def expect_many(self) -> None:
        """Prepare for many small tables: read the records once, and count all pairs of columns in one pass."""
        ...

    def refitted(self, release: Release) -> Evidence:
        """The same kind of evidence, of other records."""
        ...
