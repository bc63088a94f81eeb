"""Attacks refuse what would make their figures mean nothing: codes for numbers, members for strangers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.attacks import membership
from sfumato.assess.attacks.membership import _members_among, _unlike
from sfumato.errors import SfumatoError

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("name", ["spectral", "pca", "bayes_estimate"])
def test_codes_are_not_taken_for_noisy_numbers(tmp_path: Path, name: str) -> None:
    schema = sf.Schema({name: sf.Numeric(0, 100, bins=10) for name in ("a", "b", "d")})
    table = {name: RNG.uniform(0, 100, 200) for name in schema}
    sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=0).save(tmp_path / "codes.parquet")
    found = run(f"attack {name} {tmp_path}/codes.parquet --noise gaussian:5")
    assert (
        found.code == 1 and "the release has no additive noise" in found.error and "bayes --attribute a" in found.error
    )


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_of_a_release_the_columns_with_noise_are_attacked(tmp_path: Path) -> None:
    schema = sf.Schema({**{x: sf.Numeric(0, 100, bins=10) for x in "abd"}, "kind": sf.Categorical(("x", "y"))})
    noisy = sf.Scheme(schema, {**{x: c.gaussian(sd=5) for x in "abd"}, "kind": c.symmetric(2, gamma=3)})
    table = {x: RNG.uniform(0, 100, 200) for x in "abd"} | {"kind": ["x", "y"] * 100}
    sf.randomize(table, noisy, rng=0, order="keep").save(tmp_path / "noisy.parquet")
    lines = [f"{k},{','.join(f'{table[x][i]:.6f}' for x in 'abd')}" for i, k in enumerate(table["kind"])]
    (tmp_path / "raw.csv").write_text("\n".join(["kind,a,b,d", *lines]))
    found = run(f"attack spectral {tmp_path}/noisy.parquet --noise gaussian:5 --truth {tmp_path}/raw.csv")
    assert found.code == 0, found.error


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
@pytest.mark.parametrize("attack", ["spectral", "pca", "bayes_estimate"])
def test_a_release_tells_the_noise_of_each_column(tmp_path: Path, attack: str) -> None:
    """Two columns that follow one another, the second with ten times the noise: one noise for both leaves it as it is."""
    noise = {"a": c.gaussian(sd=2), "b": c.laplace(scale=20 / np.sqrt(2))}
    schema = sf.Schema({x: sf.Numeric(0, 100, bins=10) for x in noise})
    own = RNG.uniform(10, 90, 3000)
    table = {"a": own, "b": 100 - own}
    made = sf.randomize(table, sf.Scheme(schema, noise), rng=sf.experiment(1), order="keep")
    made.save(tmp_path / "noisy.parquet")
    lines = [f"{a:.6f},{b:.6f}" for a, b in zip(*table.values(), strict=True)]
    (tmp_path / "raw.csv").write_text("\n".join(["a,b", *lines]))
    found = run(f"attack {attack} {tmp_path}/noisy.parquet --truth {tmp_path}/raw.csv --json")
    assert found.code == 0, found.error
    told = json.loads(found.out)
    assert told["naive"] == pytest.approx(np.sqrt((2**2 + 20**2) / 2), rel=0.05)
    assert told["error"] < 0.3 * told["naive"], "the column with little noise tells the other"
    with pytest.raises(SfumatoError, match="noise must be one for all columns or a list of 2, got 3"):
        getattr(sf.attacks, attack)(np.ones((5, 2)), [1, 2, 3])


def test_strangers_who_are_members_are_refused() -> None:
    X = RNG.normal(size=(60, 3))
    with pytest.raises(SfumatoError, match="100 % of the strangers are rows of the members"):
        membership(X, X, X, lambda A, y, rng: A, shadows=8)


def test_some_members_among_the_strangers_are_told_of() -> None:
    X = RNG.normal(size=(80, 3))
    found = membership(X[:40], X[30:], X[:40], lambda A, y, rng: A, shadows=8, rng=0)
    assert found.details["strangers"].startswith("20 % of them are rows of the members")


def test_strangers_from_elsewhere_are_told_of() -> None:
    """An attack that tells regions apart says nothing of who was in the table."""
    X = RNG.normal(size=(200, 3))
    X[100:, 1] += 1
    found = membership(X[:100], X[100:], X[:100] + 5, lambda A, y, rng: A, shadows=8, rng=0)
    assert "differ by more than chance in 1 of 4 columns" in found.details["condition"]


@pytest.mark.parametrize("seed", range(20))
def test_strangers_from_the_same_table_are_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inside, outside = rng.normal(size=(60, 5)), rng.integers(0, 3, (80, 5)) - 1.0
    X = rng.permutation(np.vstack([inside, outside]))
    assert _unlike(X[:60], X[60:]) == 0


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_chance_repeats_are_no_members(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inside, outside = rng.integers(0, 6, (300, 2)).astype(float), rng.integers(0, 6, (200, 2)).astype(float)
    assert _members_among(inside, outside) < 0.1
    assert _members_among(inside, outside + 0.5) == 0


def test_attributes_that_are_not_randomized_together_are_attacked_one_by_one() -> None:
    """They were said to be randomized together with others, in a group of the first one alone."""
    schema = sf.Schema({name: sf.Categorical(("x", "y", "z")) for name in "ab"})
    release = sf.randomize({name: ["x", "y", "z"] * 20 for name in "ab"}, sf.Scheme.for_gamma(schema, 9), rng=0)
    with pytest.raises(SfumatoError, match="'a' and 'b' are not randomized together: attack each by itself"):
        sf.attacks.bayes(release, attribute=("a", "b"))
    grouped = sf.Scheme(schema, {("a", "b"): c.symmetric((3, 3), gamma=9)})
    release = sf.randomize({name: ["x", "y", "z"] * 20 for name in "ab"}, grouped, rng=0)
    assert sf.attacks.bayes(release, attribute=("a", "b")).error < 1
    with pytest.raises(SfumatoError, match=r"attack the whole group, a\+b"):
        sf.attacks.bayes(release, attribute="a")
    shares = np.full(9, 1 / 9)
    for of in (release, grouped):
        named = [sf.attacks.bayes(of, prior=shares, attribute=name).error for name in ("a+b", ("a", "b"))]
        assert named[0] == named[1] == pytest.approx(sf.attacks.repeated(of, 1, shares, attribute="a+b").error)
