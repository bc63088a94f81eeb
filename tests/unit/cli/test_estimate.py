"""sfumato estimate --where, --top and --plot: what is asked for is what is counted, printed and drawn."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.cli import count_table
from sfumato.evidence import plot


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(4)
    schema = sf.Schema(
        {
            "sex": sf.Categorical(("F", "M")),
            "age": sf.Numeric(18, 63, bins=15),
            "vote": sf.Categorical(("yes", "no"), nullable=True),
        }
    )
    table = {
        "sex": rng.choice(["F", "M"], 500),
        "age": rng.uniform(18, 63, 500),
        "vote": rng.choice(["yes", "no", None], 500),
    }
    sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=3)).save(tmp_path / "release.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def held(where: str) -> dict[str, object]:
    ran = run(f"estimate release.parquet --columns sex {where} --json")
    assert ran.code == 0, ran.error
    return json.loads(ran.out)["where"]


def test_conditions_add_up_however_they_are_given() -> None:
    assert held("--where age=20 --where vote=yes") == held("--where age=20,vote=yes")
    assert held("--where age=20 --where vote=yes") == {"age": "[18, 21)", "vote": "yes"}
    refused = run("estimate release.parquet --columns sex --where vote=yes --where vote=no")
    assert (refused.code, "two values of 'vote': counts take one" in refused.error) == (1, True)


def test_questions_take_records_that_hold_either_of_two_values() -> None:
    both = json.loads(run("estimate release.parquet --mean age --where vote=yes --where vote=no --json").out)
    asked = sf.evidence(sf.Release.load("release.parquet"))
    assert both["where"] == {"vote": ["yes", "no"]} and both["question"] == "mean of age where vote = yes or no"
    assert both["rows"][0]["estimate"] == pytest.approx(asked.mean("age", where={"vote": ["yes", "no"]}).value[0])
    assert "where vote = yes;" in run("estimate release.parquet --mean age --where vote=yes --where vote=yes").out


@pytest.mark.parametrize("written", ["'age=[60, 63]'", "age=61", "age=63", "'age=\"[60, 63]\"'"])
def test_a_bin_is_named_by_its_label_or_by_a_number_in_it(written: str) -> None:
    assert held(f"--where {written}") == {"age": "[60, 63]"}


def test_a_number_outside_is_refused() -> None:
    ran = run("estimate release.parquet --columns sex --where age=99")
    assert (ran.code, "age has no value '99'; it has [18 to 21)" in ran.error) == (1, True)


def test_a_missing_answer_has_words() -> None:
    assert held("--where 'vote=no answer'") == held("--where vote=") == {"vote": None}
    assert "no answer" in run("estimate release.parquet --columns vote").out
    assert "of records with vote = no answer" in run("estimate release.parquet --columns sex --where vote=").out
    assert "yes, no, no answer\n" in run("estimate release.parquet --columns sex --where vote=maybe").error
    assert "no answer" in repr(sf.evidence(sf.Release.load("release.parquet")).counts(["vote"]))


def test_the_picture_shows_the_cells_that_are_printed() -> None:
    with mock.patch.object(plot, "_labels", wraps=plot._labels), mock.patch.object(plot, "saved") as saved:
        ran = run("estimate release.parquet --columns age,sex --where vote=yes --top 4 --plot some.svg")
    assert ran.code == 0, ran.error
    (axes,) = saved.call_args.args[0].axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == 4
    assert all(label.endswith("yes") for label in labels)


def test_a_table_too_fine_for_its_records_says_so() -> None:
    ran = run("estimate release.parquet --columns age,sex,vote")
    assert "cells may be empty: their intervals reach 0" in ran.error
    assert "e-" not in ran.out
    assert "may be empty" not in run("estimate release.parquet --columns sex").error


def test_limits_are_sought_only_for_the_cells_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    whole = sf.Estimate.interval

    def counted(self, level=0.95, cells=None):
        asked.append(None if cells is None else len(cells))
        return whole(self, level, cells)

    monkeypatch.setattr(sf.Estimate, "interval", counted)
    assert run("estimate release.parquet --columns sex,age,vote --rows 7 --plot few.svg").code == 0
    assert asked == [7, 7], "once for the table, once for the picture"


@pytest.mark.parametrize("method", ["moment", "mle", "model"])
def test_some_cells_have_the_limits_they_have_among_all(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
        found = sf.evidence(sf.Release.load("release.parquet"), method=method).counts(["age", "vote"])
    cells = np.array([40, 3, 17])
    for some, all_of_them in zip(found.interval(0.9, cells), found.interval(0.9), strict=True):
        np.testing.assert_array_equal(some, all_of_them[cells])
    assert found.frame(0.9, cells=cells).equals(found.frame(0.9).take(cells))


def test_a_number_names_its_value_however_it_is_written() -> None:
    schema = sf.Schema({"dose": sf.Ordinal((1.0, 2.5, 7.0)), "sex": sf.Categorical(("F", "M"))})
    table = {"dose": [1.0, 2.5, 7.0] * 20, "sex": ["F", "M", "M"] * 20}
    sf.randomize(table, sf.Scheme.for_gamma(schema, 3)).save("doses.parquet")
    ran = run("estimate doses.parquet --columns sex --where dose=7 --json")
    assert (ran.code, json.loads(ran.out)["where"]) == (0, {"dose": 7.0})
    assert "dose has no value '3'" in run("estimate doses.parquet --columns sex --where dose=3").error


def test_false_answers_are_bounded_beside_each_estimate() -> None:
    shown = json.loads(run("estimate release.parquet --columns sex --population --false 0.01 --json").out)
    bound = sf.accuracy.poisoning(sf.Release.load("release.parquet").scheme, 0.01, "sex")
    assert [cell["false_up"] for cell in shown["cells"]] == pytest.approx(bound.up)
    counts = json.loads(run("estimate release.parquet --columns sex --false 0.01 --json").out)
    assert [cell["false_down"] for cell in counts["cells"]] == pytest.approx(500 * bound.down)
    assert "false_up" in run("estimate release.parquet --columns sex --where vote=yes --false 0.01").out
    assert "false_up" not in run("estimate release.parquet --columns sex").out
    assert "--false: share must lie" in run("estimate release.parquet --columns sex --false 1.5").error


def test_liars_and_evasive_people_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    schema = sf.Schema({"drugs": sf.Categorical(("no", "yes"))})
    table = {"drugs": np.repeat(["no", "yes"], [700, 300])}
    for name, p in (("one", 0.2), ("two", 0.4)):
        scheme = sf.Scheme(schema, {"drugs": sf.channels.binary(p, p / 2)})
        sf.randomize(table, scheme, rng=sf.experiment(1)).save(f"{name}.parquet")
    said = json.loads(run("estimate one.parquet --columns drugs --false .05 --robust --json").out)
    direct = sf.accuracy.robust(sf.Release.load("one.parquet"), 0.05, "drugs")
    assert [cell["low"] for cell in said["cells"]] == pytest.approx(direct.low.tolist())
    assert "if 5 % of the answers are false" in run("estimate one.parquet --columns drugs --false .05 --robust").out
    said = json.loads(run("estimate one.parquet two.parquet --columns drugs --evasive no --json").out)
    both = sf.Release.concat([sf.Release.load("one.parquet"), sf.Release.load("two.parquet")])
    assert said["cheating"] == pytest.approx(sf.accuracy.evasive(both, attribute="drugs").cheating)
    assert "among everybody: between" in run("estimate one.parquet two.parquet --columns drugs --evasive no").out
    for line, words in (
        ("--robust", "--false"),
        ("--evasive maybe", "one of the two values of drugs: no, yes"),
        ("--evasive no --top 3", "only"),
    ):
        refused = run(f"estimate one.parquet --columns drugs {line}")
        assert refused.code != 0 and words in refused.error, refused.error


def test_a_release_that_is_named_twice_is_refused() -> None:
    for command in ("estimate", "learn rules", "counts -o c.json"):
        ran = run(f"{command} release.parquet ./release.parquet" + (" --columns sex" if command == "estimate" else ""))
        assert (ran.code, "release.parquet is named twice: its records would count twice" in ran.error) == (1, True)


def test_a_copy_under_another_name_is_said(tmp_path: Path) -> None:
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(Path("release.parquet").read_bytes())
    said = " ".join(run(f"estimate release.parquet {copy} --columns sex").error.split())
    assert "copy.parquet is a copy of release.parquet: if they hold the same records" in said
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    sf.randomize({"sex": ["F", "M"] * 250}, sf.Scheme.for_gamma(schema, gamma=3)).save("other.parquet")
    ran = run("estimate release.parquet other.parquet --columns sex")
    assert (ran.code, "is a copy of" in ran.error) == (0, False)


def test_a_question_about_several_attributes_says_that_it_takes_one() -> None:
    for option in ("--mean", "--median", "--cdf"):
        assert (
            f"{option} takes one attribute, got age,vote instead"
            in run(f"estimate release.parquet {option} age,vote").error
        )
    assert "there is no attribute 'ages'" in run("estimate release.parquet --mean ages").error


@pytest.mark.parametrize("option", ["--values yes", "--robust", "--evasive no", "--top 3", "--false .01"])
def test_what_is_about_counts_is_not_ignored_beside_a_mean(option: str) -> None:
    ran = run(f"estimate release.parquet --mean age {option}")
    assert (ran.code, f"{option.split()[0]} is about counts" in ran.error) == (1, True)


@pytest.mark.parametrize("options", ["--evasive yes --false .1", "--evasive yes --method mle", "--evasive yes --top 2"])
def test_evasive_answers_go_with_one_attribute_alone(options: str) -> None:
    ran = run(f"estimate release.parquet --columns vote {options}")
    assert (ran.code, "go with one attribute" in ran.error) == (1, True)


def test_values_are_taken_as_they_are_printed() -> None:
    found = json.loads(run("estimate release.parquet --columns age --values '[18 to 21),[60, 63],40' --json").out)
    assert [cell["age"] for cell in found["cells"]] == ["[18, 21)", "[60, 63]", "[39, 42)"]
    found = json.loads(run("estimate release.parquet --columns vote --values 'yes,no answer' --json").out)
    assert [cell["vote"] for cell in found["cells"]] == ["yes", None]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("estimate release.parquet --columns sex --values F,G", "--values: sex has no value 'G'; it has F, M"),
        ("estimate release.parquet --columns sex --roll-up town", "none of the columns has a level 'town'"),
        ("estimate release.parquet --quantiles 2 --columns age", "--quantiles must lie in (0, 1)"),
        ("attack bayes release.parquet --attribute sex --shares F=.4", "--shares must name every value"),
        (
            "attack bayes release.parquet --attribute sex --shares G=.4,M=.6",
            "--shares must name values of the attribute",
        ),
        ("learn model release.parquet --sample s.parquet", "s.parquet: synthetic records are written as .csv"),
        ("learn tree release.parquet --target sex --depth -1", "--depth"),
        ("learn rules release.parquet --show -2", "--show"),
        ("resample numbers.csv --max-risk 3", "--max-risk is a membership AUC"),
        ("density numbers.csv --column z --noise gaussian:1", "its only column is not called so"),
        ("density numbers.csv --column x --noise gaussian:1 --stop now", "--stop must go with the method em or as"),
    ],
)
def test_what_was_typed_is_what_the_refusal_names(typed: str, said: str, here: Path) -> None:
    (here / "numbers.csv").write_text("x\n" + "\n".join(f"{i / 7:.3f}" for i in range(50)) + "\n")
    ran = run(typed)
    assert ran.code in (1, 2) and said in ran.error, ran.error


def test_the_largest_say_how_sure_their_places_are() -> None:
    """Of fifty birthplaces the five with the largest estimates were listed; the first one had 20 people."""
    said = run("estimate release.parquet --columns age --top 2").error
    assert "the largest by their estimates: none of them is sure to be among the 2 largest, " in said
    assert "sure to be" not in run("estimate release.parquet --columns age --top 15").error
    schema = sf.Schema({"town": sf.Categorical(tuple("abcdef"))})
    towns = {"town": list("a" * 3000 + "b" * 2000 + "cdef" * 100)}
    sf.randomize(towns, sf.Scheme.for_gamma(schema, gamma=9)).save("towns.parquet")
    assert "sure to be" not in run("estimate towns.parquet --columns town --top 1").error
    assert "sure to be" not in run("estimate towns.parquet --columns town --top 2").error
    assert (
        "only 2 of them are sure to be among the 3 largest, 6 cells"
        in run("estimate towns.parquet --columns town --top 3").error
    )


@pytest.fixture
def large(here: Path) -> Path:
    """Five attributes of 33 values each: their table would have 39 million cells."""
    codes = np.random.default_rng(2).integers(0, 33, (400, 5))
    rows = {name: codes[:, i] for i, name in enumerate("abcde")}
    schema = sf.Schema({name: sf.Ordinal(tuple(range(33))) for name in rows})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(33, 0.1) for name in schema})
    path = here / "large.parquet"
    sf.randomize(rows, scheme, rng=sf.experiment(1)).save(path)
    return path


def test_counts_of_a_table_too_large_to_list_are_read_off_the_records(large: Path) -> None:
    """They were refused, and means of the same records were not."""
    told = json.loads(run(f"estimate {large} --columns a --where b=3,c=4,d=5,e=6 --json").out)
    cells = np.array([[a, 3, 4, 5, 6] for a in range(33)])
    own = sf.evidence(sf.Release.load(large)).cells(list("abcde"), cells)
    assert [row["estimate"] for row in told["cells"]] == pytest.approx(own.value) and told["method"] == "moment"
    assert "of records with b = 3" in run(f"estimate {large} --columns a --where b=3,c=4,d=5,e=6 --top 3").out
    refused = run(f"estimate {large} --columns a,b,c,d --where e=6")
    assert refused.code == 1 and "fix the values of more columns with --where" in refused.error
    assert "(--where)" in run(f"estimate {large} --columns a,b,c,d,e --top 3").error
    assert "--false: the table" in run(f"estimate {large} --columns a --where b=3,c=4,d=5,e=6 --false .01").error


def test_cells_read_off_the_records_are_those_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "estimate release.parquet --columns sex,vote --where age=20 --method moment --json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = json.loads(run(asked).out)["cells"]
    monkeypatch.setattr(count_table, "DENSE_CELLS", 10)
    each = json.loads(run(asked).out)["cells"]
    assert [[row[key] for key in ("sex", "vote")] for row in each] == [[row["sex"], row["vote"]] for row in whole]
    for key in ("estimate", "sd", "low", "high"):
        assert [row[key] for row in each] == pytest.approx([row[key] for row in whole])


def test_a_model_answers_means_of_records_whose_table_is_too_large(large: Path) -> None:
    ran = run(f"estimate {large} --mean a --by e --where b=3,c=4,d=5 --method model --json")
    assert ran.code == 0 and len(json.loads(ran.out)["rows"]) == 33, ran.error
