"""Releases: files that carry their scheme, parties that join and concatenate, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, ReleaseError
from sfumato.secrets.pseudonyms import hexadecimal
from sfumato.writing.described_file import sidecar

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

LEFT = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical((0, 1))})
RIGHT = sf.Schema({"x": sf.Categorical((0, 1))})
BOTH = sf.Schema({**LEFT, **RIGHT})
CHANNELS = {"a": c.symmetric(3, 0.3), "b": c.binary(0.1, 0.2)}
LINK = bytes(range(32))


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
    return sf.randomize(records(n, seed), rest_clear(LEFT, channels or CHANNELS), id="id", link_key=LINK, rng=seed + 7)


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
    one = sf.randomize(table, rest_clear(BOTH, {("a", "x"): c.symmetric((3, 2), 0.2)}), rng=1)
    two = sf.randomize(table, rest_clear(BOTH, {("x", "a"): c.symmetric((2, 3), 0.2)}), rng=2)
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
    left = sf.randomize(table, sf.Scheme(LEFT, CHANNELS), id="id", link_key=LINK, rng=3)
    right = sf.randomize(table, sf.Scheme(RIGHT, {"x": c.binary(0.2, 0.2)}), id="id", link_key=LINK, rng=4)
    mixed = right.arrow().take(np.random.default_rng(0).permutation(600))
    joined = left.join(sf.Release(mixed, right.scheme, "id", right.parts[0].link), on="id")
    together = pa.table({**{n: left.arrow().column(n) for n in ("a", "b")}, "x": right.arrow().column("x")})
    whole = sf.Release(together, sf.Scheme(BOTH, {**CHANNELS, "x": c.binary(0.2, 0.2)}))
    assert joined.scheme == whole.scheme
    np.testing.assert_allclose(
        sf.evidence(joined).counts(["x", "a"]).value, sf.evidence(whole).counts(["x", "a"]).value
    )


def test_own_raw_columns_join_under_the_identity() -> None:
    table = records()
    theirs = sf.randomize(table, sf.Scheme(LEFT, CHANNELS), id="id", link_key=LINK)
    own = sf.Release.raw(table, RIGHT, id="id", link_key=LINK)
    joined = sf.evidence(own.join(theirs)).counts(["x", "b"])
    truth = np.bincount(table["x"], minlength=2)
    np.testing.assert_allclose(joined.table.sum(axis=1), truth)
    assert own.join(theirs).scheme["x"].gamma == np.inf


def test_any_mix_of_rows_and_columns() -> None:
    """Two owners hold different rows of a and b, under different schemes; a third holds x of all rows."""
    one, two = records(300, 1), records(500, 2)
    rows = sf.Release.concat(
        [
            sf.randomize(one, rest_clear(LEFT, CHANNELS), id="id", link_key=LINK),
            sf.randomize(two, rest_clear(LEFT, {"a": c.subset(3, 3)}), id="id", link_key=LINK),
        ]
    )
    everyone = {name: np.concatenate([one[name], two[name]]) for name in one}
    column = sf.Release.raw({n: v[::-1] for n, v in everyone.items()}, RIGHT, id="id", link_key=LINK)
    mixed = column.join(rows)
    assert len(mixed) == 800
    assert len(mixed.parts) == 2
    exact = sf.evidence(everyone, RIGHT).counts("x").value
    np.testing.assert_allclose(sf.evidence(mixed).counts(["x", "a"]).table.sum(axis=1), exact)


@pytest.mark.parametrize(
    ("right", "line"),
    [
        (
            lambda t: sf.randomize({**t, "id": t["id"] + 5}, rest_clear(RIGHT), id="id", link_key=LINK),
            "5 ids of the left release are not in the other one",
        ),
        (
            lambda t: sf.Release.raw({**t, "id": t["id"] // 2}, RIGHT, id="id", link_key=LINK),
            "300 ids of the right release occur more than once",
        ),
        (lambda t: sf.randomize(t, rest_clear(RIGHT)), "the right release has no id column 'id'"),
        (lambda t: sf.randomize(t, rest_clear(LEFT.select(["b"])), id="id", link_key=LINK), "both schemes treat"),
        (lambda t: sf.randomize(t, rest_clear(RIGHT), id="id"), "pseudonyms under different keys: .*same link_key"),
        (lambda t: sf.Release.raw(t, RIGHT, id="id"), "some ids are pseudonyms and some are not"),
    ],
)
def test_wrong_joins_get_one_line(right: object, line: str) -> None:
    with pytest.raises(ReleaseError, match=line):
        owner().join(right(records()), on="id")


def test_parties_with_other_records_join_those_that_both_hold() -> None:
    table = records()
    left = sf.randomize(table, rest_clear(LEFT), id="id", link_key=LINK)
    right = sf.randomize({**table, "id": table["id"] + 5}, rest_clear(RIGHT), id="id", link_key=LINK)
    joined = left.join(right, common=True)
    assert len(joined) == 595
    truth = np.zeros((3, 2))
    np.add.at(truth, (table["a"][5:], table["x"][:-5]), 1)
    np.testing.assert_allclose(sf.evidence(joined).counts(["a", "x"]).table, truth)
    strangers = sf.randomize({**table, "id": table["id"] + 5000}, rest_clear(RIGHT), id="id", link_key=LINK)
    with pytest.raises(ReleaseError, match="the releases share no id"):
        left.join(strangers, common=True)


def test_concat_refuses_other_attributes() -> None:
    with pytest.raises(
        ReleaseError, match="different attributes or domains: only one has 'a'; only one has 'b'; .*'x'"
    ):
        sf.Release.concat([owner(), sf.randomize(records(), rest_clear(RIGHT), id="id")])
    with pytest.raises(ReleaseError, match="at least one release"):
        sf.Release.concat([])


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (
            sf.Numeric(0, 12, bins=3),
            r"'z' has 2 values from \[0, 5\) to \[5, 10\] in one and 3 values from \[0, 4\) to",
        ),
        (sf.Numeric(0, 10, bins=2, nullable=True), "'z' may be empty in one only"),
        (sf.Ordinal((0, 10)), "'z' is numeric in one and ordinal in the other"),
    ],
)
def test_concat_names_what_differs(other: sf.Numeric | sf.Ordinal, line: str) -> None:
    parties = [
        sf.randomize({"z": [0, 10]}, sf.Scheme.for_gamma(sf.Schema({"z": domain}), gamma=3))
        for domain in (sf.Numeric(0, 10, bins=2), other)
    ]
    with pytest.raises(ReleaseError, match=line):
        sf.Release.concat(parties)


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
        (json.dumps({**document, "bytes": 1}), "its content differs"),
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
    scheme = rest_clear(BOTH, {("a", "x"): c.matrix(P, sizes=(3, 2))})
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


def test_a_set_of_values_is_not_shown_as_a_value() -> None:
    """Subset selection of 31 values under gamma 4 has 31 outputs too; they are sets."""
    schema = sf.Schema({"v": sf.Categorical(tuple(f"v{i}" for i in range(31)))})
    scheme = sf.Scheme.for_gamma(schema, 4)
    assert scheme["v"].m == 31
    shown = sf.randomize({"v": ["v0"] * 50}, scheme).decode()
    assert pa.types.is_integer(shown.column("v").type)


def test_parts_of_any_kind_survive_a_file(tmp_path: Path) -> None:
    table = records()
    schemes = [
        rest_clear(BOTH, {"a": c.symmetric(3, 0.2)}),
        rest_clear(BOTH, {("x", "a"): c.symmetric((2, 3), 0.2)}),
        rest_clear(BOTH, {"a": c.matrix(np.random.default_rng(0).dirichlet(np.ones(700), 3))}),
    ]
    releases = [sf.randomize(table, scheme, id="id", rng=i) for i, scheme in enumerate(schemes)]
    texts = {**table, "id": [f"{i:05d}" for i in table["id"] + 5000]}
    merged = sf.Release.concat([*releases, sf.randomize(texts, schemes[0], id="id", rng=9)])
    assert merged.arrow().num_rows == 2400
    for name in ("parts.parquet", "parts.csv"):
        again = sf.Release.load(merged.save(tmp_path / name))
        np.testing.assert_allclose(sf.evidence(again).counts("a").value, sf.evidence(merged).counts("a").value)
        assert again.arrow().column("id").to_pylist() == merged.arrow().column("id").to_pylist()
        assert [part.link for part in again.parts] == [part.link for part in merged.parts]
    apart = rest_clear(
        BOTH, {("a", "x"): c.matrix(np.random.default_rng(0).dirichlet(np.ones(7), 6), sizes=(3, 2), outputs=(7,))}
    )
    other = sf.Release.concat([releases[0], sf.randomize(table, apart, id="id", link_key=None, rng=3)])
    loaded = sf.Release.load(other.save(tmp_path / "apart.parquet"))
    assert [part.arrow().num_rows for part in loaded.parts] == [600, 600]
    assert loaded.parts[1].arrow().column("a+x").null_count == 0


def test_ids_stay_text_through_csv(tmp_path: Path) -> None:
    table = {**records(3), "id": ["001", "1e5", "NA"]}
    with pytest.warns(DisclosureWarning, match="released as they are"):
        left = sf.randomize(table, rest_clear(LEFT, CHANNELS), id="id", clear_ids=True)
    right = sf.Release.raw(table, RIGHT, id="id")
    again = sf.Release.load(left.save(tmp_path / "left.csv"))
    assert sorted(again.arrow().column("id").to_pylist()) == ["001", "1e5", "NA"]
    assert len(again.join(right)) == 3


def test_a_csv_and_its_sidecar_change_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.csv"
    owner().save(path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    monkeypatch.setattr(
        "sfumato.writing.described_file.content",
        lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    with pytest.raises(ReleaseError, match="the disk is full; nothing was changed"):
        owner(seed=3).save(path, overwrite=True)
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    (tmp_path / "other.csv.json").write_text("mine")
    with pytest.raises(ReleaseError, match="other.csv.json already exists"):
        owner().save(tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()
    sidecar(path).write_bytes((owner(seed=5).save(tmp_path / "third.csv").parent / "third.csv.json").read_bytes())
    with pytest.raises(ReleaseError, match="its content differs"):
        sf.Release.load(path)


def test_a_star_in_a_file_name_is_a_star(tmp_path: Path) -> None:
    release = owner()
    release.save(tmp_path / "x*.parquet")
    release.save(tmp_path / "xy.parquet")
    assert sf.evidence(sf.Release.load(tmp_path / "x*.parquet")).counts("a").n == 600


def test_columns_may_be_called_anything(tmp_path: Path) -> None:
    names = ["1", "rows", "estimate", "sd"]
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in names})
    release = sf.randomize({name: [0, 1, 1] for name in names}, rest_clear(schema))
    for file in ("named.csv", "named.parquet"):
        again = sf.Release.load(release.save(tmp_path / file))
        found = sf.evidence(again).counts(["1", "rows"])
        assert found.value.tolist() == [1, 0, 0, 2]
        frame = sf.evidence(again).counts(["estimate", "sd"]).frame()
        assert frame.column_names == ["estimate", "sd", "estimate_", "sd_", "low", "high"]


def test_rows_may_be_given_in_any_form(tmp_path: Path) -> None:
    rows = owner().arrow()
    path = owner().save(tmp_path / "rows.parquet")
    for form in ({n: rows.column(n) for n in rows.column_names}, rows.to_batches()[0], str(path)):
        release = sf.Release(form, sf.Scheme(LEFT, CHANNELS), "id")
        assert len(release) == 600
        assert sf.evidence(release).counts("a").n == 600


def test_attributes_may_come_in_another_order() -> None:
    one, two = records(300, 1), records(300, 2)

    def released(table: dict, schema: sf.Schema, channels: dict) -> sf.Release:
        return sf.randomize(table, rest_clear(schema, channels), id="id", link_key=LINK)

    ab = released(one, LEFT, CHANNELS).join(released(one, RIGHT, {}))
    ba = released(two, RIGHT, {}).join(released(two, LEFT, CHANNELS))
    merged = sf.evidence(sf.Release.concat([ab, ba])).counts(["x", "a"])
    np.testing.assert_allclose(merged.value, sum(sf.evidence(r).counts(["x", "a"]).value for r in (ab, ba)))


@pytest.mark.parametrize(
    "damage", [{"id": None, "parts": []}, {"parts": None}, {"id": 7}, {"parts": [{"rows": "many", "scheme": {}}]}]
)
def test_damaged_descriptions_are_refused(tmp_path: Path, damage: dict) -> None:
    path = owner().save(tmp_path / "release.csv")
    document = json.loads(sidecar(path).read_text())
    sidecar(path).write_text(json.dumps({**document, **damage}))
    with pytest.raises(ReleaseError):
        sf.Release.load(path)
    sidecar(path).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReleaseError, match="damaged"):
        sf.Release.load(path)


def test_corrupt_pages_are_said_in_one_line(tmp_path: Path) -> None:
    path = owner(5000).save(tmp_path / "release.parquet")
    content = bytearray(path.read_bytes())
    content[40:400] = bytes(360)
    path.write_bytes(bytes(content))
    for use in (lambda r: r.arrow(), lambda r: sf.evidence(r).counts(["a", "b"])):
        with pytest.raises(sf.SfumatoError, match="cannot be") as caught:
            use(sf.Release.load(path))
        assert "\n" not in str(caught.value)


def test_large_groups_are_handled_without_large_matrices() -> None:
    items = [f"q{i}" for i in range(20)]
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in items})
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 2, 500) for name in items}
    masked = sf.randomize(table, sf.Scheme(schema, {tuple(items): c.mask(0.1)}), rng=1)
    assert np.isfinite(sf.evidence(masked).cells(items, [[0] * 20]).sd[0])
    alone = sf.randomize(table, rest_clear(schema, {("q1", "q0"): c.symmetric((2, 2), 0.1)}), rng=2)
    both = sf.evidence(sf.Release.concat([masked, alone])).counts(items)
    assert both.value.sum() == pytest.approx(1000)

    wide = sf.Schema(
        {
            "x": sf.Categorical(tuple(range(50))),
            "y": sf.Categorical(tuple(range(40))),
            "z": sf.Categorical(tuple(range(30))),
        }
    )
    valid = [(i, i % 40, i % 30) for i in range(50)]
    scheme = sf.Scheme(wide, {("x", "y", "z"): c.symmetric(valid=valid, p=0.2)})
    some = np.array(valid)[rng.integers(0, 50, 1000)]
    found = sf.evidence(sf.randomize(dict(zip("xyz", some.T, strict=True)), scheme, rng=3)).counts("y")
    assert found.value.sum() == pytest.approx(1000)
    baskets = sf.Scheme(schema, {tuple(items): c.select_a_size([0.2, 0.3, 0.5], 0.1)})
    with pytest.raises(sf.SfumatoError, match="20 items"):
        sf.evidence(sf.randomize(table, baskets, rng=4)).counts("q0")


def test_maximum_likelihood_of_part_of_a_group_covers_the_truth() -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme(
        schema, {("sex", "pregnant"): c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.3)}
    )
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M"], 20_000, p=[0.7, 0.3])
    table = {"sex": sex, "pregnant": np.where((sex == "F") & (rng.random(20_000) < 0.3), "yes", "no")}
    evidence = sf.evidence(sf.randomize(table, scheme, rng=1), method="mle")
    found = evidence.counts("sex")
    truth = [(sex == "F").sum(), (sex == "M").sum()]
    np.testing.assert_allclose(found.value, truth, atol=6 * found.sd.max())
    assert found.sd.max() < 300


def test_a_release_is_no_array() -> None:
    with pytest.raises(ReleaseError, match="no array of numbers.*sf.learn"):
        np.asarray(owner())


def test_a_file_of_several_parts_may_hold_no_rows(tmp_path: Path) -> None:
    schemes = [sf.Scheme(RIGHT, {"x": c.binary(p, 0.2)}) for p in (0.1, 0.3)]
    parts = [{"rows": 0, "link": None, "scheme": scheme.to_dict()} for scheme in schemes]
    about = {"format": "sfumato release", "version": 2, "id": None, "order": None, "parts": parts}
    empty = pa.table({"x": pa.array([], pa.uint8())})
    pq.write_table(empty.replace_schema_metadata({"sfumato": json.dumps(about)}), tmp_path / "empty.parquet")
    found = sf.Release.load(tmp_path / "empty.parquet")
    assert (len(found), found.arrow().num_rows, len(found.parts)) == (0, 0, 2)


@pytest.mark.parametrize("order", ["sorted by income", "", 7, ["kept"]])
def test_a_file_says_a_known_order_of_its_rows(tmp_path: Path, order: object) -> None:
    path = tmp_path / "release.parquet"
    owner().save(path)
    rows = pq.read_table(path)
    about = json.loads(pq.read_metadata(path).metadata[b"sfumato"]) | {"order": order}
    pq.write_table(rows.replace_schema_metadata({"sfumato": json.dumps(about)}), path)
    with pytest.raises(ReleaseError, match="proper id column or order"):
        sf.Release.load(path)


def test_raw_ids_become_pseudonyms_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    whole = sf.Release.raw({"x": [0, 1] * 5, "id": list(range(10))}, RIGHT, id="id", link_key=LINK).arrow()
    monkeypatch.setattr("sfumato.reading.tables.BATCH", 4)
    monkeypatch.setattr("sfumato.release.hexadecimal", lambda made: seen.append(len(made)) or hexadecimal(made))
    pieces = sf.Release.raw({"x": [0, 1] * 5, "id": list(range(10))}, RIGHT, id="id", link_key=LINK).arrow()
    assert pieces.column("id").to_pylist() == whole.column("id").to_pylist() and max(seen) <= 4
