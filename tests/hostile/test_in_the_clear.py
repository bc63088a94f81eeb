"""Nothing passes in the clear unsaid: every way in which raw values once left without anybody's word."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.errors import DisclosureWarning, ReleaseError, SchemeError
from sfumato.evidence.splits import folds
from sfumato.owner.resample import resample_file

c = sf.channels
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "grade": sf.Ordinal(("a", "b", "c"))})
TABLE = {"sex": ["F", "M"] * 200, "grade": ["a", "b", "c", "c"] * 100}
SCHEME = sf.Scheme(SCHEMA, {"sex": c.binary(0.25, 0.25), "grade": c.symmetric(3, 0.3)})


def test_an_attribute_without_a_channel_is_refused() -> None:
    with pytest.raises(SchemeError, match=r"'grade' has no channel: give it one, or say .* identity\(3\)"):
        sf.Scheme(SCHEMA, {"sex": c.binary(0.25, 0.25)})
    with pytest.raises(SchemeError, match=r"'sex' has no channel \(nor has another\)"):
        sf.Scheme(SCHEMA)


def test_clear_names_attributes_not_letters() -> None:
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1))})
    with pytest.raises(SchemeError, match=r"clear takes a list of attributes: clear=\['ab'\]"):
        sf.Scheme(schema, clear="ab")


def test_a_scheme_document_that_leaves_an_attribute_out_is_refused() -> None:
    document = SCHEME.to_dict()
    document["channels"] = [entry for entry in document["channels"] if entry["attributes"] != ["grade"]]
    with pytest.raises(SchemeError, match="'grade' has no channel"):
        sf.Scheme.from_json(json.dumps(document))


def test_the_transformer_randomizes() -> None:
    release = sf.Randomizer(SCHEME).fit(TABLE).transform(TABLE)
    assert isinstance(release, sf.Release)
    assert release.decode()["sex"].to_pylist() != TABLE["sex"]


def test_raw_rows_are_not_written_unasked(tmp_path: Path) -> None:
    table = {**TABLE, "id": list(range(400))}
    raw = sf.Release.raw(table, SCHEMA, id="id")
    halves = sf.learn.hold_out(raw, rng=1)
    for release in (raw, raw.select(["sex"]), sf.Release.concat([raw, raw]), *halves, *folds(raw, 2)):
        with pytest.raises(ReleaseError, match="raw records"):
            release.save(tmp_path / "raw.parquet")
    assert not list(tmp_path.iterdir())
    raw.save(tmp_path / "raw.parquet", clear=True)
    sf.randomize(TABLE, SCHEME).save(tmp_path / "release.parquet")  # no word is needed where all was randomized
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("first", ["raw", "released"])
def test_what_is_joined_from_raw_rows_is_not_written_unasked(tmp_path: Path, first: str) -> None:
    table, link = {**TABLE, "id": list(range(400))}, sf.new_link_key()
    raw = sf.Release.raw(table, SCHEMA, id="id", link_key=link).select(["sex"])
    released = sf.randomize(table, SCHEME, id="id", link_key=link).select(["grade"])
    joined = raw.join(released) if first == "raw" else released.join(raw)
    assert len(joined) == 400
    with pytest.raises(ReleaseError, match="raw records"):
        joined.save(tmp_path / "joined.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["raw.parquet", "raw.csv"])
def test_raw_rows_are_known_as_such_in_a_file(tmp_path: Path, name: str) -> None:
    """Written once with a word for it, they are not passed on without one."""
    table = {**TABLE, "id": list(range(400))}
    sf.Release.raw(table, SCHEMA, id="id").save(tmp_path / name, clear=True)
    again = sf.Release.load(tmp_path / name)
    both = sf.Release.concat([again, again]).save(tmp_path / f"two-{name}", clear=True)
    for release in (again, again.select(["sex"]), sf.Release.load(both)):
        with pytest.raises(ReleaseError, match="raw records"):
            release.save(tmp_path / "copy.parquet")
    line = f"concat {tmp_path / name} {both} -o {tmp_path / 'all.parquet'}"
    assert "--clear" in run(line).error
    run(f"{line} --clear")
    assert sf.Release.load(tmp_path / "all.parquet").parts[0].raw


@pytest.mark.parametrize("rng", [7, np.int64(7), np.random.default_rng(7)])
def test_predictable_answers_are_warned_of(rng: object) -> None:
    with pytest.warns(DisclosureWarning, match="predictable answers"):
        sf.randomize(TABLE, SCHEME, rng=rng)  # type: ignore[arg-type]


@pytest.mark.parametrize("rng", [7, np.random.default_rng(7)])
def test_noise_that_can_be_repeated_holds_no_bound(rng: object, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(DisclosureWarning, match="for whoever knows or guesses it the bound does not hold"):
        sf.resample(X, epsilon=1, ranges=(-4, 4), rng=rng)
    with pytest.warns(DisclosureWarning, match="write rng=sf.experiment"):
        resample_file({"a": X[:, 0]}, tmp_path / "r.parquet", epsilon=1, ranges=(-4, 4), rng=rng)
    sf.resample(X, epsilon=1, ranges=(-4, 4), rng=sf.experiment(7))
    sf.resample(X, rng=rng)  # which promises nothing


def test_experiments_and_secure_answers_are_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, same = (sf.randomize(TABLE, SCHEME, rng=sf.experiment(7)).arrow() for _ in range(2))
        fresh = sf.randomize(TABLE, SCHEME).arrow()
    assert one.equals(same) and not one.equals(fresh)


def test_a_selection_keeps_what_is_known_of_the_rows(tmp_path: Path) -> None:
    table = {**TABLE, "id": list(range(400))}
    with pytest.warns(DisclosureWarning, match="keep their order"):
        release = sf.randomize(table, SCHEME, id="id", link_key=sf.new_link_key(), order="keep")
    some = release.select(["sex"])
    assert (some.id_kind, some.order) == (release.id_kind, release.order) == ("pseudonym", "kept")
    other = sf.randomize(table, SCHEME, id="id", link_key=sf.new_link_key()).select(["grade"])
    with pytest.raises(ReleaseError, match="different keys"):
        some.join(other)
    path = release.save(tmp_path / "release.parquet")
    loaded = sf.Release.load(path)
    sf.randomize(table, SCHEME).save(path, overwrite=True)
    with pytest.raises(ReleaseError, match="replaced or changed"):
        loaded.select(["sex"]).arrow()
