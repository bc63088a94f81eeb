"""Direct evidence: each table is estimated by itself, from releases or exactly from raw tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Codes
from sfumato.channels.response import is_identity
from sfumato.errors import BiasWarning, EstimationError, NegativeCountsWarning, NoRowsError, warn
from sfumato.evidence import mle
from sfumato.evidence.asked_parts import asking, no_answers
from sfumato.evidence.base import ReleaseEvidence
from sfumato.evidence.blocks import blocks
from sfumato.evidence.counting import counter
from sfumato.evidence.covariance import COVARIANCE_CELLS
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.record_moments import listed_cells
from sfumato.evidence.roll_up import Levels, roll_up
from sfumato.evidence.seen import Seen, columns, seen, seen_records
from sfumato.evidence.simplex import project
from sfumato.evidence.survey_weights import survey_weights
from sfumato.input_checks import given
from sfumato.printable import many, printable
from sfumato.release import Release
from sfumato.released.part import Part

METHODS = ("moment", "project", "mle")
#: Up to this size of A all cells of a table are estimated, also where only some were asked for.
LISTED_CELLS = 1 << 20


class DirectEvidence(ReleaseEvidence):
    """Counts with covariance, from a release (estimated) or from raw rows (exact)."""

    def __init__(
        self, release: Release, method: str = "moment", names: Sequence[str] | None = None, weights: Any = None
    ) -> None:
        if method not in METHODS:
            raise EstimationError(f"method must be one of {', '.join(METHODS)} or model, got {method!r} instead")
        super().__init__(release, names)
        self.method = method
        self._warned = False
        #: How many people each row stands for, part by part; None where every record counts once.
        self.weights: tuple[Array, ...] | None = None
        if weights is not None:
            self.weights = survey_weights(release, weights)

    def __repr__(self) -> str:
        about = "exact" if self.exact else self.method
        return f"Evidence({many(self.n, 'record')}, {about}; {printable(', '.join(self.names))})"

    def check_unweighted(self, what: str) -> None:
        """Refuse what does not follow survey weights."""
        if self.weights is not None:
            raise EstimationError(
                f"{what} are of records, each of which counts once: ask for share, mean, cdf, quantile or correlation, "
                f"which follow the weights, or leave weights out"
            )

    def refitted(self, release: Release) -> DirectEvidence:
        self.check_unweighted("models")
        return DirectEvidence(release, self.method, self.names)

    def about(self, target: str) -> DirectEvidence:
        self._check([target])
        return self

    def counts(self, names: str | Sequence[str], *, level: Levels | None = None, quiet: bool = False) -> Estimate:
        """How many records hold each combination of values of the named attributes.

        Of a hierarchy ``level="county"`` gives the counts of a wider level, {"place": "county"} of one of several.
        """
        asked = self._asked(names)
        if level is not None:
            return roll_up(self.counts(asked, quiet=True), level)
        self.check_unweighted("counts")
        found = seen(self.release, asked)
        if not found:
            raise no_answers(self.release, asked)
        if self.method == "moment":
            value = found[0].centre if len(found) == 1 else np.sum([one.centre for one in found], axis=0)
        else:
            moved = [self._moved(one, quiet) for one in found]
            found, value = tuple(one for one, _ in moved), np.sum([own for _, own in moved], axis=0)
        estimate = Estimate(self.schema.select(asked), np.asarray(value), found, self.method, records=self._records)
        if estimate.asked < 1:
            estimate = replace(estimate, value=estimate.value / estimate.asked)
        if not quiet:
            self._warn_if_projected(asked)
            _warn_if_negative(estimate)
        return estimate

    def counts_many(self, requests: Sequence[Sequence[str]], *, quiet: bool = False) -> list[Estimate]:
        """Several tables, counted in as few scans as possible."""
        if not isinstance(requests, Sequence):
            raise EstimationError(f'requests must look like [["sex", "age"], ["grade"]], got {given(requests)} instead')
        for part in self.release.parts:
            asked = (names for names in map(self._check, requests) if set(names) <= set(part.scheme.schema))
            counter(part).plan([columns(blocks(part.scheme, names)) for names in asked])
        return super().counts_many(requests, quiet=quiet)

    def cells(self, names: str | Sequence[str], cells: ArrayLike) -> Estimate:
        """How many records hold each of the listed combinations of codes, for tables with too many cells to list all.

        Unbiased whatever the method of this evidence: only the moment estimate goes cell by cell.
        """
        asked = self._asked(names)
        self.check_unweighted("cells")
        codes = check_cells(cells, self.schema.sizes(asked))
        found = tuple(self._listed(part, asked, codes) for part in asking(self.release, asked) if len(part))
        if not found:
            raise no_answers(self.release, asked)
        value = np.asarray(np.sum([one.centre for one in found], axis=0))
        estimate = Estimate(self.schema.select(asked), value, found, "moment", codes=codes, records=self._records)
        return replace(estimate, value=value / estimate.asked)

    @property
    def _records(self) -> float | None:
        """How many records there are, where not all were asked everything."""
        return None if self.release.whole else float(self.n)

    def shares(self, names: Sequence[str], cells: Codes | None = None) -> Array:
        return (self.counts(names, quiet=True) if cells is None else self.cells(names, cells)).value / self.n

    def within(self, fixed: Mapping[str, int | Codes], names: Sequence[str], target: str) -> list[Array]:
        """Exact records are looked up where the table of what is asked could not be listed."""
        small = not fixed or all(self.listable([*fixed, name, target]) for name in names)
        if small or not self.exact or not self.release.whole:
            return super().within(fixed, names, target)
        self.check_unweighted("counts")
        held, weights = self._exact_records([*fixed, *names, target])
        cases = np.broadcast_shapes(*(np.shape(codes) for codes in fixed.values()))
        paths = np.stack([np.broadcast_to(codes, cases).reshape(-1) for codes in fixed.values()], axis=1)
        sizes = {name: self.schema.sizes([name, target]) for name in names}
        found = {name: np.zeros((len(paths), *sizes[name])) for name in names}
        for place, path in enumerate(paths):
            here = np.logical_and.reduce([held[name] == code for name, code in zip(fixed, path, strict=True)])
            for name in names:
                np.add.at(found[name][place], (held[name][here], held[target][here]), weights[here])
        return [found[name].reshape(*cases, *sizes[name]) for name in names]

    def _exact_records(self, names: Sequence[str]) -> tuple[dict[str, NDArray[np.int64]], Array]:
        """The combinations of values that occur, and how many records hold each."""
        parts = list(self.records(names))
        if not parts:
            raise NoRowsError
        held = {name: np.concatenate([_column(part, name) for part in parts]) for name in names}
        return held, np.concatenate([part.counts for part in parts])

    def sample_codes(self, n: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """Drawn from exact records, or from the table of all attributes, moved to possible counts."""
        if self.exact:
            held, weights = self._exact_records(self.names)
            drawn = rng.choice(len(weights), size=n, p=weights / weights.sum())
            return {name: column[drawn] for name, column in held.items()}
        if not self.listable(self.names):
            raise EstimationError(
                f'the table of {len(self.names)} attributes has too many cells to draw from: use method="model"'
            )
        possible = project(self.shares(self.names), 1.0)
        flat = rng.choice(len(possible), size=n, p=possible / possible.sum())
        codes = np.unravel_index(flat, self.schema.sizes(self.names))
        return dict(zip(self.names, codes, strict=True))

    def _likelihood(self, release: Release) -> float:
        raise EstimationError("log_likelihood needs names and theta: these counts are no model of their own")

    def _moved(self, one: Seen, quiet: bool) -> tuple[Seen, Array]:
        """Possible counts in place of unbiased ones, and what they were made from."""
        if self.method == "project":
            return one, project(one.centre, one.total)
        if one.partial:  # the likelihood knows only whole groups: fit all their attributes, then sum
            theta = mle.fit(one.full, one.counts, quiet=quiet).theta
            return one, one.placed(one.summed(theta * one.total))
        theta = mle.fit(one.transition, one.counts, quiet=quiet).theta
        value = one.placed(theta * one.total)
        rows, cols = one.transition.rows, one.transition.cols
        # with more outputs than inputs the likelihood weighs them best
        weighs = cols > rows and rows <= COVARIANCE_CELLS and rows * cols <= 1 << 22
        return (one.weighed(theta) if weighs else one), value

    def _listed(self, part: Part, names: tuple[str, ...], codes: NDArray[np.int64]) -> Seen:
        shown = Seen(names, blocks(part.scheme, names), np.zeros(0))
        if shown.full.rows * shown.full.cols > LISTED_CELLS and not shown.solved_whole:
            return listed_cells(seen_records(part, names), codes)
        return shown.holding(counter(part).counts(columns(shown.blocks))).at(codes)

    def _warn_if_projected(self, names: Sequence[str]) -> None:
        """Say once that projecting flattens the distribution of ordered values."""
        if self.method != "project" or self._warned:
            return
        ordered = [name for name in names if self.schema[name].ordered and self.schema[name].size > 2]
        schemes = [part.scheme for part in self.release.parts]
        asked = {name: [scheme for scheme in schemes if name in scheme.schema] for name in ordered}
        changed = [name for name in ordered if not all(is_identity(s.group(name).channel) for s in asked[name])]
        if changed:
            self._warned = True
            warn(
                f'method="project" flattens the distribution of ordered values ({", ".join(changed)}) and biases '
                f'their means; use method="mle" for shares and running shares, "moment" for means',
                BiasWarning,
                stacklevel=3,
            )


def check_cells(cells: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Codes of cells, a row each, or one line that says what is wrong with them."""
    given = np.asarray(cells)
    if given.ndim != 2 or given.shape[1] != len(sizes) or not len(given) or given.dtype.kind not in "iu":
        raise EstimationError(f"cells must list a code for each of the {len(sizes)} attributes, a row per cell")
    codes = given.astype(np.int64)
    outside = ((codes < 0) | (codes >= np.array(sizes))).any(axis=1)
    if outside.any():
        first = codes[outside][0].tolist()
        raise EstimationError(f"cell {first} lies outside the table of {' x '.join(map(str, sizes))} values")
    return codes


def _column(records: Seen, name: str) -> NDArray[np.int64]:
    """The values of one attribute in records that passed unchanged."""
    place = records.names.index(name)
    for (places, table), codes in zip(records.likelihoods(), records.joined, strict=True):
        if place in places:
            flat = table.reshape(len(table), -1).argmax(axis=1)[codes]
            return np.asarray(np.unravel_index(flat, table.shape[1:])[places.index(place)])
    raise KeyError(name)


def _warn_if_negative(estimate: Estimate) -> None:
    negative = int((estimate.value < -1e-9 * max(estimate.n, 1)).sum())
    if negative:
        other = "mle" if all(mle.feasible(one.full) for one in estimate.seen) else "project"
        warn(
            f"{negative} of {len(estimate.value)} estimated counts are negative, as unbiased estimates of small counts "
            f'are; use method="{other}" where that is not wanted',
            NegativeCountsWarning,
            stacklevel=3,
        )
