"""sfumato join, concat, export, mgas, and what estimate shows: the releases of several parties without any Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    assert run(f"sample {folder}").code == 0
    return folder


@pytest.fixture
def here(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in samples.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_columns_of_two_parties_are_joined(here: Path) -> None:
    ran = run("join clinic.parquet laboratory.parquet --on patient -o both.parquet")
    assert (ran.code, "4,000 records joined into both.parquet" in ran.out) == (0, True)
    parties = [sf.Release.load(f"{name}.parquet") for name in ("clinic", "laboratory")]
    assert sf.Release.load("both.parquet").arrow().equals(parties[0].join(parties[1], on="patient").arrow())
    found = json.loads(run("estimate both.parquet --columns smoker,grade --json").out)
    assert len(found["cells"]) == 9
    said = json.loads(run("join clinic.parquet laboratory.parquet -o again.csv --json").out)
    assert said["rows"] == 4000
    assert said["attributes"] == ["sex", "age", "grade", "smoker", "glucose"]


def test_parties_that_hold_other_records_join_the_common_ones(here: Path) -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    for name, ids, attribute in (("a", range(0, 40), "sex"), ("b", range(10, 50), "gender")):
        scheme = sf.Scheme.for_gamma(sf.Schema({attribute: schema["sex"]}), 3)
        sf.randomize(
            {attribute: ["F", "M"] * 20, "id": [*ids]}, scheme, id="id", link_key=bytes(range(32))
        ).save(f"{name}.parquet")  # fmt: skip
    said = " ".join(run("join a.parquet b.parquet -o x.parquet").error.split())
    assert "10 ids of the left release are not in the other one: --common joins" in said
    ran = run("join a.parquet b.parquet --common -o x.parquet")
    assert "30 records joined" in ran.out
    assert "10 records of b.parquet are not in all releases and were left out" in " ".join(ran.error.split())


def test_records_of_two_parties_are_put_together(here: Path) -> None:
    assert run("concat north.parquet south.parquet -o all.parquet").code == 0
    lines = [
        run(f"estimate {files} --columns sex --json").out for files in ("all.parquet", "north.parquet south.parquet")
    ]
    assert json.loads(lines[0])["cells"] == json.loads(lines[1])["cells"]


def test_parts_under_different_schemes_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    for name, p in (("a", 0.1), ("b", 0.3)):
        sf.randomize({"sex": ["F", "M"] * 50}, sf.Scheme(schema, {"sex": c.symmetric(2, p)})).save(f"{name}.parquet")
    said = json.loads(run("concat a.parquet b.parquet -o all.parquet --json").out)
    assert (said["rows"], said["parts"]) == (200, 2)
    assert run("export all.parquet labels.csv").code == 0
    assert len(pd.read_csv("labels.csv")) == 200


def test_a_release_is_exported_in_words(here: Path) -> None:
    ran = run("export north.parquet labels.csv")
    assert (ran.code, "2,400 randomized records in words" in ran.out) == (0, True)
    frame = pd.read_csv("labels.csv", keep_default_na=False)
    release = sf.Release.load("north.parquet")
    assert len(frame) == 2400
    assert list(frame) == list(release.scheme.columns)
    assert set(frame.sex) == {"F", "M"}
    codes = release.arrow().column("sex").to_numpy()
    assert (frame.sex == np.array(["F", "M"])[codes]).all()
    assert frame.education.str.contains(" to | ", regex=False).any() or frame.education.isin(["Masters"]).any()
    assert not frame.education.str.isdigit().any()
    assert run("export clinic.parquet clinic-words.tsv --columns sex").code == 0
    named = pd.read_csv("clinic-words.tsv", sep="\t")
    assert list(named) == ["sex", "patient"]


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_columns_are_exported_in_the_order_in_which_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stood in the order of the release: values that were pasted beside others by place were those of others."""
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abcd"} | {"x": sf.Numeric(0, 9, bins=3)})
    channels = {"a": c.binary(0.1, 0.1), ("b", "d"): c.symmetric((2, 2), 0.2), "c": c.binary(0.2, 0.2)}
    scheme = sf.Scheme(schema, {**channels, "x": c.gaussian(1.0)})
    table = {"a": ["no"] * 40, "b": ["yes"] * 40, "c": ["no", "yes"] * 20, "d": ["no"] * 40, "x": [1.0, 2.0] * 20}
    release = sf.randomize(table, scheme)
    assert release.select(["c", "a"]).schema.names == ("c", "a")
    assert release.select(["c", "a"]).arrow().column("a").equals(release.arrow().column("a"))
    assert release.select(["d", "c"]).schema.names == ("b", "d", "c")  # b and d are randomized together
    counts = sf.counted(release.select(["a", "b", "c"]), [["a", "c"]])
    assert counts.select(["c", "a"]).schema.names == ("c", "a")
    assert scheme.select(["c", "a"]) == scheme.select(["a", "c"])
    release.save("r.parquet")
    assert run("export r.parquet words.csv --columns x,c,a").code == 0
    assert Path("words.csv").read_text().splitlines()[0] == "x,c,a"
    assert run("export r.parquet words.csv --overwrite").code == 0
    assert Path("words.csv").read_text().splitlines()[0] == "a,b,d,c,x"


