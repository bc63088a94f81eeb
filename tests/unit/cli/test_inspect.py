"""sfumato inspect: every attribute is listed, whatever its channel releases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
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
