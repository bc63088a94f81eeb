"""Numbers under additive noise as fine cells: smooth functions of them are told, and hardly moved."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError
from sfumato.evidence.fine_cells import FineCells

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
SCHEMA = sf.Schema({"x": sf.Numeric(0, 10, bins=5), "g": sf.Categorical(("a", "b"))})


def release(noise: object, n: int, seed: int) -> tuple[sf.Release, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = 10 * rng.beta(2, 3, n)
    scheme = sf.Scheme(SCHEMA, {"x": noise, "g": c.symmetric(2, 0.1)})
    table = {"x": x, "g": np.where(rng.random(n) < 0.5, "a", "b")}
    return sf.randomize(table, scheme, rng=sf.experiment(seed)), x


@pytest.mark.parametrize("noise", [c.gaussian(2), c.laplace(1.5), c.uniform(4)])
def test_a_smooth_curve_is_told_without_bias_and_the_released_numbers_do_not_tell_it(noise: object) -> None:
    def curve(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-1.5 * (x - 6)))

    apart, naive = [], []
    for seed in range(20):
        found, x = release(noise, 4000, seed)
        fine = FineCells(sf.evidence(found), ["x"])
        (part,) = fine.records(["x"])
        middles = (np.arange(64) + 0.5) / 6.4
        h = part.blocks[0].A.T @ curve(middles)
        told = h[part.codes["x"]]  # type: ignore[index]
        apart.append((told.mean() - curve(x).mean()) / (told.std() / np.sqrt(len(x))))
        naive.append((curve(found.arrow().column("x").to_numpy()).mean() - curve(x).mean()) / 0.5 * np.sqrt(len(x)))
    assert abs(np.mean(apart)) < 5 / np.sqrt(20)
    assert abs(np.mean(naive)) > 2


def test_parts_that_carry_noise_and_parts_that_carry_codes_are_told_together() -> None:
    noisy, _ = release(c.gaussian(2), 3000, 1)
    rng = np.random.default_rng(2)
    x = 10 * rng.beta(2, 3, 3000)
    coded = sf.Scheme(SCHEMA, {"x": c.windows(5, 9), "g": c.symmetric(2, 0.1)})
    other = sf.randomize({"x": x, "g": np.where(x < 4, "a", "b")}, coded, rng=sf.experiment(1))
    fine = FineCells(sf.evidence(sf.Release.concat([noisy, other])), ["x", "g"])
    middles = (np.arange(64) + 0.5) / 6.4
    for part in fine.records(["x"]):
        h = part.blocks[-1].A.T @ middles
        told = h[part.codes[part.blocks[-1].columns[0]]]  # type: ignore[index]
        assert abs(told.mean() - 4) < 5 * told.std() / np.sqrt(3000) + 0.1


def test_a_number_randomized_together_with_others_elsewhere_is_refused() -> None:
    noisy, x = release(c.gaussian(2), 100, 1)
    grouped = sf.Scheme(SCHEMA, {("x", "g"): c.symmetric((5, 2), 0.3)})
    other = sf.randomize({"x": x, "g": np.where(x < 4, "a", "b")}, grouped, rng=sf.experiment(1))
    with pytest.raises(EstimationError, match="together with others in another"):
        FineCells(sf.evidence(sf.Release.concat([noisy, other])), ["x", "g"])
