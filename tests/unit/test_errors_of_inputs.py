"""What is mistyped in Python is refused in one line that says what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import SfumatoError

SCHEMA = sf.Schema({"sky": sf.Categorical(("Clear", "Overcast")), "mark": sf.Ordinal((1, 2, 3))})
SCHEME = sf.Scheme.for_gamma(SCHEMA, 9)
RELEASE = sf.randomize({"sky": ["Clear", "Overcast"] * 50, "mark": [1, 2, 3, 1] * 25}, SCHEME, rng=0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sf.Scheme.for_gamma("schema.json", gamma=9), "for_gamma takes a schema, got str instead: read the"),
        (lambda: sf.Scheme.for_gamma(None, gamma=9), "for_gamma takes a schema, got NoneType instead"),
        (lambda: sf.Release.concat(RELEASE), "concat takes a list of releases"),
        (lambda: sf.Release.concat(["a.parquet"]), "concat takes a list of releases"),
        (lambda: sf.evidence(RELEASE).counts("sky").interval("95%"), "level must lie in (0, 1), got '95%'"),
        (lambda: sf.evidence(RELEASE).mean("mark", where="sky=Overcast"), 'where must look like {"sex": "F"}, got'),
        (lambda: sf.evidence(RELEASE).mean("mark", by="mark"), "by must not name 'mark', which is what is asked about"),
        (
            lambda: sf.evidence(RELEASE).share("sky", by=["mark", "sky"]),
            "by must not name 'sky', which is what is asked",
        ),
        (lambda: sf.evidence(RELEASE).mean("mark", by=5), "by must be an attribute or a list of attributes"),
        (lambda: sf.evidence(RELEASE).mean(["mark"]), "attributes are named one by one, by their names, got ['mark']"),
        (lambda: sf.evidence(RELEASE).mean("mark", smooth="yes"), "smooth must be True, False or None, got 'yes'"),
        (lambda: sf.evidence(RELEASE).quantile("mark", smooth=0), "smooth must be True, False or None, got 0 instead"),
        (lambda: sf.evidence(RELEASE).cdf("mark", smooth="no"), "smooth must be True, False or None, got 'no' instead"),
        (lambda: sf.evidence(RELEASE).counts(5), "names must be a list of attributes, got 5 instead"),
        (lambda: sf.evidence(RELEASE).shares("mark" * 9), "there is no attribute"),
        (lambda: sf.evidence(RELEASE).seen("mark"), "names must be a list of attributes, got 'mark' instead"),
        (lambda: sf.evidence(RELEASE).counts("mark", level=0.9), "level must name a level of a hierarchy, or be"),
        (
            lambda: sf.evidence(RELEASE, method="model", order=True),
            "order must be a whole number of at least 1, got True",
        ),
        (lambda: sf.evidence(RELEASE, method="model", tau=float("inf")), "tau must be a positive number, got inf"),
        (lambda: sf.evidence("release.parquet"), "release.parquet: evidence takes no path alone: load the release"),
        (lambda: sf.evidence(Path("release.parquet")), "sf.evidence(sf.Release.load(path))"),
        (lambda: sf.Schema.from_json(SCHEME.to_json()), "'sfumato scheme': read it with sf.Scheme.from_json"),
    ],
)
def test_one_line_says_what_to_write_instead(call: Callable[[], object], said: str) -> None:
    with pytest.raises(SfumatoError, match=re.escape(said)):
        call()


def test_an_attribute_may_be_called_format() -> None:
    document = '{"format": {"kind": "categorical", "values": ["A4", "A5"]}}'
    assert sf.Schema.from_json(document).names == ("format",)


@pytest.mark.parametrize("name", ["release.parquet", "release.csv"])
def test_a_release_is_not_taken_for_a_raw_table(name: str, tmp_path: Path) -> None:
    """Its codes are whole numbers: they were randomized again without a word."""
    path = RELEASE.save(tmp_path / name)
    for take in (
        lambda: sf.randomize(path, SCHEME),
        lambda: sf.randomize(sf.CsvFile(path) if name.endswith("csv") else str(path), SCHEME),
        lambda: sf.randomize_file(path, tmp_path / "again.parquet", SCHEME),
        lambda: sf.Schema.infer(path),
        lambda: sf.evidence(path, SCHEMA),
        lambda: sf.resample(path, "mark"),
        lambda: sf.resample_file(path, tmp_path / "again.parquet", "mark"),
    ):
        with pytest.raises(SfumatoError, match="is a release: it holds answers that were changed by chance"):
            take()
    if name.endswith("parquet"):
        with pytest.raises(SfumatoError, match="is a release: it holds answers that were changed by chance"):
            sf.randomize_folder(path, tmp_path / "again.parquet", SCHEME)
    assert not (tmp_path / "again.parquet").exists()
