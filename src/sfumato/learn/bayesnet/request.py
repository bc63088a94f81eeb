"""What is asked of a network, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from sfumato.errors import EstimationError
from sfumato.learn.arguments import real, whole
from sfumato.learn.bayesnet.scores import SCORES
from sfumato.learn.bayesnet.structure import check_order


class NetworkOptions(Protocol):
    """The parameters of a network, as they are checked."""

    criterion: str
    search: str
    parents: Mapping[str, Sequence[str]] | None
    order: Sequence[str] | None
    max_parents: int | None
    memory: float


def check_request(net: NetworkOptions) -> None:
    """Refuse parameters that contradict each other or lie out of range."""
    if net.criterion not in SCORES:
        raise EstimationError(f"score must be one of {', '.join(SCORES)}, got {net.criterion!r} instead")
    if net.search not in ("auto", "tree"):
        raise EstimationError(f"search must be auto or tree, got {net.search!r} instead")
    if net.parents is not None and (net.order is not None or net.search == "tree"):
        raise EstimationError("give parents, or how to search for them, and not both")
    if net.order is not None and net.search == "tree":
        raise EstimationError("a tree follows no order: give order, or search='tree', and not both")
    if net.order is not None:
        check_order(net.order)
    if net.max_parents is not None:
        whole("max_parents", net.max_parents, 0)
    if not real("memory", net.memory) > 0:
        raise EstimationError(f"memory must be a positive number of gigabytes, got {net.memory} instead")


def known(nodes: Sequence[str], parents: Collection[str]) -> Sequence[str]:
    """The nodes, if the structure has them all."""
    for node in nodes:
        if node not in parents:
            raise EstimationError(f"the structure has no node {node!r}; it has {', '.join(parents)}")
    return nodes
