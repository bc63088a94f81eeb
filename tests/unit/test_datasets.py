"""The bundled data are the published ones, carry their credit, and wrong requests get one clear line."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from sfumato import datasets
from sfumato.datasets import catalog
from sfumato.errors import MissingPartError, SfumatoError

BUNDLED = [name for name in datasets.names() if datasets.describe(name).bundled]

# sha256 of the rows as JSON: a change of any cell, order or column name shows.
CONTENT = {
    "adult": "eaa7b3aedca8ab08",
    "mushroom": "ae9ce0a51746bcab",
    "breast_wisconsin": "0a5b784f0c52b59c",
    "breast_wisconsin_complete": "ce7c93fe240df296",
    "breast_ljubljana": "b5e777f87a1531a8",
    "ionosphere": "fade19b42f000ac4",
    "iris": "7fa0fd14dcb9b0f0",
    "lenses": "7894ffce6f0fabb1",
}


def content(table: pa.Table) -> str:
    rows = json.dumps([table.column_names, *(list(column) for column in table.to_pydict().values())])
    return hashlib.sha256(rows.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_set_has_the_shape_it_describes(name: str) -> None:
    table, item = datasets.load(name), datasets.describe(name)
    assert table.shape == (item.rows, item.columns)
    assert sum(column.null_count for column in table.columns) == item.missing
    assert item.target in table.column_names and table[item.target].null_count == 0


@pytest.mark.parametrize("name", BUNDLED)
def test_content_is_unchanged(name: str) -> None:
    assert content(datasets.load(name)) == CONTENT[name]


def test_content_notices_one_changed_cell() -> None:
    table = datasets.load("lenses")
    ages = ["presbyopic", *table["age"].to_pylist()[1:]]
    assert content(table.set_column(0, "age", pa.array(ages))) != CONTENT["lenses"]


def count(name: str, column: str, split: str | None = None) -> Counter[object]:
    return Counter(datasets.load(name, split)[column].to_pylist())


def test_class_counts_are_the_published_ones() -> None:
    assert count("adult", "income", "train") == {"<=50K": 24720, ">50K": 7841}
    assert count("adult", "income", "test") == {"<=50K": 12435, ">50K": 3846}
    assert round(count("adult", "income")["<=50K"] / 48842, 4) == 0.7607
    assert count("mushroom", "class") == {"e": 4208, "p": 3916}
    assert count("breast_wisconsin", "class") == {"benign": 458, "malignant": 241}
    assert count("breast_wisconsin_complete", "class") == {"benign": 444, "malignant": 239}
    assert count("breast_ljubljana", "recurrence") == {"no-recurrence-events": 201, "recurrence-events": 85}
    assert count("ionosphere", "class") == {"g": 225, "b": 126}
    assert count("iris", "species") == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert count("lenses", "lenses") == {"none": 15, "soft": 5, "hard": 4}


def test_missing_values_are_nulls_and_never_question_marks() -> None:
    for name in BUNDLED:
        for column in datasets.load(name).columns:
            assert "?" not in column.to_pylist()
    assert count("mushroom", "stalk-root")[None] == 2480
    assert count("breast_wisconsin", "bare_nuclei")[None] == 16
    assert count("breast_ljubljana", "node-caps")[None] == 8


def test_the_whole_is_train_then_test() -> None:
    whole = datasets.load("adult")
    assert whole.slice(0, 32561).equals(datasets.load("adult", "train"))
    assert whole.slice(32561).equals(datasets.load("adult", "test"))


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_set_carries_licence_and_credit(name: str) -> None:
    item = datasets.describe(name)
    assert "CC BY 4.0" in item.licence and "UCI" in item.credit and item.source.startswith("https://doi.org/10.24432/")
    assert item.changes and item.attribution in str(item)
    page = resources.files("sfumato.datasets").joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    assert item.credit in page and item.source in page and item.changes in page


def test_attribution_page_is_made_from_the_catalog() -> None:
    page = resources.files("sfumato.datasets").joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    assert page == catalog.attribution_page()


def test_the_files_are_small_and_all_used() -> None:
    files = list(resources.files("sfumato.datasets").joinpath("data").iterdir())
    assert sum(len(file.read_bytes()) for file in files) < 1_000_000
    used = {"adult_train", "adult_test", *BUNDLED} - {"adult", "breast_wisconsin_complete"}
    assert {file.name for file in files} == {f"{name}.parquet" for name in used}


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_unknown_name_suggests_the_near_one_and_lists_all() -> None:
    with pytest.raises(SfumatoError) as error:
        datasets.load("mushrom")
    text = one_line(error)
    assert "'mushrom'" in text and "did you mean 'mushroom'?" in text
    assert all(name in text for name in datasets.names())
    with pytest.raises(SfumatoError) as error:
        datasets.describe("q")
    assert "did you mean" not in one_line(error)


@pytest.mark.parametrize(
    ("name", "says"), [("adult", "split must be 'train' or 'test'"), ("iris", "iris has no splits")]
)
def test_wrong_split_says_which_are_allowed(name: str, says: str) -> None:
    with pytest.raises(SfumatoError, match="got 'validation'") as error:
        datasets.load(name, "validation")
    assert says in one_line(error)


PIMA = "preg,plas,pres,skin,insu,mass,pedi,age,y\n6,148,72,35,0,33.6,0.627,50,1\n1,85,66,29,0,26.6,0.351,31,0\n"
SVM = "x1,x2,x3,x4,y\n26.173,58.867,-0.1894697,125.1225,1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    return tmp_path


def test_unbundled_sets_come_from_the_users_folder(folder: Path) -> None:
    (folder / "pima.csv").write_text(PIMA)
    (folder / "svmguide1_train.csv").write_text(SVM)
    (folder / "svmguide1_test.csv").write_text(SVM.replace("26.173", "4.0"))
    pima = datasets.load("pima")
    assert pima["age"].to_pylist() == [50, 31] and pima["mass"].to_pylist() == [33.6, 26.6]
    assert datasets.load("svmguide1")["x1"].to_pylist() == [26.173, 4.0]
    assert datasets.load("svmguide1", "test")["x1"].to_pylist() == [4.0]


def test_wrong_columns_in_the_users_file_are_named(folder: Path) -> None:
    (folder / "pima.csv").write_text(PIMA.replace("pedi", "pedigree"))
    with pytest.raises(SfumatoError, match=r"must have the columns preg,.*pedi.*got .*pedigree") as error:
        datasets.load("pima")
    one_line(error)


def test_a_word_among_numbers_in_the_users_file_is_one_line(folder: Path) -> None:
    (folder / "pima.csv").write_text(PIMA.replace("33.6", "heavy"))
    with pytest.raises(SfumatoError, match=r"pima\.csv cannot be read as pima: .*heavy") as error:
        datasets.load("pima")
    one_line(error)


def openml(monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    def fetch_openml(**_: object) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)


def test_openml_answer_is_put_in_our_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.arange(768 * 8, dtype=float).reshape(768, 8)
    target = np.array(["tested_positive"] * 268 + ["tested_negative"] * 500)
    openml(monkeypatch, SimpleNamespace(data=data, target=target))
    table = datasets.load("pima")
    assert table.column_names[:2] == ["preg", "plas"] and table["plas"].to_pylist()[:2] == [1, 9]
    assert sum(table["y"].to_pylist()) == 268


def test_openml_splits_are_cut_where_the_training_part_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    target = np.array(["1"] * 3089 + ["0"] * 4000)
    openml(monkeypatch, SimpleNamespace(data=np.zeros((7089, 4)), target=target))
    assert set(datasets.load("svmguide1", "train")["y"].to_pylist()) == {1}
    assert datasets.load("svmguide1", "test")["y"].to_pylist() == [0] * 4000


@pytest.mark.parametrize("failure", [OSError("no\nroute"), ValueError("not found"), TimeoutError()])
def test_no_folder_and_no_network_name_the_remedy(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    openml(monkeypatch, failure)
    with pytest.raises(SfumatoError, match=r"set SFUMATO_DATA to a folder that holds pima\.csv") as error:
        datasets.load("pima")
    one_line(error)


def test_a_different_openml_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    openml(monkeypatch, SimpleNamespace(data=np.zeros((10, 8)), target=np.zeros(10)))
    with pytest.raises(SfumatoError, match=r"10 rows and 9 columns, not 768 and 9.*SFUMATO_DATA") as error:
        datasets.load("pima")
    one_line(error)


def test_without_scikit_learn_the_folder_is_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingPartError, match=r"SFUMATO_DATA.*needs scikit-learn") as error:
        datasets.load("svmguide1")
    one_line(error)


def test_importing_datasets_loads_no_heavy_package() -> None:
    script = "import sys, sfumato.datasets; print({'pyarrow', 'sklearn', 'pandas'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
