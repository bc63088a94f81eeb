"""The sample files: complete, the same every time, and usable together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.cli.sample import FILES


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    assert run(f"sample {folder}").code == 0
    return folder


def test_every_file_is_written_and_the_same_every_time(samples: Path, tmp_path: Path) -> None:
    assert {file.name for file in samples.iterdir()} == set(FILES)
    assert json.loads(run(f"sample {tmp_path / 'again'} --json").out)["files"] == FILES
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (samples / name).read_bytes(), name


def test_existing_files_are_kept_unless_asked(samples: Path) -> None:
    before = (samples / "patients.csv").read_bytes()
    assert run(f"sample {samples}").code == 0  # they are the same: a reader of the next page begins with this command
    (samples / "patients.csv").write_bytes(before + b"\n")
    refused = run(f"sample {samples}")
    assert refused.code == 1
    assert "patients.csv already exists, and is not the sample; choose another folder or give" in refused.error
    assert (samples / "patients.csv").read_bytes() == before + b"\n"
    assert run(f"sample {samples} --overwrite").code == 0
    assert (samples / "patients.csv").read_bytes() == before


def test_the_files_fit_together(samples: Path) -> None:
    scheme = sf.Scheme.from_json((samples / "scheme.json").read_text())
    schema = sf.Schema.from_json((samples / "schema.json").read_text())
    assert scheme.schema == schema
    assert len(sf.randomize(samples / "patients.csv", scheme)) == 4000
    sites = [sf.Release.load(samples / f"{name}.parquet") for name in ("north", "south")]
    assert [len(site) for site in sites] == [2400, 1600]
    assert sf.evidence(sf.Release.concat(sites)).counts(["sex", "grade"]).n == 4000
    parties = [sf.Release.load(samples / f"{name}.parquet") for name in ("clinic", "laboratory")]
    both = parties[0].join(parties[1], on="patient")
    truth = sf.evidence(samples / "patients.csv", schema).counts(["smoker", "grade"]).value
    found = sf.evidence(both).counts(["smoker", "grade"])
    assert (abs(found.value - truth) < 6 * found.sd).all()
