"""What a resampling gives: the sanitized rows, with the proportions that travel and the risk that was measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Array, Index, Labels
from sfumato.errors import SfumatoError
from sfumato.membership import Method, Risk
from sfumato.owner.resample.description import describe, proportions
from sfumato.owner.resample.plan import Plan
from sfumato.owner.resample.proved import Guarantee
from sfumato.owner.resample.setting import Setting
from sfumato.printable import many
from sfumato.writing.described_file import DescribedFile

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Resampled:
    """Sanitized rows X with labels y, ready for any classifier; ``table()`` and ``save`` give them with names.

    ``centres`` names the record behind each row of the paper's kernel: it is for measuring disclosure at the owner
    and is never written. Rows of a model have none. ``plan`` is how the rows were made; it stays with the owner, too.
    """

    X: Array
    y: Labels | None
    site: Labels
    centres: Index | None
    names: tuple[str, ...]
    target: str | None
    plan: Plan
    place: str | None = None

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        sites = len(np.unique(self.site))
        rows = f"{many(len(self), 'row')} of {many(len(self.names), 'column')} at {many(sites, 'site')}"
        said = ""
        if self.worst is not None:
            said = f"; AUC {self.worst.auc:.3f} of {self.worst.asked:g}, {'held' if self.worst.held else 'NOT HELD'}"
        if self.guarantee is not None:
            said = f"; AUC at most {self.guarantee.auc:.3f}, proved"
        return f"Resampled({rows}; {self.method}{said})"

    @property
    def method(self) -> str:
        """How the rows were made, in words."""
        return self.plan.request.words

    @property
    def risk(self) -> dict[Any, Risk]:
        """For each site what was asked and what the shadow attack reached; empty without ``max_risk``."""
        return self.plan.risk

    @property
    def settings(self) -> dict[Any, Setting]:
        """The form of the model and the strength of its noise at each site; empty without ``max_risk``."""
        return self.plan.settings

    @property
    def guarantee(self) -> Guarantee | None:
        """What is proved, with ``epsilon``."""
        return self.plan.request.guarantee

    @property
    def worst(self) -> Risk | None:
        """The site that discloses most."""
        return max(self.risk.values(), key=lambda risk: (not risk.held, risk.auc), default=None)

    @property
    def again(self) -> Method:
        """The way in which these rows were made, as a function of records, labels and source: attackers repeat it."""
        places = list(dict.fromkeys(place for place, _ in self.plan.rows))
        if len(places) > 1:
            raise SfumatoError(f"{len(places)} sites released these rows, each by itself: attack them one by one")
        return self.plan.repeat(places[0])

    @property
    def proportions(self) -> list[dict[str, Any]]:
        """How many rows each class has at each site: this travels with the release, nothing of the density does."""
        several = self.place is not None or len({place for place, _ in self.plan.rows}) > 1
        return proportions(self.plan.rows, several)

    def table(self) -> pa.Table:
        """The rows as a table, columns named as they came; the site is a column where there are several."""
        import pyarrow as pa

        out = pa.table({name: self.X[:, i] for i, name in enumerate(self.names)})
        if self.y is not None:
            out = out.append_column(self.target or "y", pa.array(self.y.tolist()))
        if self.place is not None or len(np.unique(self.site)) > 1:
            out = out.append_column(self.place or "site", pa.array(self.site.tolist()))
        return out

    @property
    def description(self) -> dict[str, Any]:
        """What the release says of itself."""
        target = None if self.y is None else self.target or "y"
        return describe(self.plan, self.proportions, self.names, target)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write Parquet that carries its description, or CSV with the description in a JSON file beside it."""
        with DescribedFile(path, overwrite) as file:
            file.append(self.table())
            file.describe(self.description)
        return Path(path)
