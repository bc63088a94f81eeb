"""The Bayesian network: learned from evidence, and then a model to ask, draw, sample and hand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError, UnrecoverableWarning, warn
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import as_evidence, told_together
from sfumato.input_checks import check_progress
from sfumato.learn.arguments import real, whole
from sfumato.learn.base import Parameters
from sfumato.learn.bayesnet import inference
from sfumato.learn.bayesnet.bif import read_bif
from sfumato.learn.bayesnet.bif_writer import write_bif
from sfumato.learn.bayesnet.edges import Edge, edge_rows, tested_edges
from sfumato.learn.bayesnet.parameters import CPT, Prior, fit_cpt, given_cpt
from sfumato.learn.bayesnet.parties import merge_probabilities
from sfumato.learn.bayesnet.pgmpy_model import from_pgmpy, to_pgmpy
from sfumato.learn.bayesnet.plot import plot
from sfumato.learn.bayesnet.request import check_request, known
from sfumato.learn.bayesnet.scores import make_score
from sfumato.learn.bayesnet.search import Progress, find
from sfumato.learn.bayesnet.structure import Parents, check_order, check_parents, read_text
from sfumato.pages.display import MOST, html_table, text_table
from sfumato.printable import many
from sfumato.schema import Schema
from sfumato.threads import one_thread
from sfumato.writing.whole_files import replacing


class BayesianNetwork(Parameters):
    """A Bayesian network over categorical attributes, learned from counts with their uncertainty.

    With ``parents`` only the probabilities are learned. With ``order`` (attributes it leaves out follow) the structure
    is searched by K2 among the attributes before each one, without it by a hill-climb, or as a tree with
    ``search="tree"``; ``max_parents`` must fit, without it a node has up to 3 as far as the tables fit. ``score`` is
    "wald" (no constant to choose), "bic" (with ``penalty``, C*), "bayes" or "bdeu" (with ``eta``). ``prior`` is "ml",
    "k2", "bdeu", a number of records, or Dirichlet weights by node. Ma (2006) chapter 5.

    ``memory`` is what the search may use, in gigabytes: sets of parents whose tests would take more are left out, and
    counted in a warning. ``target`` is the attribute that ``predict`` tells unless it is asked for another one.

    >>> from sfumato import Categorical, Schema, evidence
    >>> rows = {"a": [0, 0, 1, 1] * 50, "b": [0, 0, 1, 0] * 50}
    >>> ev = evidence(rows, Schema({name: Categorical((0, 1)) for name in "ab"}))
    >>> net = BayesianNetwork(order=["a", "b"]).fit(ev)
    >>> net.parents_["b"], net.cpt("b").values.tolist()
    (('a',), [[1.0, 0.0], [0.5, 0.5]])
    """

    schema_: Schema
    parents_: Parents
    cpts_: dict[str, CPT]
    edges_: tuple[Edge, ...]
    unsupported_: dict[str, int]  # node -> how many of its parent configurations no record is estimated to hold
    target_: str | None = None

    _kept_as: ClassVar[Mapping[str, str]] = {"score": "criterion"}  # the method has the name

    def __init__(
        self,
        parents: Mapping[str, Sequence[str]] | None = None,
        order: Sequence[str] | None = None,
        max_parents: int | None = None,
        score: str = "wald",
        *,
        search: str = "auto",
        prior: Prior = "ml",
        eta: float = 1.0,
        penalty: float = 1.0,
        memory: float = 1.0,
        target: str | None = None,
    ) -> None:
        self.parents, self.order, self.max_parents = parents, order, max_parents
        self.criterion, self.search, self.prior = score, search, prior
        self.eta, self.penalty, self.memory = eta, penalty, memory
        self.target = target
        check_request(self)

    # Learning.

    @one_thread()
    def fit(
        self,
        source: Any,
        target: Any = None,
        nodes: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> BayesianNetwork:
        """Learn from evidence or a release; ``target`` names what ``predict`` tells (or give it to the constructor).

        ``nodes`` restricts the probabilities to those a party can see (see ``merge``). In a scikit-learn pipeline the
        second argument is y: it is ignored.
        """
        check_request(self)
        evidence = as_evidence(source)
        check_progress(EstimationError, progress)
        names = evidence.schema.names
        self.target_ = target if isinstance(target, str) else self.target
        if self.target_ is not None and self.target_ not in names:
            raise EstimationError(f"the target {self.target_!r} is not in the release; it has {', '.join(names)}")
        if nodes is not None and self.parents is None:
            raise EstimationError("nodes= needs the structure: give parents")
        score = make_score(self.criterion, evidence, self.eta, self.penalty, real("memory", self.memory) * 1e9)
        if self.parents is None:
            for name in names:
                evidence.released_cells([name])  # refuses a channel that tells nothing, naming the attribute
            order = None if self.order is None else check_order(self.order)
            most = None if self.max_parents is None else whole("max_parents", self.max_parents, 0)
            self.parents_ = find(score, order, most, self.search, progress)
        elif nodes is None:
            self.parents_ = check_parents(self.parents, names)
        else:
            everything = check_parents(self.parents, list(self.parents))
            self.parents_ = {node: everything[node] for node in known(nodes, everything)}
            for node, held in self.parents_.items():
                for name in (node, *held):
                    evidence.schema[name]
        if isinstance(self.prior, Mapping):
            known(list(self.prior), self.parents_ if self.parents is None else self.parents)
        self.schema_ = evidence.schema
        self.cpts_ = {}
        for node, held in self.parents_.items():
            score.check_size(node, held)
            family = (*held, node)
            self.cpts_[node] = fit_cpt(told_together(evidence, family).counts(family, quiet=True), self.prior)
            if progress is not None and self.parents is not None:
                progress(node)
        self.edges_ = tested_edges(score, self.parents_)
        self.unsupported_ = {n: int((~c.supported).sum()) for n, c in self.cpts_.items() if not c.supported.all()}
        self._warn()
        return self

    @classmethod
    def of(
        cls, schema: Schema, parents: Mapping[str, Sequence[str]], tables: Mapping[str, ArrayLike]
    ) -> BayesianNetwork:
        """A network whose probabilities are known: each table has an axis per parent, the node's own axis last."""
        net = cls(parents)
        net.schema_ = schema
        net.parents_ = check_parents(parents, schema.names)
        net.cpts_ = {node: given_cpt(node, held, schema, tables.get(node)) for node, held in net.parents_.items()}
        net.edges_, net.unsupported_ = (), {}
        return net

    @classmethod
    def merge(cls, networks: Sequence[BayesianNetwork]) -> BayesianNetwork:
        """One network from parties that each learned the probabilities of some nodes and share them."""
        for net in networks:
            net._fitted()
        schema, parents, cpts = merge_probabilities([net.cpts_ for net in networks])
        out = cls(parents)
        out.schema_, out.parents_, out.cpts_ = schema, parents, cpts
        out.edges_ = tuple(edge for net in networks for edge in net.edges_)
        out.unsupported_ = {node: many for net in networks for node, many in net.unsupported_.items()}
        return out

    # What was learned.

    def cpt(self, node: str) -> CPT:
        """Pr(node | its parents), with its uncertainty."""
        self._fitted()
        if not isinstance(node, str) or node not in self.cpts_:
            raise EstimationError(f"there is no node {node!r}; the network has {', '.join(self.cpts_)}")
        return self.cpts_[node]

    def marginal(self, names: Sequence[str]) -> Array:
        """The joint distribution of some attributes, exactly, with an axis each."""
        self._whole()
        return inference.marginal(self, names)

    def query(
        self, target: str | Sequence[str], given: Mapping[str, Any] | None = None, engine: str = "own"
    ) -> dict[Any, float]:
        """Pr(target | given values), exactly; ``engine="pgmpy"`` asks pgmpy's variable elimination instead."""
        self._whole()
        return inference.query(self, [target] if isinstance(target, str) else list(target), given or {}, engine)

    def predict(self, table: Any, target: str | None = None) -> NDArray[Any]:
        """The most probable value of one attribute in each row, given the others that matter for it."""
        self._whole()
        return inference.predict(self, table, self._asked(target))

    def predict_proba(self, table: Any, target: str | None = None) -> Array:
        """Pr(target | the row's other values), rows by values in the order of the schema (``classes_``)."""
        self._whole()
        return inference.predict_proba(self, table, self._asked(target))

    @property
    def classes_(self) -> NDArray[Any]:
        """The values of the target."""
        self._fitted()
        return self.schema_[self._asked(None)].label_array

    def log_likelihood(self, data: Any) -> float:
        """log Pr(rows) of a table of true values, or its estimate Σ N̂_ijk log θ_ijk from evidence."""
        self._whole()
        return inference.log_likelihood(self, data)

    def score(self, reference: Any) -> float:
        """The Kullback-Leibler distance from a reference network in nats, or the mean log-likelihood of a table."""
        self._whole()
        if isinstance(reference, BayesianNetwork):
            reference._whole()
            return inference.kl(reference, self)
        total = self.log_likelihood(reference)
        rows = reference.n if isinstance(reference, Evidence) else inference.count_rows(self, reference)
        if not rows:
            raise EstimationError("the table holds no rows: there is nothing to score")
        return total / rows

    def sample(self, n: int, rng: np.random.Generator | int | None = None) -> Any:
        """Synthetic rows that follow the network."""
        self._whole()
        return inference.sample(self, n, rng)

    # Passing it on.

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """A drawing of the network; ``cpts=True`` or a list of nodes adds their tables."""
        self._whole()
        return plot(self, path, **options)

    def to_bif(self, path: str | Path | None = None) -> str:
        """The network in the BIF format, also written to a file if one is named."""
        self._whole()
        text = write_bif(self.schema_, self.parents_, {node: cpt.values for node, cpt in self.cpts_.items()})
        if path is not None:
            with replacing(path, overwrite=True) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_bif(cls, source: str | Path) -> BayesianNetwork:
        """A network from a BIF file, or from its text."""
        named = isinstance(source, Path) or "\n" not in str(source)
        document = read_bif(read_text(source), str(source)) if named else read_bif(str(source))
        return cls.of(document.schema, document.parents, document.tables)

    def to_pgmpy(self) -> Any:
        """The same network as a pgmpy DiscreteBayesianNetwork."""
        self._whole()
        return to_pgmpy(self)

    @classmethod
    def from_pgmpy(cls, model: Any) -> BayesianNetwork:
        """A network from a pgmpy DiscreteBayesianNetwork."""
        return cls.of(*from_pgmpy(model))

    def __repr__(self) -> str:
        if not hasattr(self, "cpts_"):
            return f"{super().__repr__()}, not fitted"
        links = sum(len(held) for held in self.parents_.values())
        return f"BayesianNetwork({many(len(self.parents_), 'node')}, {many(links, 'link')})"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(*edge_rows(self.edges_))}" if hasattr(self, "cpts_") else repr(self)

    def _repr_html_(self) -> str:
        edges = self.edges_ if hasattr(self, "cpts_") else []
        header, rows = edge_rows(edges[:MOST])
        return html_table(repr(self), header, rows, len(edges) - len(rows))

    # Inside.

    def _asked(self, target: str | None) -> str:
        name = self.target_ if target is None else target
        if name is None:
            raise EstimationError("say what to predict: predict(table, target=...), or name the target in fit")
        return name

    def _warn(self) -> None:
        if self.unsupported_:
            said = ", ".join(f"{many} of {node}" for node, many in self.unsupported_.items())
            warn(
                f"no record is estimated to hold these parent configurations: {said}; "
                f"their probabilities are uniform, or the prior's, and say nothing",
                UnrecoverableWarning,
                stacklevel=3,
            )

    def _fitted(self) -> None:
        if not hasattr(self, "cpts_"):
            raise EstimationError("the network has learned nothing yet: call fit first")

    def _whole(self) -> None:
        """Fitted, and not only the nodes of one party."""
        self._fitted()
        missing = [name for name in self.schema_.names if name not in self.cpts_]
        if missing:
            raise EstimationError(f"the network holds no probabilities of {missing[0]!r}: merge it with the others'")
