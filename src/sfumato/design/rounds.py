"""Channels for a study that asks the same people again and again, beside what a plain key would do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sfumato.assess.changes import changes
from sfumato.assess.precision import check_n, hardest_half_width
from sfumato.channels import Channel
from sfumato.channels.best import best_channel
from sfumato.channels.longitudinal import Longitudinal, lifetime_epsilon, longitudinal
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_kind, check_number
from sfumato.pages.display import text_table
from sfumato.schema import Schema
from sfumato.scheme import Scheme


@dataclass(frozen=True, eq=False)
class RoundsDesign:
    """A channel for each attribute, and the best one of the same gamma under a plain key for comparison."""

    scheme: Scheme
    keyed: Scheme
    n: int

    @property
    def lifetime(self) -> float:
        """The gamma of all rounds of one person, over all attributes."""
        return _exp(sum(lifetime_epsilon(group.channel) for group in self.scheme.groups))

    def rows(self) -> list[dict[str, Any]]:
        """Each attribute as plain numbers."""
        out = []
        for name in self.scheme.schema.names:
            channel, keyed = self.scheme[name], self.keyed[name]
            life = lifetime_epsilon(channel)
            out.append(
                {
                    "attribute": name,
                    "values": channel.k,
                    "classes": channel.classes if isinstance(channel, Longitudinal) else None,
                    "gamma": channel.gamma,
                    "lifetime": _exp(life),
                    "half_width": hardest_half_width(channel, self.n),
                    "changes_ever_seen": changes(channel).ever,
                    "keyed_half_width": hardest_half_width(keyed, self.n),
                    "keyed_changes_seen": changes(keyed).most,
                    "keyed_lifetime": _exp(lifetime_epsilon(keyed)),
                }
            )
        return out

    def explain(self) -> str:
        """The attributes in a table, and what the numbers mean."""
        heads = ["attribute", "values", "classes", "gamma", "lifetime", "± points", "changes seen"]
        heads += ["plain key: lifetime", "± points", "changes seen"]
        shown = [
            [
                row["attribute"],
                f"{row['values']:,}",
                "plain key" if row["classes"] is None else str(row["classes"]),
                f"{row['gamma']:.4g}",
                f"{row['lifetime']:.4g}",
                f"{100 * row['half_width']:.2g}",
                f"{100 * row['changes_ever_seen']:.0f} %",
                f"{row['keyed_lifetime']:.4g}",
                f"{100 * row['keyed_half_width']:.2g}",
                f"{100 * row['keyed_changes_seen']:.0f} %",
            ]
            for row in self.rows()
        ]
        return (
            f"{text_table(heads, shown)}\n"
            f"Points are those of the hardest share in one round of {self.n:,} records. All rounds of one person "
            f"together, under a key and however many they are: gamma {self.lifetime:.4g}. A plain key answers every "
            f"value of an attribute once, so few values need nothing else."
        )


def design_rounds(schema: Schema, n: int, gamma: float, lifetime: float) -> RoundsDesign:
    """A channel for every attribute: ``gamma`` bounds one round, ``lifetime`` all rounds of a person, under a key.

    Where an attribute has so few values that all of them together stay within ``lifetime``, the best channel does.
    """
    check_kind(SfumatoError, "schema", schema, Schema, "a Schema")
    gamma, lifetime = (check_number(SfumatoError, *one) for one in (("gamma", gamma), ("lifetime", lifetime)))
    check_n(n)
    for name, domain in schema.items():
        if domain.rounds:
            raise SfumatoError(f"{name!r} has points, which are rounded anew in each round: give it bins")
    keyed: dict[str | tuple[str, ...], Channel] = {}
    rounds: dict[str | tuple[str, ...], Channel] = {}
    for name, domain in schema.items():
        plain = keyed[name] = best_channel([name], domain, gamma)
        few = lifetime_epsilon(plain) <= math.log(lifetime) if lifetime > 0 else False
        rounds[name] = plain if few else longitudinal(plain.k, gamma, lifetime)
    return RoundsDesign(Scheme(schema, rounds), Scheme(schema, keyed), n)


def _exp(epsilon: float) -> float:
    return math.exp(epsilon) if epsilon < 700 else math.inf
