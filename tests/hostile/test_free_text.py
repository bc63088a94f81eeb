"""Free text and trees of values: files that would take all memory, and messages that must not quote anybody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ChannelError, SchemaError

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
