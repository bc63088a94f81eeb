"""The papers' tables as Ma (2006) mined them: real data with few values per attribute, and their schemas.

The paper gives only the cardinalities (Adult 4, 3, 3, 3, 2, 3, 2, 3, 2, 3, 2; Wisconsin 3, 2, 3, 2, ...; Mushroom 23
items of nine attributes); which values fall together is our choice, written here once for tests, papers and benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.datasets import load
from sfumato.schema import Categorical, Ordinal, Schema

if TYPE_CHECKING:
    import pyarrow as pa

ADULT = Schema(
    {
        "age": Ordinal(("to 27", "28-37", "38-50", "over 50")),
        "workclass": Categorical(("private", "self-employed", "other")),
        "education": Ordinal(("school", "college", "degree")),
        "marital": Categorical(("married", "never", "was married")),
        "race": Categorical(("white", "other")),
        "occupation": Categorical(("managing", "middle", "manual")),
        "sex": Categorical(("female", "male")),
        "relationship": Categorical(("spouse", "child", "other")),
        "gain": Categorical(("none", "some")),
        "hours": Ordinal(("to 34", "35-42", "over 42")),
        "income": Categorical(("<=50K", ">50K")),
    }
)

_MANAGING = ("Exec-managerial", "Prof-specialty")
_MIDDLE = (
    "Tech-support", "Sales", "Protective-serv", "Craft-repair", "Adm-clerical", "Transport-moving", "Armed-Forces",
)  # fmt: skip
_MARRIED = ("Married-civ-spouse", "Married-AF-spouse")

_GRADES = (
    "clump_thickness", "cell_size_uniformity", "cell_shape_uniformity", "marginal_adhesion", "epithelial_cell_size",
    "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses",
)  # fmt: skip

WISCONSIN = Schema(
    {name: Ordinal(("low", "high") if place % 2 else ("low", "middle", "high")) for place, name in enumerate(_GRADES)}
    | {"class": Categorical(("benign", "malignant"))}
)

#: Mushroom attributes and how their letters fall together: five with three values and four with two make 23 items.
_MUSHROOM: dict[str, tuple[tuple[str, str], ...]] = {
    "odor": (("n", "none"), ("al", "pleasant"), ("", "foul")),
    "spore": (("kn", "dark"), ("w", "white"), ("", "other")),
    "gill_color": (("b", "buff"), ("wpu", "light"), ("", "other")),
    "habitat": (("d", "woods"), ("g", "grasses"), ("", "other")),
    "population": (("v", "several"), ("y", "solitary"), ("", "other")),
    "bruises": (("t", "yes"), ("", "no")),
    "gill_size": (("b", "broad"), ("", "narrow")),
    "stalk_shape": (("e", "enlarging"), ("", "tapering")),
    "class": (("e", "edible"), ("", "poisonous")),
}
_MUSHROOM_COLUMN = {
    "spore": "spore-print-color", "gill_color": "gill-color", "gill_size": "gill-size", "stalk_shape": "stalk-shape",
}  # fmt: skip

MUSHROOM = Schema({name: Categorical(tuple(word for _, word in rules)) for name, rules in _MUSHROOM.items()})


def adult(split: str | None = None) -> pa.Table:
    """Adult in eleven attributes, income included: 46 656 cells.

    >>> adult("test").num_rows, ADULT.sizes()
    (16281, (4, 3, 3, 3, 2, 3, 2, 3, 2, 3, 2))
    """
    raw = load("adult", split=split)
    column = _reader(raw)
    job, married, kin = column("occupation"), column("marital-status"), column("relationship")
    worker = column("workclass")
    codes = {
        "age": np.digitize(_numbers(raw, "age"), [28, 38, 51]),
        "workclass": _first(worker == "Private", np.isin(worker, ("Self-emp-inc", "Self-emp-not-inc"))),
        "education": np.digitize(_numbers(raw, "education-num"), [10, 13]),
        "marital": _first(np.isin(married, _MARRIED), married == "Never-married"),
        "race": _first(column("race") == "White"),
        "occupation": _first(np.isin(job, _MANAGING), np.isin(job, _MIDDLE)),
        "sex": (column("sex") == "Male").astype(int),
        "relationship": _first(np.isin(kin, ("Husband", "Wife")), kin == "Own-child"),
        "gain": (_numbers(raw, "capital-gain") > 0).astype(int),
        "hours": np.digitize(_numbers(raw, "hours-per-week"), [35, 43]),
        "income": (column("income") == ">50K").astype(int),
    }
    return ADULT.decode(codes)


def wisconsin() -> pa.Table:
    """Breast Cancer Wisconsin, 683 complete records, grades 1-10 cut into three or two.

    >>> WISCONSIN.sizes()
    (3, 2, 3, 2, 3, 2, 3, 2, 3, 2)
    """
    raw = load("breast_wisconsin_complete")
    codes = {name: np.digitize(_numbers(raw, name), [4] if place % 2 else [3, 7]) for place, name in enumerate(_GRADES)}
    codes["class"] = (_reader(raw)("class") == "malignant").astype(int)
    return WISCONSIN.decode(codes)


def mushroom() -> pa.Table:
    """Mushroom in nine attributes with 23 values in all.

    >>> mushroom().num_rows, sum(MUSHROOM.sizes())
    (8124, 23)
    """
    column = _reader(load("mushroom"))
    codes = {}
    for name, rules in _MUSHROOM.items():
        letters = column(_MUSHROOM_COLUMN.get(name, name))
        codes[name] = _first(*(np.isin(letters, list(held)) for held, _ in rules[:-1]))
    return MUSHROOM.decode(codes)


def _reader(raw: pa.Table) -> Callable[[str], Any]:
    return lambda name: np.array(raw.column(name).to_pylist(), dtype=object)


def _numbers(raw: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(raw.column(name).to_numpy(), dtype=np.float64)


def _first(*conditions: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of the first condition that holds, or one more than the last."""
    return np.asarray(np.select(list(conditions), list(range(len(conditions))), default=len(conditions)))


def item_groups(sizes: dict[str, tuple[int, ...]]) -> tuple[tuple[str, ...], ...]:
    """Items grouped as the paper groups them; ``sizes`` says how each attribute's items are cut."""
    out = []
    for name, cut in sizes.items():
        schema = ADULT if name in ADULT and sizes.keys() <= set(ADULT) else MUSHROOM
        labels, at = schema[name].labels, 0
        for width in cut:
            out.append(tuple(f"{name}={label}" for label in labels[at : at + width]))
            at += width
    return tuple(out)


#: Ma (2006) section 7.1.4, experiment 2: 30 items in four groups of 3, five of 2 and eight of 1.
ADULT_GROUPS = item_groups(
    {
        "age": (3, 1), "workclass": (3,), "education": (3,), "marital": (3,), "race": (2,), "occupation": (2, 1),
        "sex": (2,), "relationship": (2, 1), "gain": (1, 1), "hours": (2, 1), "income": (1, 1),
    }
)  # fmt: skip

#: Experiment 1: 23 items in four groups of 3, two of 2 and seven of 1.
MUSHROOM_GROUPS = item_groups(
    {
        "odor": (3,), "spore": (3,), "gill_color": (3,), "habitat": (3,), "population": (2, 1), "bruises": (2,),
        "gill_size": (1, 1), "stalk_shape": (1, 1), "class": (1, 1),
    }
)  # fmt: skip