def test_words_that_are_not_ascii_open_in_a_spreadsheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"Straße": sf.Categorical(("groß", "klein")), "n": sf.Numeric(0, 8, bins=8, nullable=True)})
    table = {"Straße": ["groß", "klein"] * 20, "n": [1.5, None] * 20}
    sf.randomize(table, sf.Scheme(schema, {"Straße": c.symmetric(2, 0.2), "n": c.subset(9, 3)})).save("r.parquet")
    assert run("export r.parquet words.csv").code == 0
    assert Path("words.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert set(pd.read_csv("words.csv")["Straße"]) == {"groß", "klein"}


def test_sets_in_a_single_column_stay_one_column(here: Path) -> None:
    """Of a | b and nothing else, DuckDB took the stroke for the delimiter."""
    import duckdb

    schema = sf.Schema({"town": sf.Categorical(tuple(f"town {i}" for i in range(24)))})
    sf.randomize({"town": ["town 3"] * 300}, sf.Scheme.for_gamma(schema, 5)).save("towns.parquet")
    assert run("export towns.parquet towns.csv").code == 0
    table = duckdb.sql("select * from read_csv('towns.csv')")
    assert (table.columns, len(table.fetchall())) == (["town"], 300)


def test_large_releases_are_exported_in_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a batch of the file is in memory at a time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sf.Release, "arrow", lambda self: pytest.fail("the whole release was read"))
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    sf.randomize_file({"sex": ["F", "M"] * 5000}, "r.parquet", sf.Scheme.for_gamma(schema, 3))
    assert run("export r.parquet words.csv").code == 0
    assert len(Path("words.csv").read_text().splitlines()) == 10_001


def test_mgas_writes_edges_that_a_schema_takes(here: Path) -> None:
    line = "mgas patients.csv --column hours --min-records 500 --min-width 5"
    assert run(f"{line} --save hours.json").code == 0
    domain = sf.Schema.from_json(Path("hours.json").read_text())["hours"]
    codes = sf.Schema({"hours": domain}).encode("patients.csv")["hours"]
    assert np.bincount(codes).min() >= 500
    shown = json.loads(run(f"{line} --json").out)
    assert tuple(shown["edges"]) == domain.edges
    assert all(edge == int(edge) for edge in shown["edges"]), "of whole numbers, [20 to 25), not [19.5 to 24.5)"
    assert sum(shown["sizes"]) == 4000
    Path("mine.json").write_text(Path("schema.json").read_text())
    assert run("mgas patients.csv --column age --min-records 400 --min-width 5 --into mine.json").code == 0
    changed = sf.Schema.from_json(Path("mine.json").read_text())
    before = sf.Schema.from_json(Path("schema.json").read_text())
    assert changed.names == before.names
    assert changed["age"] != before["age"]
    assert changed["age"].nullable
    assert run("randomize patients.csv r.parquet --schema mine.json --gamma 3").code == 0


