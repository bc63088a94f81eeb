"""sfumato inspect: every attribute is listed, whatever its channel releases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_an_attribute_with_additive_noise_is_listed_like_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"age": sf.Numeric(0, 10, bins=10), "sex": sf.Categorical(("F", "M"))})
    scheme = sf.Scheme(schema, {"age": c.uniform(1), "sex": c.binary(0.2, 0.2)})
    table = {"age": np.linspace(1, 9, 50), "sex": ["F", "M"] * 25}
    sf.randomize(table, scheme).save("release.parquet")
    listed = json.loads(run("inspect release.parquet --json").out)["parts"][0]["attributes"]
    assert [(entry["names"], entry["values"]) for entry in listed] == [("sex", "2"), ("age", "numbers")]
    assert listed[1]["channel"] == "Uniform(half_width=1.0)"
    shown = run("inspect release.parquet --rows 2").out
    assert "Uniform(half_width=1.0)" in shown
    exported = run("export release.parquet words.csv")
    assert exported.code == 0, exported.error
    assert len((tmp_path / "words.csv").read_text().splitlines()) == 51


def test_answers_that_did_not_come_through_the_channel_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "vote": sf.Categorical(tuple("abcd"))})
    scheme = sf.Scheme.for_gamma(schema, gamma=3)
    rng = np.random.default_rng(1)
    table = {"sex": rng.choice(["F", "M"], 2000), "vote": rng.choice(list("abcd"), 2000)}
    honest = sf.randomize(table, scheme, rng=2)
    honest.save("honest.parquet")
    shown = run("inspect honest.parquet --fit")
    assert shown.code == 0 and "could have come through" in shown.out, shown.error
    rows = honest.arrow()
    place = rows.column_names.index("vote")
    false = rows.set_column(place, rows.field(place), pa.array([0] * 2000, rows.schema.field(place).type))
    sf.Release(false, scheme).save("false.parquet")
    shown = run("inspect false.parquet --fit")
    assert "vote can hardly have come through the channel" in shown.error and "sex can" not in shown.error
    tests = json.loads(run("inspect false.parquet --fit --json").out)["fit"]
    assert [(entry["names"], entry["p"] < 0.01) for entry in tests] == [("sex", False), ("vote", True)]
    other = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=9), rng=3)
    sf.Release.concat([sf.Release(false, scheme), other]).save("both.parquet")
    both = json.loads(run("inspect both.parquet --fit --json").out)["fit"]
    assert [entry["p"] < 0.01 for entry in both] == [False, True, False, False]
    Path("scheme.json").write_text(scheme.to_json(), encoding="utf-8")
    assert "a scheme has none" in run("inspect scheme.json --fit").error


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_answers_that_were_not_tested_are_not_called_possible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"age": sf.Numeric(0, 10, bins=10)})
    sf.randomize({"age": [1.0, 2.0, 3.0]}, sf.Scheme(schema, {"age": c.uniform(1)})).save("noisy.parquet")
    shown = run("inspect noisy.parquet --fit")
    assert shown.code == 0, shown.error
    assert "age: not tested" in shown.error
    assert "could have come through" not in shown.out + shown.error


@pytest.mark.parametrize("line", ["inspect wide.json", "randomize wide.csv wide.parquet --scheme wide.json"])
def test_a_gamma_beyond_doubles_is_no_infinity(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = tuple(f"q{i}" for i in range(700))
    schema = sf.Schema({name: sf.Categorical(("0", "1")) for name in names})
    Path("wide.json").write_text(sf.Scheme(schema, {names: c.mask(0.25)}).to_json(), encoding="utf-8")
    Path("wide.csv").write_text("\n".join([",".join(names), ",".join("01" * 350)]) + "\n", encoding="utf-8")
    ran = run(line)
    assert ran.code == 0, ran.error
    (told,) = [part for part in ran.out.splitlines() if "gamma of a whole record" in part]
    assert "9.658\u00a0·\u00a010³³³" in told  # rounded up
