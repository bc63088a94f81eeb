"""Numeric attributes released with additive noise: from owner to density."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, SfumatoError

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
SCHEMA = sf.Schema({"age": sf.Numeric(0, 10, bins=10), "sex": sf.Categorical(("F", "M"))})


def scheme(noise: object = None) -> sf.Scheme:
    return sf.Scheme(SCHEMA, {"age": noise or c.uniform(1), "sex": c.binary(0.2, 0.2)})


def table(n: int = 4000) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {"id": np.arange(n), "age": rng.triangular(2, 5, 8, n), "sex": rng.choice(["F", "M"], n)}


def test_noise_warns_and_has_infinite_gamma() -> None:
    with pytest.warns(DisclosureWarning, match="'age' is released with additive noise, whose gamma is infinite"):
        made = scheme()
    assert made.gamma == np.inf
    assert made.columns == ("sex", "age")
    assert sf.Scheme.from_json(made.to_json()) == made
    assert scheme(c.gaussian(2)).fingerprint != made.fingerprint


@pytest.mark.parametrize("name", ["release.parquet", "release.csv"])
def test_released_numbers_are_values_plus_noise(tmp_path: Path, name: str) -> None:
    with pytest.warns(DisclosureWarning, match="keep their order"):
        release = sf.randomize(table(), scheme(), id="id", order="keep")
    again = sf.Release.load(release.save(tmp_path / name))
    released = again.arrow().column("age").to_numpy()
    added = released - table()["age"]
    assert np.abs(added).max() <= 1
    assert abs(added.std() - 1 / np.sqrt(3)) < 0.03
    np.testing.assert_array_equal(released, release.arrow().column("age").to_numpy())
    found = sf.evidence(again).density("age")
    assert abs(found.mean - table()["age"].mean()) < 0.1
    assert found.edges[0] >= 0
    assert sf.evidence(again, method="project").counts("sex").value.sum() == pytest.approx(4000)


def test_keyed_noise_repeats_itself() -> None:
    key, other = sf.new_key(), sf.new_key()
    one = sf.randomize(table(), scheme(c.laplace(1)), key=key, id="id").arrow()
    two = sf.randomize(table(), scheme(c.laplace(1)), key=key, id="id").arrow()
    assert one == two
    assert one.column("age") != sf.randomize(table(), scheme(c.laplace(1)), key=other, id="id").arrow().column("age")


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: rest_clear(SCHEMA, {"sex": c.uniform(1)}), "sex: additive noise needs a single numeric attribute"),
        (lambda: sf.Scheme(SCHEMA, {("age", "sex"): c.uniform(1)}), "single numeric attribute"),
        (
            lambda: sf.evidence(sf.randomize(table(), scheme())).counts("age"),
            "'age' is released as a number with additive noise",
        ),
        (
            lambda: sf.evidence(sf.randomize(table(), scheme())).density("sex"),
            "'sex' has no order, so that it has no density",
        ),
        (
            lambda: sf.randomize({**table(), "age": np.full(4000, 99.0)}, scheme()),
            "4,000 rows hold a number above the range",
        ),
        (lambda: sf.randomize({**table(), "age": np.full(4000, np.nan)}, scheme()), "4,000 rows are null"),
    ],
)
def test_bad_noise_gets_one_line(call: object, line: str) -> None:
    with pytest.raises(SfumatoError, match=line):
        call()
