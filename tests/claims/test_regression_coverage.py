"""Intervals of regression coefficients hold; those of a regression that ignores the randomization do not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.regression_coverage import settings, study, truth

import sfumato as sf
from sfumato import channels as c
from sfumato.learn import Regression

RUNS = 150
#: Below which 95 % intervals fall in 150 runs less than once in a million, for each of three coefficients.
LEAST = 0.84


@pytest.mark.parametrize(("family", "name"), [("logistic", "all, gamma 9"), ("gaussian", "two parts")])
def test_intervals_hold_the_coefficients_of_the_population(family: str, name: str) -> None:
    setting = next(one for one in settings() if (one.family, one.name) == (family, name))
    found = study(setting, RUNS, seed=77)
    assert found.refused == found.otherwise == 0
    assert (found.cover >= LEAST).all() and (np.abs(found.bias) < 5 / np.sqrt(RUNS)).all()
    assert (np.abs(np.log(found.ratio)) < 0.35).all()


def test_taking_released_values_for_true_ones_does_not() -> None:
    """The negative control."""
    setting = next(one for one in settings() if (one.family, one.name) == ("logistic", "all, gamma 9"))
    true, theta, names = truth(setting, ["x0", "x1"]), setting.population(), setting.schema.names
    clear = sf.Scheme(setting.schema, {name: c.identity(setting.schema[name].size) for name in names})
    rng, held = np.random.default_rng(3), []
    for _ in range(20):
        cells = np.unravel_index(rng.choice(len(theta), 3000, p=theta), (5, 2, 2))
        blurred = [
            setting.scheme(setting.schemes[0])[n].randomize(x, rng=rng) for n, x in zip(names, cells, strict=True)
        ]
        release = sf.Release(pa.table(dict(zip(names, blurred, strict=True))), clear)
        low, high = Regression("logistic").fit(release, target="y").interval()
        held.append((low <= true) & (true <= high))
    assert np.mean(held, axis=0).min() < 0.3
