"""Files of counts and shares that somebody bent: one line, no traceback, no invented records."""

from __future__ import annotations

import copy
import itertools
import json
import random

import pytest
from tests.hostile.guard import refused

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoError
from sfumato.released.shares import Share

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 30, bins=3), "ill": sf.Ordinal((0, 1))})
SCHEME = sf.Scheme(SCHEMA, {"sex": c.symmetric(2, 0.2), "age": c.subset(3, 3), "ill": c.symmetric(2, 0.2)})
RELEASE = sf.randomize(
    {"sex": ["F", "M"] * 20, "age": list(range(20)) * 2, "ill": [0, 1, 1, 0] * 10}, SCHEME, rng=sf.experiment(1)
)
ODD = [None, -1, 1e99, 1 << 70, "x", [], {}, [[]], True, 0.5, "\x00", [1, [2]], {"columns": 1}]


def places(document, path=()):
    """Every place in a document, by the keys that lead to it."""
    yield path
    entries = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, entry in entries:
        yield from places(entry, (*path, key))


def bent(document, rng: random.Random):
    """The document with one thing replaced or taken out."""
    out = copy.deepcopy(document)
    *way, last = rng.choice([path for path in places(out) if path])
    holder = out
    for key in way:
        holder = holder[key]
    if rng.random() < 0.3:
        del holder[last]
    else:
        holder[last] = rng.choice(ODD)
    return out


@pytest.mark.parametrize("kind", ["counts", "share"])
@pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning")
def test_a_bent_file_loads_consistent_or_is_refused_in_one_line(kind, tmp_path) -> None:
    path = tmp_path / "file.json"
    counted = sf.counted(RELEASE)
    load = sf.Release.load if kind == "counts" else Share.load
    (counted if kind == "counts" else sf.split_counts(counted, 3, 1)[0]).save(path)
    good = json.loads(path.read_text())
    rng = random.Random(3)
    refused = 0
    for _ in range(250):
        path.write_text(json.dumps(bent(good, rng)))
        try:
            found = load(path)
        except SfumatoError as problem:
            refused += 1
            assert "\n" not in str(problem) and len(str(problem)) < 600
            continue
        if kind == "counts":
            for part in found.parts:
                assert all(int(table.min()) >= 0 and int(table.sum()) == len(part) for table in part.tables.values())
    assert refused > 150


def test_a_file_too_large_to_be_counts_is_not_read(tmp_path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)  # a hole, which takes no room
    with pytest.raises(SfumatoError, match="larger than any file of counts"):
        sf.Release.load(path)


def test_a_site_cannot_slip_raw_counts_through_a_sum(tmp_path) -> None:
    """Counts of raw records carry no gamma: neither save nor split nor a sum writes them unasked."""
    raw = sf.counted(sf.Release.raw({"sex": ["F"], "age": [3.0], "ill": [1]}, SCHEMA))
    for work in (
        lambda: raw.save(tmp_path / "raw.json"),
        lambda: sf.split_counts(raw, 3, 1),
        lambda: sf.secure_sum([raw, raw, raw]),
        lambda: sf.Release.concat([raw, raw]).save(tmp_path / "raw.json"),
        lambda: raw.select(["sex"]).save(tmp_path / "raw.json"),
        lambda: sf.counted(raw, [["sex"]]).save(tmp_path / "raw.json"),
    ):
        with pytest.raises(SfumatoError, match="clear=True"):
            work()
    assert not (tmp_path / "raw.json").exists()


def test_counts_of_raw_records_stay_marked_in_a_file(tmp_path) -> None:
    """Written once with clear=True, they are not passed on unasked by whoever reads them."""
    raw = sf.counted(sf.Release.raw({"sex": ["F"], "age": [3.0], "ill": [1]}, SCHEMA))
    path = sf.Release.concat([raw, sf.counted(RELEASE)]).save(tmp_path / "raw.json", clear=True)
    found = sf.Release.load(path)
    assert [part.raw for part in found.parts] == [True, False]
    for work in (lambda: found.save(tmp_path / "again.json"), lambda: sf.split_counts(found, 3, 1)):
        with pytest.raises(SfumatoError, match="clear=True"):
            work()
    assert sf.split_counts(found, 3, 1, clear=True) and '"raw"' not in sf.counted(RELEASE).save(
        tmp_path / "randomized.json"
    ).read_text(encoding="utf-8")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parts"][0]["raw"] = "no"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert "must be true or false" in refused(lambda: sf.Release.load(path))


def test_counts_hold_no_ids_and_no_order(tmp_path) -> None:
    table = {"person": [f"p{i}" for i in range(40)], "sex": ["F", "M"] * 20, "age": [3.0] * 40, "ill": [0] * 40}
    key = sf.new_key()
    release = sf.randomize(table, SCHEME, key=key, id="person", link_key=sf.new_link_key())
    path = sf.counted(release).save(tmp_path / "site.json")
    held = path.read_text()
    assert "person" not in held and not any(pseudonym in held for pseudonym in release.arrow()["person"].to_pylist())


def test_a_share_among_very_many_sites_is_refused_before_they_are_listed(tmp_path) -> None:
    path = sf.split_counts(sf.counted(RELEASE), 3, 1)[0].save(tmp_path / "share.json")
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"sites": 10_000_000_000}))
    assert "at most 1024 sites" in refused(lambda: sf.add_shares([Share.load(path)]))
    path.write_text(json.dumps(document | {"sites": 1024}))
    line = refused(lambda: sf.add_shares([Share.load(path)]))
    assert "2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1013 more are missing" in line


def test_a_file_of_very_many_tables_is_read_at_once(tmp_path) -> None:
    """The last table repeats the first in another order, which is found without comparing every pair."""
    names = [f"a{i}" for i in range(46)]
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in names})
    scheme = sf.Scheme(schema, {name: c.symmetric(2, 0.2) for name in names})
    release = sf.randomize({name: ["no", "yes"] for name in names}, scheme, rng=sf.experiment(2))
    path = sf.counted(release, [["a0"]]).save(tmp_path / "site.json")
    document = json.loads(path.read_text())
    wanted = [*itertools.combinations(names, 3), ("a2", "a1", "a0")]
    document["parts"][0]["tables"] = [{"columns": columns, "counts": [2] + [0] * 7} for columns in wanted]
    path.write_text(json.dumps(document))
    assert "the table of a2, a1, a0 is there twice" in refused(lambda: sf.Release.load(path))
