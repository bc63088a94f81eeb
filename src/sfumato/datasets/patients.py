"""An invented clinic's patients, built on real census records: the small messy table of README and docs.

Sex, age, education, weekly hours and income are rows of Adult. Everything a clinic would add (numbers, dates, grades,
laboratory values, remarks) is invented here, always in the same way, and belongs to nobody.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.datasets import load
from sfumato.schema import Categorical, Date, Numeric, Ordinal, Schema

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 4000

#: Schooling, lowest first, as the census orders it.
SCHOOLING = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip

#: What is publicly known about the columns worth releasing; the others name persons or say nothing.
SCHEMA = Schema(
    {
        "admitted": Date("2023-01", "2024-12", by="month"),
        "sex": Categorical(("F", "M")),
        "age": Numeric(15, 95, bins=16, nullable=True),
        "education": Ordinal(SCHOOLING),
        "income": Categorical(("<=50K", ">50K")),
        "smoker": Categorical(("no", "yes"), nullable=True),
        "grade": Ordinal(("a", "b", "c")),
        "glucose": Numeric(3, 15, bins=12, clip=True),
        "weight": Numeric(40, 160, bins=12, clip=True, unit="kg"),
    }
)

#: Which columns each of two parties holds of the same patients.
CLINIC = ("sex", "age", "grade")
LABORATORY = ("smoker", "glucose")

_NOTES = (
    "seen with a relative, no complaints",
    "asked for a second opinion; letter sent",
    "tolerates the new dose well",
    "came late, bloods drawn at noon",
    "phone call: appointment moved",
    "referred back to the family doctor",
)


def patients(rows: int = ROWS) -> pa.Table:
    """The whole table, every column as the text that stands in the file.

    >>> patients(3).column("patient").to_pylist()
    ['00137', '00144', '00151']
    """
    import pyarrow as pa

    people = load("adult", split="train").slice(0, rows).to_pydict()
    rng = np.random.default_rng(20)
    n = len(people["age"])
    age = np.array(people["age"])
    smoker = rng.random(n) < np.where(np.array(people["sex"]) == "Male", 0.32, 0.21)
    glucose = np.clip(4.4 + 0.025 * (age - 20) + 0.5 * smoker + rng.gamma(2.0, 0.45, n), 3.0, 15.0)
    severity = rng.normal(0.03 * (age - 45) + 0.4 * smoker, 1.0)
    first = date(2023, 1, 2)
    admitted = np.sort(rng.integers(0, 730, n))
    columns: dict[str, list[Any]] = {
        "patient": [f"{137 + 7 * i:05d}" for i in range(n)],
        "admitted": [(first + timedelta(days=int(day))).isoformat() for day in admitted],
        "sex": [value[0] for value in people["sex"]],
        "age": _gaps(people["age"], rng, 0.02),
        "education": people["education"],
        "hours": people["hours-per-week"],
        "income": people["income"],
        "smoker": _gaps(["yes" if yes else "no" for yes in smoker], rng, 0.05),
        "grade": ["abc"[place] for place in np.digitize(severity, (0.0, 1.0))],
        "glucose": [f"{value:.1f}" for value in glucose],
        "weight": [f"{value:.1f} kg" for value in rng.normal(76, 12, n).clip(42, 160)],
        "postcode": [f"{code:05d}" for code in rng.integers(1000, 9999, n)],
        "ward": ["B"] * n,
        "note": [f"{_NOTES[a]}; {_NOTES[b]}" for a, b in rng.integers(0, len(_NOTES), (n, 2))],
    }
    return pa.table({name: ["" if v is None else str(v) for v in values] for name, values in columns.items()})


def _gaps(values: list[Any], rng: np.random.Generator, share: float) -> list[Any]:
    missing = rng.random(len(values)) < share
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]
