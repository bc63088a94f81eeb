"""Free text and trees of values: files that would take all memory, and messages that must not quote anybody."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ChannelError, SchemaError, SfumatoError

TEXT = c.prefixes(sf.Text(20), 9, cells=1 << 12).to_dict()
TREE = sf.Hierarchy(levels=("region", "town"), tree={"N": ["a", "b"], "S": ["c", "d"]})


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"lengths": [20, 20], "people": [1, 1]}, "so that all can be tried"),
        ({"lengths": [4, 12, 20, 20], "people": [1, 1, 1, 1]}, "so that all can be tried"),
        ({"max_length": 10**9}, "texts have at most 64"),
        ({"letters": 10**9}, "texts have at most 64"),
        ({"people": [10**30] * 7}, "small whole numbers"),
        ({"lengths": [4] * 10**4}, "must grow to 20"),
        ({"channel": c.gaussian(1).to_dict()}, "channels between codes"),
    ],
)
def test_a_scheme_that_would_try_too_many_texts_is_refused(changed: dict[str, object], why: str) -> None:
    with pytest.raises(ChannelError, match=why):
        c.from_dict({**TEXT, **changed})


def test_a_tree_with_a_giant_code_is_refused_without_building_it() -> None:
    described = c.tree_levels(TREE, 3).to_dict()
    described["levels"][1]["above"] = [0, 0, 1, 10**15]
    with pytest.raises(ChannelError, match="every level must have two values or more"):
        c.from_dict(described)


def test_texts_that_share_a_channel_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Six of these would not fit into memory, one does: a release that can be saved can be loaded."""
    names = [f"t{i}" for i in range(6)]
    schema = sf.Schema({name: sf.Text(8) for name in names})
    one = c.prefixes(sf.Text(8), 3.0)
    release = sf.randomize({name: ["flu", "cold"] for name in names}, sf.Scheme(schema, dict.fromkeys(names, one)))
    assert sf.Release.load(release.save(tmp_path / "r.parquet")).scheme == release.scheme
    assert sf.Scheme(schema, {name: c.prefixes(sf.Text(8), 3.0) for name in names}) == release.scheme


@pytest.mark.parametrize(
    "column", [pa.array([["x"]]), pa.array([{"a": 1}]), pa.array([b"\xff"])], ids=["list", "struct", "bytes"]
)
@pytest.mark.parametrize(
    "domain",
    [
        sf.Text(5, nullable=True, missing=("zz",)),
        sf.Categorical(("x", "y"), nullable=True, missing=("zz",)),
        sf.Ordinal((1, 2), nullable=True, missing=("zz",)),
        sf.Numeric(0, 9, bins=3, nullable=True, missing=("zz",)),
        sf.Date("2020-01-01", "2020-12-31", by="month", nullable=True, missing=("zz",)),
    ],
    ids=lambda domain: domain.kind,
)
def test_a_column_without_words_is_refused_in_one_line(domain: sf.Domain, column: pa.Array) -> None:
    with pytest.raises(SfumatoError) as caught:
        domain.encode(column, "why")
    assert "'why'" in str(caught.value) and "\n" not in str(caught.value)


def test_a_deep_tree_is_refused() -> None:
    deep: dict[str, object] = {}
    for _ in range(900):
        deep = {"x": deep}
    with pytest.raises(SchemaError, match="deeper"):
        sf.Hierarchy(levels=("a", "b"), tree=deep)


def test_nobody_is_quoted(tmp_path: Path) -> None:
    secret = "My-Diagnosis"
    (tmp_path / "t.csv").write_text(f"why,place\nflu,a\n{secret},a\nflu,N\n", encoding="utf-8")
    attributes = {"why": sf.Text(20).to_dict(), "place": TREE.to_dict()}
    for name in ("why", "place"):
        (tmp_path / "s.json").write_text(json.dumps({name: attributes[name]}), encoding="utf-8")
        ran = run(f"randomize {tmp_path / 't.csv'} {tmp_path / 'r.parquet'} --schema {tmp_path / 's.json'} --gamma 9")
        assert ran.code != 0
        assert secret not in ran.error
        assert "Diagnosis" not in ran.error
        assert f"column '{name}': 1 row holds" in ran.error
        assert not (tmp_path / "r.parquet").exists()


def test_the_question_says_nothing_about_the_text() -> None:
    """Which question a record answers is drawn apart from what its text is, also under a key."""
    domain = sf.Text(12, "abcdef")
    scheme = sf.Scheme(sf.Schema({"why": domain}), {"why": c.prefixes(domain, 9, cells=1 << 10)})
    channel, n = scheme["why"], 20_000
    key = sf.new_key()
    for text in ("a", "fedcbafedcba"):
        release = sf.randomize({"why": [text] * n, "id": list(range(n))}, scheme, key, "id")
        level, _ = channel.split(release.arrow().column("why").to_numpy())
        for place, share in enumerate(channel.shares):
            assert abs((level == place).mean() - share) < 6 * (share * (1 - share) / n) ** 0.5
