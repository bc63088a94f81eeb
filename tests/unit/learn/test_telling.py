"""Rows that tell classes apart: few tables of noise have one, and a known pair is not hidden by an unknown class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.learn.telling import telling

TABLES = 600


@pytest.mark.parametrize(("rows", "classes"), [(60, 2), (60, 1), (40, 6)])
def test_at_most_one_table_of_noise_in_twenty_has_a_row_that_is_told(rows: int, classes: int) -> None:
    rng = np.random.default_rng(rows + classes)
    told, alone = 0, 0
    for _ in range(TABLES):
        sd = rng.uniform(0.01, 0.1, (rows, classes))
        values = (0.3 if classes > 1 else 0.0) + sd * rng.normal(size=(rows, classes))
        told += bool((telling(values, sd) > 0).any())
        alone += any(telling(values[i : i + 1], sd[i : i + 1])[0] > 0 for i in range(10))
    most = binom.ppf(1 - 1e-6, TABLES, 0.05)
    assert told <= most < alone  # the negative control: ten rows, each held against the limit of a row by itself


def test_the_least_known_class_hides_no_difference_of_the_others() -> None:
    values = np.array([[0.9, 0.6, 0.1], [0.9, 0.1, 0.1]])
    assert (telling(values, np.array([[0.5, 0.01, 0.01]] * 2)) > 0).tolist() == [True, False]
