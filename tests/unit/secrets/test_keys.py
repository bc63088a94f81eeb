"""A key belongs to one study: used for another one it warns, and its secret stays what it was."""

from __future__ import annotations

import pytest

import sfumato as sf
from command_line import run
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.secrets.keys import answer_secret, is_key, link_secret

SCHEMA = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("x", "y"))})
ONE = sf.Scheme(SCHEMA.select(["a"]), {"a": c.binary(0.25, 0.25)})
OTHER = sf.Scheme(SCHEMA.select(["b"]), {"b": c.binary(0.25, 0.25)})
ROWS = {"id": [1, 2, 3], "a": ["x", "y", "x"], "b": ["x", "y", "x"]}


def test_a_bound_key_warns_in_another_study_and_not_in_its_own() -> None:
    key = sf.new_key(study=ONE)
    sf.randomize(ROWS, ONE, key=key, id="id")
    with pytest.warns(DisclosureWarning, match="the key was made for another study"):
        sf.randomize(ROWS, OTHER, key=key, id="id")


def test_a_name_binds_several_schemes() -> None:
    key = sf.new_key(study="health 2027")
    sf.randomize(ROWS, ONE, key=key, id="id", study="health 2027")
    sf.randomize(ROWS, OTHER, key=key, id="id", study=" health  2027")
    with pytest.warns(DisclosureWarning, match="another study"):
        sf.randomize(ROWS, OTHER, key=key, id="id", study="health 2028")


def test_a_key_that_is_bound_to_nothing_serves_any_study() -> None:
    key = sf.new_key()
    for scheme in (ONE, OTHER):
        sf.randomize(ROWS, scheme, key=key, id="id")


def test_the_secret_is_the_same_with_and_without_the_study() -> None:
    bound = sf.new_key(study="s")
    bare = bound[:46]
    assert is_key(bound) and is_key(bare) and answer_secret(bound) == answer_secret(bare) == link_secret(bound)
    with pytest.raises(
        SfumatoError, match="link_key must differ from key"
    ):  # a bound key is seen through as a link key
        sf.randomize(ROWS, ONE, key=bare, id="id", link_key=bound, study="s")


@pytest.mark.parametrize("tail", [b"\n", b"\nstudy 12\n", b"\nstudy " + b"g" * 64 + b"\n", b"x"])
def test_a_damaged_tail_is_no_key(tail: bytes) -> None:
    assert not is_key(sf.new_key() + tail)
    with pytest.raises(SfumatoError):
        answer_secret(sf.new_key() + tail)


@pytest.mark.parametrize("study", ["", "  ", 7, b"x"])
def test_a_study_is_a_name_or_a_scheme(study: object) -> None:
    with pytest.raises(SfumatoError, match="study must be a name, or a scheme"):
        sf.new_key(study=study)


def test_key_files_belong_to_the_study_they_were_made_for(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw.csv").write_text("id,a,b\n1,x,y\n2,y,x\n")
    for name, scheme in (("one", ONE), ("other", OTHER)):
        (tmp_path / f"{name}.json").write_text(scheme.to_json())
    line = "randomize raw.csv {}.parquet --scheme {}.json --id id --key-file {}"
    assert "another study" not in run(line.format("r1", "one", "k")).error
    assert "another study" not in run(line.format("r2", "one", "k")).error
    assert "the key was made for another study" in run(line.format("r3", "other", "k")).error
    named = line + " --study health"
    assert (
        "another study" not in run(named.format("r4", "one", "n")).error + run(named.format("r5", "other", "n")).error
    )
    assert "--study goes with --key-file" in run("randomize raw.csv r6.parquet --scheme one.json --study s").error
