"""What is asked of a resampling, checked once: the paper's kernel, a bound on measured risk, or a proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.input_checks import check_flags, given
from sfumato.owner.resample.calibrate import check_bounds
from sfumato.owner.resample.paper import kernel_words
from sfumato.owner.resample.proved import Guarantee
from sfumato.randomness import warn_of_seed

#: Rows drawn for each record where a model is released, and up to how many rows: more cost less accuracy at equal risk.
ROWS_PER_RECORD, MOST_ROWS = 4, 20_000

#: The site and the class of a group; the class is None where classes are pooled.
Key = tuple[Any, Any]


@dataclass(frozen=True)
class Request:
    """One of three ways: ``bounds`` on measured risk, a ``guarantee``, or neither: the paper's kernel."""

    multiplier: float
    shrink: bool
    per_class: bool
    bounds: tuple[float, float] | None
    guarantee: Guarantee | None
    ranges: Any

    @classmethod
    def check(
        cls,
        bandwidth: str | float,
        shrink: bool,
        per_class: bool,
        max_risk: float | None,
        max_outlier_risk: float | None,
        epsilon: float | None,
        delta: float | None,
        ranges: Any,
    ) -> Request:
        """Refuse what does not go together."""
        check_flags(SfumatoError, shrink=shrink, per_class=per_class)
        strange = isinstance(bandwidth, bool) or not isinstance(bandwidth, int | float | np.integer | np.floating)
        scott = isinstance(bandwidth, str) and bandwidth == "scott"
        if not scott and (strange or not 0 < float(bandwidth) < np.inf):
            raise SfumatoError(
                f'bandwidth must be "scott" or a positive multiple of it, got {given(bandwidth)} instead'
            )
        if max_risk is not None and epsilon is not None:
            raise SfumatoError("max_risk holds a measured bound, epsilon a proved one: give one of them")
        if max_risk is None and max_outlier_risk is not None:
            raise SfumatoError("max_outlier_risk goes with max_risk, the bound for all records: give both")
        if epsilon is None and (delta is not None or ranges is not None):
            raise SfumatoError("delta and ranges go with epsilon, the mode with a proof: give epsilon as well")
        asked = "max_risk" if max_risk is not None else "epsilon" if epsilon is not None else None
        if asked and (not scott or shrink):
            raise SfumatoError(f"{asked} draws from a model, not around records: leave bandwidth and shrink out")
        if asked and not per_class:
            raise SfumatoError(f"{asked} keeps classes apart: with few rows of a class, pool sites instead")
        return cls(
            1.0 if scott else float(bandwidth),
            shrink,
            per_class,
            None if max_risk is None else check_bounds(max_risk, max_outlier_risk),
            None if epsilon is None else Guarantee.of(epsilon, 1e-4 if delta is None else delta),
            ranges,
        )

    def warn_of_seed(self, rng: object) -> None:
        """A bound that noise holds is none for whoever can repeat the noise."""
        if self.modelled:
            warn_of_seed(rng, "noise: for whoever knows or guesses it the bound does not hold", stacklevel=4)

    @property
    def modelled(self) -> bool:
        """Whether rows are drawn from a model of the class, and none around a record."""
        return self.bounds is not None or self.guarantee is not None

    @property
    def words(self) -> str:
        """What a release says of its method."""
        if self.guarantee is not None:
            return f"noisy normal model, proved (epsilon {self.guarantee.epsilon:g}, delta {self.guarantee.delta:g})"
        return "blurred normal model" if self.bounds is not None else kernel_words(self.multiplier, self.shrink)

    def quotas(self, sizes: Mapping[Key, int], rows: int | Mapping[Any, int] | None) -> dict[Key, int]:
        """Released rows of each group, from the number for all or the numbers for each site."""
        if not isinstance(rows, Mapping):
            return _quota(sizes, self._usual(sum(sizes.values())) if rows is None else rows)
        places = list(dict.fromkeys(place for place, _ in sizes))
        if set(rows) != set(places):
            raise SfumatoError(
                f"rows must name every site ({', '.join(map(str, places))}), got {', '.join(map(str, rows))}"
            )
        out: dict[Key, int] = {}
        for place in places:
            out |= _quota({key: n for key, n in sizes.items() if key[0] == place}, rows[place])
        return out

    def _usual(self, n: int) -> int:
        return max(n, min(ROWS_PER_RECORD * n, MOST_ROWS)) if self.modelled else n


def _quota(sizes: Mapping[Key, int], rows: int) -> dict[Key, int]:
    """In proportion to the records; every group keeps at least one."""
    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or rows < len(sizes):
        raise SfumatoError(
            f"rows must be a whole number, at least one for each of the {len(sizes)} groups, got {rows!r}"
        )
    share = np.array(list(sizes.values())) * (rows / sum(sizes.values()))
    out = np.maximum(np.floor(share + 1e-9).astype(int), 1)
    for group in np.argsort(out - share)[: max(int(rows) - int(out.sum()), 0)]:
        out[group] += 1
    return {key: int(n) for key, n in zip(sizes, out, strict=True)}
