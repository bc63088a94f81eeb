"""AA01 Fig. 7: privacy loss against the standard deviation of the noise, four pairs; exact, no simulation."""

from __future__ import annotations

from sfumato.assess.continuous import privacy_loss
from sfumato.papers.aa01 import NOISE_SDS, PAIRS, noise_of


def curves() -> dict[str, list[float]]:
    """1 - 2^-I for each pair along NOISE_SDS."""
    return {name: [privacy_loss(x, noise_of(kind, sd)) for sd in NOISE_SDS] for name, x, kind in PAIRS}


def report(seeds: int = 0) -> str:
    """The paper's curves fall with the noise, as here; its printed Example 1 (0.5796) should read 0.6106."""
    rows = ["AA01 Fig. 7: privacy loss (paper: falling curves, no numbers printed)"]
    rows.append(f"{'noise sd':29s}" + "".join(f"{sd:8.1f}" for sd in NOISE_SDS))
    rows += [f"{name:29s}" + "".join(f"{v:8.4f}" for v in values) for name, values in curves().items()]
    return "\n".join(rows)
