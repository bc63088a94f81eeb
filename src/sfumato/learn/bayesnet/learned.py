"""A network that has been learned, as those see it who ask, draw or export it."""

from __future__ import annotations

from typing import Protocol

from sfumato.learn.bayesnet.edges import Edge
from sfumato.learn.bayesnet.parameters import CPT
from sfumato.learn.bayesnet.structure import Parents
from sfumato.schema import Schema


class LearnedNetwork(Protocol):
    """Attributes, links and tables."""

    schema_: Schema
    parents_: Parents
    cpts_: dict[str, CPT]
    edges_: tuple[Edge, ...]

    def cpt(self, node: str) -> CPT:
        """The table of one node, or one clear line."""
