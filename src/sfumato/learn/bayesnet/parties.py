"""Who must send what, when the columns of a table lie with several parties and there is no data miner.

Each party learns the nodes it holds from its own raw columns joined with what others release of their cross parents,
and shares the probabilities; ``BayesianNetwork.fit(evidence, nodes=...)`` and ``merge`` do the rest. With a data miner
nothing here is needed: the parties' releases are joined and fitted as one. Ma (2006) section 5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.errors import EstimationError
from sfumato.learn.bayesnet.parameters import CPT
from sfumato.learn.bayesnet.structure import Parents, check_parents
from sfumato.schema import Schema

Held = Mapping[str, Sequence[str]]


def cross_variables(parents: Mapping[str, Sequence[str]], held: Held) -> dict[str, tuple[str, ...]]:
    """The nodes of each party that have a parent elsewhere.

    >>> cross_variables({"a": [], "b": ["a"], "c": ["b"]}, {"north": ["a"], "south": ["b", "c"]})
    {'north': (), 'south': ('b',)}
    """
    owner = _owners(parents, held)
    return {
        party: tuple(node for node in nodes if any(owner[parent] != party for parent in parents[node]))
        for party, nodes in held.items()
    }


def cross_parents(parents: Mapping[str, Sequence[str]], held: Held) -> dict[tuple[str, str], tuple[str, ...]]:
    """What each party releases to each other one: its variables that are parents of the other's nodes.

    >>> cross_parents({"a": [], "b": ["a"], "c": ["b"]}, {"north": ["a"], "south": ["b", "c"]})
    {('north', 'south'): ('a',)}
    """
    _owners(parents, held)
    out: dict[tuple[str, str], tuple[str, ...]] = {}
    for receiver, nodes in held.items():
        needed = {parent for node in nodes for parent in parents[node]}
        for sender, theirs in held.items():
            sent = tuple(name for name in theirs if name in needed)
            if sender != receiver and sent:
                out[sender, receiver] = sent
    return out


def merge_probabilities(parties: Sequence[Mapping[str, CPT]]) -> tuple[Schema, Parents, dict[str, CPT]]:
    """The probabilities that each party learned, as those of one network."""
    if not parties:
        raise EstimationError("merge needs at least one network")
    cpts: dict[str, CPT] = {}
    for own in parties:
        for node, cpt in own.items():
            if node in cpts:
                raise EstimationError(f"two parties give the probabilities of {node!r}; only one can")
            cpts[node] = cpt
    parents = check_parents({node: cpt.parents for node, cpt in cpts.items()}, list(cpts))
    domains = {name: domain for cpt in cpts.values() for name, domain in cpt.schema.items()}
    for cpt in cpts.values():
        for name, domain in cpt.schema.items():
            if domains[name] != domain:
                raise EstimationError(f"the parties disagree on the values of {name!r}")
    return Schema({node: domains[node] for node in cpts}), parents, cpts


def _owners(parents: Mapping[str, Sequence[str]], held: Held) -> dict[str, str]:
    check_parents(parents, list(parents))
    out: dict[str, str] = {}
    for party, nodes in held.items():
        for node in nodes:
            if node in out:
                raise EstimationError(f"{node!r} is held by {out[node]} and by {party}; one of them must learn it")
            if node not in parents:
                raise EstimationError(f"{party} holds {node!r}, which is not in the structure")
            out[node] = party
    missing = [node for node in parents if node not in out]
    if missing:
        raise EstimationError(f"no party holds {missing[0]!r}")
    return out
