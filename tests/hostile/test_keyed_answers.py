"""Attacks on keyed answers: two releases of one person, before and after a value changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.question import question

N = 20_000
SCHEMA = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1)), "c": sf.Categorical((0, 1))})


def waves(scheme: sf.Scheme, first: dict, second: dict) -> tuple[pa.Table, pa.Table]:
    """Both releases of the same people under one key, matched by pseudonym."""
    key, ids = sf.new_key(), np.arange(N)
    return tuple(
        sf.randomize({"id": ids, **true}, scheme, key=key, id="id").arrow().sort_by("id") for true in (first, second)
    )


def column(value: int) -> np.ndarray:
    return np.full(N, value)


def test_a_changed_value_is_an_independent_answer() -> None:
    """No then yes under gamma 3: each released pair is as likely as two independent answers make it.

    With one word for both values, (no, yes) came up in half of all pairs, and (yes, no) never: both values were certain.
    """
    scheme = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
    one, two = waves(scheme, {"a": column(0)}, {"a": column(1)})
    pairs = np.bincount(2 * one.column("a").to_numpy() + two.column("a").to_numpy(), minlength=4) / N
    law = np.outer([0.75, 0.25], [0.25, 0.75]).ravel()
    np.testing.assert_allclose(pairs, law, atol=6 * 0.5 / np.sqrt(N))


def test_the_odds_of_a_pair_stay_below_the_product_that_the_ledger_books() -> None:
    """Half of the people change from 0 to 1, half from 1 to 0: no released pair tells which, beyond gamma squared."""
    scheme = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
    up = waves(scheme, {"a": column(0)}, {"a": column(1)})
    down = waves(scheme, {"a": column(1)}, {"a": column(0)})
    counts = [np.bincount(2 * a.column("a").to_numpy() + b.column("a").to_numpy(), minlength=4) for a, b in (up, down)]
    odds = np.maximum(counts[0], counts[1]) / np.maximum(np.minimum(counts[0], counts[1]), 1)
    assert odds.max() < 9 * 1.25
    assert odds.max() > 9 / 1.25  # the negative control: the bound is reached, so a broken attack does not pass


@pytest.mark.parametrize(
    "channel",
    [c.mask(0.25), c.select_a_size([0.2, 0.3, 0.5], 0.3), c.symmetric((2, 2, 2), 0.4)],
    ids=["mask", "select_a_size", "symmetric"],
)
def test_one_changed_item_renews_the_whole_group(channel: c.Channel) -> None:
    """Two sets of items that differ in one: the answers about the other items are independent too."""
    scheme = sf.Scheme(SCHEMA, {("a", "b", "c"): channel})
    one, two = waves(
        scheme, {n: column(1) for n in "abc"}, {"a": column(0), "b": column(1), "c": column(1)}
    )  # b and c stay
    for name in "bc":
        first, second = one.column(name).to_numpy().astype(float), two.column(name).to_numpy().astype(float)
        assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(N)


def test_unchanged_values_repeat_their_answers() -> None:
    scheme = sf.Scheme(SCHEMA, {("a", "b"): c.mask(0.3), "c": c.binary(0.4, 0.4)})
    true = {name: np.arange(N) % (2 + i) % 2 for i, name in enumerate("abc")}
    one, two = waves(scheme, true, {**true, "c": 1 - true["c"]})
    assert one.select(["a", "b"]) == two.select(["a", "b"])
    assert one.column("c") != two.column("c")


def test_a_unit_or_a_spelling_gives_no_second_answer() -> None:
    plain = sf.Schema({"a": sf.Numeric(0, 10, bins=2), "b": sf.Categorical(("no", "yes"))})
    spelled = sf.Schema(
        {
            "a": sf.Numeric(0, 10, bins=2, unit="mg", clip=True),
            "b": sf.Categorical(("no", "yes"), spellings={"y": "yes"}),
        }
    )
    channels = {"a": c.binary(0.4, 0.4), "b": c.binary(0.4, 0.4)}
    one, two = sf.Scheme(plain, channels), sf.Scheme(spelled, channels)
    assert one == two
    for names in (("a",), ("b",)):
        assert question.__wrapped__(one, names) == question.__wrapped__(two, names)


def test_the_difference_of_two_noisy_values_is_not_their_difference() -> None:
    with pytest.warns(DisclosureWarning):
        scheme = sf.Scheme(sf.Schema({"x": sf.Numeric(-1, 1)}), {"x": c.gaussian(1.0)})
    one, two = waves(scheme, {"x": np.full(N, 0.25)}, {"x": np.full(N, 0.5)})
    moved = two.column("x").to_numpy() - one.column("x").to_numpy()
    assert abs(moved.std() - np.sqrt(2)) < 0.1
    with pytest.warns(DisclosureWarning):
        same = sf.Scheme(sf.Schema({"x": sf.Numeric(-1, 1)}), {"x": c.gaussian(1.0)})
    one, two = waves(same, {"x": np.full(N, 0.0)}, {"x": np.full(N, -0.0)})
    assert one == two


@pytest.mark.parametrize("keyed", [True, False])
def test_two_rows_of_one_person_are_refused(keyed: bool) -> None:
    scheme = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
    more = {"key": sf.new_key()} if keyed else {}
    with pytest.raises(
        SfumatoError, match="^2 ids occur more than once in the table; keep one row for each id, or .*round"
    ):
        sf.randomize({"id": ["u", "v", "u", "v", "u", "w"], "a": [0, 1, 1, 0, 0, 1]}, scheme, id="id", **more)
    with pytest.raises(SfumatoError, match="^1 id occurs more than once"), pytest.warns(DisclosureWarning):
        sf.randomize({"id": [1, 1, 2], "a": [0, 1, 1]}, scheme, id="id", order="keep", **more)


def test_keys_schemes_and_releases_of_version_1_are_refused_with_the_reason(tmp_path: Path) -> None:
    scheme = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
    with pytest.raises(SfumatoError, match="version 1, .*both values away when a value changed; make a new key"):
        sf.randomize({"id": [1], "a": [0]}, scheme, key=bytes(range(32)), id="id")
    with pytest.raises(SfumatoError, match="version 1, .*both values away when a value changed"):
        sf.Scheme.from_dict({**scheme.to_dict(), "version": 1})
    path = sf.randomize({"id": [1], "a": [0]}, scheme, id="id").save(tmp_path / "release.csv")
    beside = tmp_path / "release.csv.json"
    beside.write_text(json.dumps({**json.loads(beside.read_text()), "version": 1, "id": "id"}))
    with pytest.raises(SfumatoError, match="version 1: .*both values away .*ids stood in the clear; ask its owner"):
        sf.Release.load(path)


def test_a_key_file_of_version_1_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scheme = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
    Path("scheme.json").write_text(scheme.to_json())
    Path("raw.csv").write_text("id,a\n1,0\n2,1\n")
    Path("old.key").write_bytes(bytes(range(32)))
    line = "randomize raw.csv out.parquet --scheme scheme.json --id id --key-file"
    refused = run(f"{line} old.key")
    assert refused.code == 1
    assert "old.key is a key of version 1, whose answers gave both values away" in refused.error
    assert not Path("out.parquet").exists()
    assert run(f"{line} new.key").code == 0
    assert Path("new.key").read_bytes().startswith(sf.new_key()[:14])
    assert Path("new.key").stat().st_mode & 0o077 == 0
