"""Clean tables that come with scikit-learn, statsmodels and the package, in a few values an attribute.

A number becomes one of three to five groups of about as many records each. ``CHOSEN_ON`` names the tables that
constants of the package were set on; nothing was set on the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.datasets import discretized

CHOSEN_ON = ("iris", "wine", "wisconsin", "adult", "mushroom")
#: The columns of each table, in groups: how many, or 0 for values as they are. The class comes last.
_SCIKIT_LEARN = {
    "iris": {0: 3, 1: 3, 2: 3, 3: 3},
    "wine": {0: 3, 6: 3, 9: 3, 10: 3, 11: 3, 12: 3},
    "breast_cancer": {1: 3, 7: 4, 21: 3, 24: 3},
    "digits": {10: 3, 20: 3, 28: 3, 42: 3, 54: 3},
    "diabetes": {0: 3, 2: 4, 3: 3, 8: 4},
}
_STATSMODELS = {
    "anes96": {"TVnews": 3, "selfLR": 0, "ClinLR": 4, "educ": 4, "income": 4, "vote": 0},
    "fair": {"rate_marriage": 0, "age": 4, "yrs_married": 4, "religious": 0, "occupation": 4, "affairs": 2},
    "randhie": {"lncoins": 3, "idp": 0, "disea": 4, "hlthg": 0, "hlthf": 0, "mdvis": 3},
    "modechoice": {"mode": 0, "ttme": 3, "invc": 3, "hinc": 3, "choice": 0},
}
TABLES = (*CHOSEN_ON, "breast_cancer", "digits", "diabetes", *_STATSMODELS, "ljubljana", "ionosphere")


@cache
def table(name: str) -> tuple[Any, sf.Schema, str]:
    """The clean table, its schema and the class."""
    if name in _SCIKIT_LEARN:
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")()
        codes = {f"x{i}": _groups(found.data[:, i], parts) for i, parts in _SCIKIT_LEARN[name].items()}
        target = _groups(found.target, 2) if name == "diabetes" else found.target
        kept = target < 4  # of digits, the first four
        return _coded({each: column[kept] for each, column in codes.items()} | {"class": target[kept]})
    if name in _STATSMODELS:
        from statsmodels import datasets

        frame = getattr(datasets, name).load_pandas().data
        columns = {each: frame[each].to_numpy(float) for each in _STATSMODELS[name]}
        return _coded({each: _groups(columns[each], parts) for each, parts in _STATSMODELS[name].items()})
    if name == "ljubljana":
        return _read("breast_ljubljana", {"age": 0, "menopause": 0, "deg-malig": 0, "irradiat": 0, "recurrence": 0})
    if name == "ionosphere":
        return _read("ionosphere", {"a3": 3, "a5": 3, "a8": 3, "a27": 3, "class": 0})
    if name == "adult":
        names = ["education", "marital", "occupation", "sex", "gain", "income"]
        return discretized.adult("train").select(names), discretized.ADULT.select(names), "income"
    schema = discretized.WISCONSIN if name == "wisconsin" else discretized.MUSHROOM
    return getattr(discretized, name)(), schema, "class"


def _read(name: str, parts: Mapping[str, int]) -> tuple[Any, sf.Schema, str]:
    from sfumato.datasets import load

    raw = load(name)
    return _coded({each: _groups(np.array(raw.column(each).to_pylist()), count) for each, count in parts.items()})


def _coded(columns: Mapping[str, NDArray[np.int64]]) -> tuple[Any, sf.Schema, str]:
    """The last column is the class."""
    schema = sf.Schema({each: sf.Categorical(tuple(range(int(codes.max()) + 1))) for each, codes in columns.items()})
    return schema.decode(dict(columns)), schema, list(columns)[-1]


def _groups(values: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """Codes of the values as they are, or of groups of about as many records each."""
    if parts:
        values = np.searchsorted(np.unique(np.quantile(values, np.arange(1, parts) / parts)), values)
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)
