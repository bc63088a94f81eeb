"""Attributes that are randomized together, as the report sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.channels.response import is_identity
from sfumato.printable import printable


@dataclass(frozen=True, eq=False)
class Unit:
    """Attributes that are randomized together, with all that is known about their channel."""

    names: tuple[str, ...]
    labels: tuple[str, ...]
    channel: Channel
    prior: Array | None
    prior_from: str  # where the prior comes from: see sfumato.assess.shares
    alike: int = 1  # how many further attributes are treated exactly the same
    ordered: bool = False
    nullable: bool = False
    n: int | None = None  # how many records answer; of forms, those that get this one
    measures: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The attribute's name, or those of a group."""
        shown = " + ".join(self.names) if len(self.names) <= 6 else f"{' + '.join(self.names[:5])} + ..."
        return printable(shown if self.alike == 1 else f"{shown} and {self.alike - 1} alike")

    @cached_property
    def identity(self) -> bool:
        """Whether every value is passed on as it is, and there is more than one."""
        return self.channel.k > 1 and is_identity(self.channel)

    @property
    def guarded(self) -> bool:
        """Whether there is something to tell, and it is randomized."""
        return self.channel.k > 1 and not self.identity
