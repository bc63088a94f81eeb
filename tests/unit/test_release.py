"""Releases: files that carry their scheme, parties that join and concatenate, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError
from sfumato.release import sidecar

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

LEFT = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical((0, 1))})
RIGHT = sf.Schema({"x": sf.Categorical((0, 1))})
BOTH = sf.Schema({**LEFT, **RIGHT})
CHANNELS = {"a": c.symmetric(3, 0.3), "b": c.binary(0.1, 0.2)}


def records(n: int = 600, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    return {
        "id": np.arange(n) + 1000 * seed,
        "a": a,
        "b": (a > 0).astype(int),
        "x": (a + rng.integers(0, 2, n) > 1).astype(int),
    }


def owner(n: int = 600, seed: int = 0, channels: dict | None = None) -> sf.Release:
    return sf.randomize(records(n, seed), sf.Scheme(LEFT, channels or CHANNELS), id="id", rng=seed + 7)


@pytest.mark.parametrize("name", ["release.parquet", "release.csv", "release.tsv"])
def test_files_carry_their_scheme(tmp_path: Path, name: str) -> None:
    release = owner()
    again = sf.Release.load(release.save(tmp_path / name))
    assert again.scheme == release.scheme
    assert again.id == "id"
    assert len(again) == 600
    for column in ("a", "b"):
        assert again.arrow().column(column).to_pylist() == release.arrow().column(column).to_pylist()
    mine, theirs = (sf.evidence(r).counts(["b", "a"]) for r in (release, again))
    np.testing.assert_allclose(mine.value, theirs.value)
    np.testing.assert_allclose(mine.cov, theirs.cov)


def test_release_holds_codes_of_the_smallest_type(tmp_path: Path) -> None:
    path = owner().save(tmp_path / "release.parquet")
    assert pq.read_schema(path).field("a").type == pa.uint8()


def test_concat_adds_estimates_and_covariances_under_different_schemes() -> None:
    first, second = owner(seed=1), owner(seed=2, channels={"a": c.subset(3, 2), "b": c.binary(0.3, 0.3)})
    merged = sf.evidence(sf.Release.concat([first, second])).counts(["a", "b"])
    parts = [sf.evidence(r).counts(["a", "b"]) for r in (first, second)]
    np.testing.assert_allclose(merged.value, parts[0].value + parts[1].value)
    np.testing.assert_allclose(merged.cov, parts[0].cov + parts[1].cov)
    assert merged.n == 1200


def test_concat_under_one_scheme_equals_one_table() -> None:
    whole = owner(400)
    rows = whole.arrow()
    split = sf.Release.concat(
        [sf.Release(rows.slice(0, 150), whole.scheme, "id"), sf.Release(rows.slice(150), whole.scheme, "id")]
    )
    for method in ("moment", "project", "mle"):
        one, two = (sf.evidence(r, method=method).counts(["a", "b"]) for r in (whole, split))
        np.testing.assert_allclose(one.value, two.value, atol=1e-6)
        np.testing.assert_allclose(one.cov, two.cov, atol=1e-9)


def test_concat_of_groups_in_another_order() -> None:
    table = records()
    one = sf.randomize(table, sf.Scheme(BOTH, {("a", "x"): c.symmetric((3, 2), 0.2)}), rng=1)
    two = sf.randomize(table, sf.Scheme(BOTH, {("x", "a"): c.symmetric((2, 3), 0.2)}), rng=2)
    merged = sf.evidence(sf.Release.concat([one, two])).counts(["x", "b", "a"])
    parts = [sf.evidence(r).counts(["x", "b", "a"]) for r in (one, two)]
    np.testing.assert_allclose(merged.value, parts[0].value + parts[1].value, atol=1e-9)
    np.testing.assert_allclose(merged.cov, parts[0].cov + parts[1].cov, atol=1e-9)


def test_parts_under_different_schemes_survive_a_file(tmp_path: Path) -> None:
    merged = sf.Release.concat([owner(seed=1), owner(seed=2, channels={"a": c.windows(3, 2)})])
    for name in ("parts.parquet", "parts.csv"):
        again = sf.Release.load(merged.save(tmp_path / name))
        np.testing.assert_allclose(sf.evidence(again).counts("a").value, sf.evidence(merged).counts("a").value)
        assert len(again.parts) == 2
    with pytest.raises(ReleaseError, match="parts under different schemes"):
        _ = again.scheme


def test_join_of_parties_equals_one_table() -> None:
    table = records()
    left = sf.randomize(table, sf.Scheme(LEFT, CHANNELS), id="id", rng=3)
    right = sf.randomize(table, sf.Scheme(RIGHT, {"x": c.binary(0.2, 0.2)}), id="id", rng=4)
    shuffled = sf.Release(right.arrow().take(np.random.default_rng(0).permutation(600)), right.scheme, "id")
    joined = left.join(shuffled, on="id")
    together = pa.table({**{n: left.arrow().column(n) for n in ("a", "b")}, "x": right.arrow().column("x")})
    whole = sf.Release(together, sf.Scheme(BOTH, {**CHANNELS, "x": c.binary(0.2, 0.2)}))
    assert joined.scheme == whole.scheme
    np.testing.assert_allclose(
        sf.evidence(joined).counts(["x", "a"]).value, sf.evidence(whole).counts(["x", "a"]).value
    )


def test_own_raw_columns_join_under_the_identity() -> None:
    table = records()
    theirs = sf.randomize(table, sf.Scheme(LEFT, CHANNELS), id="id")
    own = sf.Release.raw(table, RIGHT, id="id")
    joined = sf.evidence(own.join(theirs)).counts(["x", "b"])
    truth = np.bincount(table["x"], minlength=2)
    np.testing.assert_allclose(joined.table.sum(axis=1), truth)
    assert own.join(theirs).scheme["x"].gamma == np.inf


def test_any_mix_of_rows_and_columns() -> None:
    """Two owners hold different rows of a and b, under different schemes; a third holds x of all rows."""
    one, two = records(300, 1), records(500, 2)
    rows = sf.Release.concat(
        [
            sf.randomize(one, sf.Scheme(LEFT, CHANNELS), id="id"),
            sf.randomize(two, sf.Scheme(LEFT, {"a": c.subset(3, 3)}), id="id"),
        ]
    )
    everyone = {name: np.concatenate([one[name], two[name]]) for name in one}
    column = sf.Release.raw({n: v[::-1] for n, v in everyone.items()}, RIGHT, id="id")
    mixed = column.join(rows)
    assert len(mixed) == 800
    assert len(mixed.parts) == 2
    exact = sf.evidence(everyone, RIGHT).counts("x").value
    np.testing.assert_allclose(sf.evidence(mixed).counts(["x", "a"]).table.sum(axis=1), exact)


@pytest.mark.parametrize(
    ("right", "line"),
    [
        (
            lambda t: sf.randomize({**t, "id": t["id"] + 5}, sf.Scheme(RIGHT), id="id"),
            "5 ids of the left release are not in the other one",
        ),
        (
            lambda t: sf.randomize({**t, "id": t["id"] // 2}, sf.Scheme(RIGHT), id="id"),
            "300 ids of the right release occur more than once",
        ),
        (lambda t: sf.randomize(t, sf.Scheme(RIGHT)), "the right release has no id column 'id'"),
        (lambda t: sf.randomize(t, sf.Scheme(LEFT.select(["b"])), id="id"), "both schemes treat attribute 'b'"),
    ],
)
def test_wrong_joins_get_one_line(right: object, line: str) -> None:
    with pytest.raises(ReleaseError, match=line):
        owner().join(right(records()), on="id")


def test_concat_refuses_other_attributes() -> None:
    with pytest.raises(ReleaseError, match="different attributes or domains"):
        sf.Release.concat([owner(), sf.randomize(records(), sf.Scheme(RIGHT), id="id")])
    with pytest.raises(ReleaseError, match="at least one release"):
        sf.Release.concat([])


def test_existing_files_are_kept_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    path.write_text("precious")
    with pytest.raises(ReleaseError, match="already exists"):
        owner().save(path)
    assert path.read_text() == "precious"
    owner().save(path, overwrite=True)
    assert len(sf.Release.load(path)) == 600
    assert [p.name for p in tmp_path.iterdir()] == ["release.parquet"]


def test_unreadable_files_say_why(tmp_path: Path) -> None:
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"a": [1]}), plain)
    with pytest.raises(ReleaseError, match="carries no scheme"):
        sf.Release.load(plain)
    (tmp_path / "plain.csv").write_text("a\n1\n")
    with pytest.raises(ReleaseError, match=r"plain.csv.json is missing beside it"):
        sf.Release.load(tmp_path / "plain.csv")
    (tmp_path / "noise.parquet").write_bytes(b"not parquet at all")
    with pytest.raises(sf.SfumatoError, match="cannot be read"):
        sf.Release.load(tmp_path / "noise.parquet")
    with pytest.raises(sf.SfumatoError, match="there is no such file"):
        sf.Release.load(tmp_path / "absent.parquet")
    path = owner().save(tmp_path / "release.csv")
    beside = sidecar(path)
    document = json.loads(beside.read_text())
    for damage, line in (
        ("{", "damaged"),
        (json.dumps({**document, "version": 7}), "release version 7 is unknown"),
        (json.dumps({**document, "bytes": 1}), "its size differs"),
        (json.dumps({**document, "parts": [{"rows": 1, "scheme": {}}]}), "not a scheme"),
    ):
        beside.write_text(damage)
        with pytest.raises(ReleaseError, match=line):
            sf.Release.load(path)


def test_codes_outside_the_scheme_are_found_when_counted() -> None:
    scheme = sf.Scheme(LEFT, CHANNELS)
    bad = sf.Release(pa.table({"a": pa.array([0, 9], pa.uint8()), "b": pa.array([0, 1], pa.uint8())}), scheme)
    with pytest.raises(ReleaseError, match=r"column 'a' of the release holds 9, outside the codes 0 .. 2"):
        sf.evidence(bad).counts("a")
    with pytest.raises(ReleaseError, match="the rows have no column 'b'"):
        sf.Release(pa.table({"a": [0]}), scheme)


def test_part_of_a_group_without_a_marginal_channel_is_summed_from_the_whole() -> None:
    """A joint matrix in which one attribute's fate depends on the other; every method must agree with the whole group."""
    rng = np.random.default_rng(3)
    P = 0.5 * np.eye(6) + 0.5 * rng.dirichlet(np.ones(6), 6)
    scheme = sf.Scheme(BOTH, {("a", "x"): c.matrix(P, sizes=(3, 2))})
    release = sf.randomize(records(3000), scheme, rng=4)
    for method in ("moment", "mle"):
        evidence = sf.evidence(release, method=method)
        whole, part = evidence.counts(["b", "a", "x"]), evidence.counts(["x", "b"])
        np.testing.assert_allclose(part.table, whole.table.sum(axis=1).T, atol=0.05)
    summing = np.kron(np.eye(2), np.kron(np.ones((1, 3)), np.eye(2)))
    moment = sf.evidence(release).counts(["b", "a", "x"])
    np.testing.assert_allclose(sf.evidence(release).counts(["b", "x"]).cov, summing @ moment.cov @ summing.T, atol=1e-6)
    with pytest.raises(sf.SfumatoError, match="theta must cover the whole group"):
        sf.evidence(release).log_likelihood("a", [1 / 3] * 3)