def test_estimate_shows_what_is_asked_for(here: Path) -> None:
    whole = json.loads(run("estimate north.parquet --columns education,sex --json").out)["cells"]
    women = json.loads(run("estimate north.parquet --columns education --where sex=F --json").out)
    assert women["where"] == {"sex": "F"}
    assert [cell["estimate"] for cell in women["cells"]] == [cell["estimate"] for cell in whole if cell["sex"] == "F"]
    top = json.loads(run("estimate north.parquet --columns education --where sex=F --top 3 --json").out)["cells"]
    assert [cell["estimate"] for cell in top] == sorted((cell["estimate"] for cell in women["cells"]), reverse=True)[:3]
    ran = run("estimate north.parquet --columns education,age --rows 5")
    assert "the 5 largest of" in ran.error and "--json all of them" in ran.error
    sizes = [float(line.split()[-4].replace(",", "")) for line in ran.out.splitlines()[2:]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(ran.out.splitlines()) <= 8
    assert "of records with sex = F" in run("estimate north.parquet --columns education --where sex=F").out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("join clinic.parquet -o x.parquet", "join needs at least two releases"),
        ("join clinic.parquet clinic.parquet -o x.parquet", "is named twice"),
        ("join north.parquet south.parquet -o x.parquet", "has no id column"),
        ("join clinic.parquet laboratory.parquet --on name -o x.parquet", "has no id column 'name'"),
        ("join clinic.parquet laboratory.parquet -o nowhere/x.parquet", "the folder nowhere does not exist"),
        ("join clinic.parquet laboratory.parquet -o clinic.parquet", "is read by this command"),
        ("concat north.parquet clinic.parquet -o x.parquet", "different id columns"),
        ("concat north.parquet south.parquet -o schema.json", "schema.json already exists"),
        ("concat north.parquet south.parquet", "--out"),
        ("export patients.csv x.csv", "patients.csv has no scheme"),
        ("export north.parquet x.xlsx", "must end in .csv or .tsv"),
        ("export north.parquet patients.csv", "patients.csv already exists"),
        ("export north.parquet x.csv --columns nothing", "there is no attribute 'nothing'"),
        ("mgas patients.csv --column nothing", "the table has no column 'nothing'"),
        ("mgas patients.csv --column note --min-records 5", "4,000 rows hold no number"),
        ("mgas patients.csv --column hours --min-records 9000", "--min-records must be at most"),
        ("mgas patients.csv --column hours --save patients.csv", "is read by this command"),
        ("estimate north.parquet --columns education --where sex", "--where must look like sex=F"),
        ("estimate north.parquet --columns education --where sex=X", "sex has no value 'X'; it has F, M"),
        ("estimate north.parquet --columns education --where nothing=X", "there is no attribute 'nothing'"),
        ("estimate north.parquet --columns sex --where sex=F", "leave it out of --columns"),
    ],
)  # fmt: skip
def test_errors_are_one_line(line: str, words: str, here: Path) -> None:
    ran = run(line)
    assert ran.code != 0
    lines = [text for text in ran.error.splitlines() if not text.startswith("warning:")]
    assert len(lines) == 1, ran.error
    assert words in lines[0]
    assert not (here / "x.parquet").exists()
    assert not (here / "x.csv").exists()


def test_a_damaged_release_is_said(here: Path) -> None:
    table = pq.read_table("north.parquet")
    nine = pa.array(np.full(table.num_rows, 9, dtype=np.uint8))
    spoilt = table.set_column(table.schema.get_field_index("sex"), table.schema.field("sex"), nine)
    about = {b"sfumato": pq.read_metadata("north.parquet").metadata[b"sfumato"]}
    pq.write_table(spoilt.replace_schema_metadata(about), "spoilt.parquet")
    assert "holds codes that its channel cannot release" in run("export spoilt.parquet x.csv").error


def test_the_output_may_be_the_last_name(here: Path) -> None:
    assert "4,000 records joined into both.parquet" in run("join clinic.parquet laboratory.parquet both.parquet").out
    assert "into all.csv" in run("concat north.parquet south.parquet all.csv").out
    assert all(run(f"counts {site}.parquet {site}.json").code == 0 for site in ("north", "south"))
    assert "into both.json" in run("add north.json south.json both.json").out
    kept = Path("south.parquet").read_bytes()
    ran = run("concat north.parquet south.parquet --overwrite", width=400)
    assert ran.code == 1 and "--out FILE (south.parquet exists" in ran.error
    assert Path("south.parquet").read_bytes() == kept
    assert "no-such.parquet does not exist" in run("join clinic.parquet no-such.parquet", width=400).error


def test_an_exported_set_names_all_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"town": sf.Categorical(tuple(f"t{i:02d}" for i in range(40)))})
    release = sf.randomize({"town": [f"t{i % 40:02d}" for i in range(80)]}, sf.Scheme.for_gamma(schema, 3), rng=1)
    release.save("r.parquet")
    assert run("export r.parquet words.csv").code == 0
    cells = pd.read_csv("words.csv")["town"].str.split(" | ", regex=False)
    assert cells.map(len).max() > 6 and cells.map(lambda names: set(names) <= {"any", *schema["town"].labels}).all()
