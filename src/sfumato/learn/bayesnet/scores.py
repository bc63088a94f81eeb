"""How good is a set of parents? Three answers: Bayesian, BIC/MDL, and the Wald test that knows the channels' noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import inf, log, prod

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.contrast_covariances import bytes_needed
from sfumato.evidence.contrasts import MOST, widths
from sfumato.evidence.independence import ODDS, Association, association
from sfumato.evidence.kinds import asked_together
from sfumato.evidence.protocol import Evidence
from sfumato.learn.arguments import real

#: The most cells of a table that probabilities are estimated from.
MOST_CELLS = 1 << 20


class StructureScore(ABC):
    """A decomposable score over nodes with their parents, from the counts of any evidence."""

    #: Whether a parent that later parents make superfluous is taken out again.
    prunes = False

    #: Called with the node whenever the score of one more set of parents is computed.
    progress: Callable[[str], None] | None = None
    #: The most bytes that judging a pair may take, and twice what a larger set may.
    memory = inf

    def __init__(self, source: Evidence) -> None:
        self.source = source
        self._local: dict[tuple[str, frozenset[str]], float] = {}
        #: Families whose tables are too large to be judged, with their cells.
        self.left_out: dict[tuple[str, frozenset[str]], int] = {}
        #: Families whose tables no site shared.
        self.not_counted: list[tuple[str, ...]] = []
        #: Families that no form asks together.
        self.unasked: set[tuple[str, frozenset[str]]] = set()
        self._fits: dict[tuple[str, frozenset[str]], bool] = {}

    @abstractmethod
    def gain(self, node: str, parent: str, given: Sequence[str]) -> float:
        """What one more parent adds; positive when it is worth having."""

    @abstractmethod
    def compute(self, node: str, parents: tuple[str, ...]) -> float:
        """The score of a node with these parents."""

    def local(self, node: str, parents: Sequence[str]) -> float:
        """The score of a node with these parents, remembered."""
        key = (node, frozenset(parents))
        if key not in self._local:
            self._local[key] = self.compute(node, self.ordered(parents))
            if self.progress is not None:
                self.progress(node)
        return self._local[key]

    def test(self, node: str, parent: str, given: Sequence[str]) -> Association:
        """The evidence for one edge."""
        return association(self.source, parent, node, self.ordered(given))

    def ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """In the order of the schema, so that equal sets share their tables."""
        wanted = set(names)
        return tuple(name for name in self.source.schema.names if name in wanted)

    #: The most cells of a table that this score can judge.
    most_cells = MOST_CELLS

    def check_bound(self, names: Sequence[str], max_parents: int) -> None:
        """Refuse a parent bound under which some table would not fit, with its size."""
        largest = sorted(names, key=lambda name: -self.source.schema[name].size)[: max_parents + 1]
        cells = prod(self.source.schema.sizes(largest))
        if cells > self.most_cells:
            raise EstimationError(
                f"max_parents = {max_parents} allows tables of {cells} cells ({' x '.join(largest)}), more than "
                f"{self.most_cells}: lower max_parents or make attributes coarser"
            )

    def fits(self, node: str, parents: Sequence[str]) -> bool:
        """Whether the table of a family can be judged; what cannot is noted."""
        key = (node, frozenset(parents))
        if key not in self._fits:
            if not self.asked(node, parents):
                self._fits[key] = False
                self.unasked.add(key)
                return False
            cells = prod(self.source.schema.sizes([*parents, node]))
            if not self.source.tabulated([*parents, node]):
                self.not_counted.append(self.ordered([*parents, node]))
                self._fits[key] = False
                return False
            self._fits[key] = cells <= self.most_cells and self.needed(node, parents) <= self._allowed(parents)
            if not self._fits[key]:
                self.left_out[key] = cells
        return self._fits[key]

    def asked(self, node: str, parents: Sequence[str]) -> bool:
        """Whether some form asks the whole family: nothing else tells how it hangs together."""
        return asked_together(self.source, [*parents, node])

    def needed(self, node: str, parents: Sequence[str]) -> float:
        """The bytes that it takes to judge a family."""
        return 32.0 * self.source.released_cells([*parents, node])

    def testable(self, node: str, parents: Sequence[str]) -> bool:
        """Whether the links of a family can be tested: within the memory, by what forms ask."""
        return self.asked(node, parents) and Wald(self.source).needed(node, parents) <= self._allowed(parents)

    def _allowed(self, parents: Sequence[str]) -> float:
        """All of the memory for a pair, half of it for a larger set: a link that is never looked at costs most."""
        return self.memory if len(parents) < 2 else self.memory / 2

    def check_size(self, node: str, parents: Sequence[str]) -> None:
        """Refuse a table that would not fit, with its size."""
        cells = prod(self.source.schema.sizes([*parents, node]))
        if cells > MOST_CELLS:
            raise EstimationError(
                f"{node} with {len(parents)} parents ({', '.join(parents)}) would need a table of {cells} cells, "
                f"more than {MOST_CELLS}: lower max_parents or make attributes coarser"
            )

    def counts(self, node: str, parents: Sequence[str]) -> Array:
        """Estimated counts, configurations by values, negative ones taken as 0.

        Moved to the nearest possible table instead, they gave a fifth more wrong links under both scores that use them.
        """
        table = self.source.counts((*parents, node), quiet=True).table
        return np.maximum(table.reshape(-1, table.shape[-1]), 0.0)


class Bayes(StructureScore):
    r"""The Cooper-Herskovits score with a Dirichlet prior.

        log P = Σ_j [ logΓ(α_j) - logΓ(α_j + N_j) + Σ_k logΓ(α_jk + N_jk) - logΓ(α_jk) ]

    K2 takes a parent when log P_new > η log P_old: the workable reading of the threshold of Ma (2006) section 5.5,
    which on raw scores does nothing. ``prior`` is "k2" (α = 1) or "bdeu" (α = ess / cells).
    """

    def __init__(self, source: Evidence, eta: float = 1.0, prior: str = "k2", ess: float = 10.0) -> None:
        super().__init__(source)
        eta = real("eta", eta)
        if not 0 < eta <= 1:
            raise EstimationError(f"eta must lie in (0, 1], got {eta} instead")
        if prior not in ("k2", "bdeu"):
            raise EstimationError(f"prior must be k2 or bdeu, got {prior!r} instead")
        self.eta, self.prior, self.ess = eta, prior, ess

    def compute(self, node: str, parents: tuple[str, ...]) -> float:
        from scipy.special import gammaln

        counts = self.counts(node, parents)
        J, k = counts.shape
        alpha = 1.0 if self.prior == "k2" else self.ess / (J * k)
        rows = gammaln(k * alpha) - gammaln(k * alpha + counts.sum(1))
        return float(rows.sum() + (gammaln(alpha + counts) - gammaln(alpha)).sum())

    def gain(self, node: str, parent: str, given: Sequence[str]) -> float:
        return self.local(node, (*given, parent)) - self.eta * self.local(node, given)


class Bic(StructureScore):
    r"""The Bayesian information criterion, or description length, with the penalty times C*.

        Σ_jk N_jk log(N_jk / N_j) - C* (log N)/2 · J (K - 1)

    Ma (2006) prints N/2 for (log N)/2; C* > 1 is his remedy against extra links, and no constant is right.
    """

    def __init__(self, source: Evidence, penalty: float = 1.0) -> None:
        super().__init__(source)
        penalty = real("penalty", penalty)
        if not penalty > 0:
            raise EstimationError(f"penalty must be positive, got {penalty} instead")
        self.penalty = penalty

    def compute(self, node: str, parents: tuple[str, ...]) -> float:
        counts = self.counts(node, parents)
        J, k = counts.shape
        rows = np.broadcast_to(counts.sum(1, keepdims=True), counts.shape)
        hit = counts > 0
        fit = float((counts[hit] * np.log(counts[hit] / rows[hit])).sum())
        return fit - self.penalty * log(self.source.n) / 2 * int(J) * int(k - 1)

    def gain(self, node: str, parent: str, given: Sequence[str]) -> float:
        return self.local(node, (*given, parent)) - self.local(node, given)


class Wald(StructureScore):
    r"""Candidate edges against the covariance that randomization inflated: no constant to tune.

        2 log BF - 2 log((1 - π)/π) > 0,        2 log BF ≈ W - d log(N_eff)

    BF is the approximate Bayes factor of the Wald test (see ``sfumato.evidence.contrasts``): W is held against the
    logarithm of the *effective* number of records instead of N, and directions in which the release tells nothing cost
    nothing. With nothing randomized that is the BIC's d log N; under randomization it neither adds the extra links of
    Ma (2006) section 5.5.2 nor misses those a threshold made for raw data would miss.

    With an order, K2 asks for each edge given the others. Without one, the score of a family is the sum of what its
    parents add one after the other, in the order that gives the least: so that a parent which the others explain
    never adds anything. What each adds is brought to one scale, that of the likelihood of true records: else a climb
    prefers whatever is least noisy.
    """

    prunes = True
    most_cells = 1 << 14

    def __init__(self, source: Evidence) -> None:
        super().__init__(source)
        self._found: dict[tuple[str, str, frozenset[str]], Association] = {}

    def compute(self, node: str, parents: tuple[str, ...]) -> float:
        if not parents:
            return 0.0
        ends = []
        for last in sorted(parents, key=lambda parent: self.gain(node, parent, ())):
            rest = tuple(other for other in parents if other != last)
            more = self.gain(node, last, rest)
            ends.append(self.local(node, rest) + self._association(node, last, rest).likelihood(more))
            if more <= 0:  # a superfluous parent: no climb stays here, the other orders need not be known
                break
        return min(ends)

    def gain(self, node: str, parent: str, given: Sequence[str]) -> float:
        return self._association(node, parent, given).evidence - ODDS

    def needed(self, node: str, parents: Sequence[str]) -> float:
        """The bytes of the largest test: of each parent given the others."""
        schema = self.source.schema
        released = self.source.released_cells([*parents, node])
        cells = prod(schema.sizes([*parents, node]))
        most = 0
        for parent in parents:
            wide = prod(widths(schema[parent].size - 1, schema[node].size - 1))
            given = cells // (schema[parent].size * schema[node].size)
            most = max(most, bytes_needed(given, wide, MOST, cells, released))
        return most

    def _association(self, node: str, parent: str, given: Sequence[str]) -> Association:
        key = (node, parent, frozenset(given))
        if key not in self._found:
            self._found[key] = association(self.source, parent, node, self.ordered(given))
            if not given:  # the same table tells of both directions
                self._found[parent, node, frozenset()] = self._found[key]
        return self._found[key]


SCORES = ("wald", "bic", "bayes", "bdeu")


def make_score(
    name: str, source: Evidence, eta: float = 1.0, penalty: float = 1.0, memory: float | None = None
) -> StructureScore:
    """A score by its name; ``memory`` is in bytes: all of it for the test of a pair, half for that of a larger set."""
    out: StructureScore
    if name == "wald":
        out = Wald(source)
    elif name == "bic":
        out = Bic(source, penalty)
    else:
        out = Bayes(source, eta, "k2" if name == "bayes" else "bdeu")
    if memory is not None:
        out.memory = memory
    return out
