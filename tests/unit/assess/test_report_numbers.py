"""Every number in the tables of a report is the one of its JSON, as many digits as are written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.assess.report import TOGETHER, Report, report

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:\s·\s10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?")


class Tables(HTMLParser):
    """The rows of every table, by the label that is read aloud, and the lines beside the badges of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.grades: list[str] = []
        self._rows: list[list[str]] = []
        self._into: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("role") == "region":
            self._rows = self.tables.setdefault(str(given["aria-label"]), [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td"):
            self._into = self._rows[-1]
            self._into.append("")
        elif tag == "p" and given.get("class") == "grade":
            self._into = self.grades
            self._into.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "p"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:  # spaces that do not break are spaces
            self._into[-1] += data.replace("\xa0", " ")


def numbers(text: str) -> Iterator[tuple[float, float]]:
    """The numbers in a text, each with the worth of its last digit; of percentages and points as shares."""
    for found in _NUMBER.finditer(text):
        digits = found.group().split(" ")[0].replace(",", "")
        power = 10.0 ** int((found.group(1) or "⁰").translate(_SUPERSCRIPT))
        share = 100.0 if re.match(r"\s(%|points)", text[found.end() :]) else 1.0
        last = 10.0 ** -len(digits.partition(".")[2])
        if "." not in digits:  # of two digits and a rounding, 1,300 may be 1,284
            last = 10.0 ** max(len(digits) - 3, 0) if share == 1 and len(digits) > 3 else 1.0
        yield float(digits) * power / share, last * power / share


def says(text: str, *values: Any) -> None:
    """Whether a cell says these values and no others."""
    finite = [float(value) for value in values if float(value) != math.inf]
    assert text.count("∞") == len(values) - len(finite), (text, values)
    if "nothing can be said" in text:
        assert finite[0] >= 1
        return
    if "almost" in text:
        finite = [value for value in finite if not 0.999 < value < 1]
        text = text.replace("almost 100 %", "")
    found = list(numbers(text))
    assert len(found) == len(finite), (text, values)
    for (written, last), value in zip(found, finite, strict=True):
        assert abs(written - value) <= last * (1 + 1e-9), (text, values)


#: What stands beside each number of an attribute, and where the document has it.
OWN: dict[str, Callable[[dict[str, Any]], tuple[Any, ...]]] = {
    "gamma, epsilon": lambda one: (one["gamma"], one["epsilon"]),
    "gamma within a group": lambda one: (one["gamma_within"],),
    "values": lambda one: (one["values"],),
    "values, answers": lambda one: (one["values"], one["answers"]),
    "best guess, blind guess": lambda one: (one["guess"], one["guess_blind"]),
    "surest belief after an answer": lambda one: (one["surest"],),
    "unknown bits before, after": lambda one: (one["entropy"], one["conditional_entropy"]),
    "privacy loss (average)": lambda one: (one["privacy_loss"],),
    "hides among, unevenness": lambda one: (one["k_anonymity"], one["k_distance"]),
    "telling two values apart": lambda one: (one["auc"],),
    "looks changed and is not, ever seen": lambda one: (one["changes"]["without"], one["changes"]["ever"]),
    "effective sample, ceiling": lambda one: (one["effective_sample_size"], one["effective_sample_bound"]),
    "each share, 95 %": lambda one: (one["half_width"],),
    "the mean, 95 %": lambda one: (one["half_width_mean"],),
    "each running share, 95 %": lambda one: (one["half_width_cdf"],),
    "standard deviation": lambda one: (one["sd"],),
    "95 % interval": lambda one: (one["interval"],),
}


def check(found: Report) -> int:
    """How many cells were held against the document."""
    page, document = Tables(found.html()), json.loads(found.json())
    attributes, noise = document["attributes"], document["additive_noise"]
    overview = page.tables["Protection and accuracy of every attribute"][1:]
    checked = 0
    for one, row in zip(attributes, overview, strict=False):
        if one["values"] == 1:
            assert row[1] == "one value"
            continue
        reach = one.get("half_width_cdf", one.get("half_width", one.get("half_width_mean")))
        for cell, value in zip(
            row[2:],
            (one["gamma"], one.get("guess"), one.get("guess_blind"), one["beliefs"]["0.1"], reach),
            strict=True,
        ):
            if value is None:
                assert cell in ("", "exact"), (row, cell)
            else:
                says(cell, value)
            checked += 1
    for row, (name, measures) in zip(overview[len(attributes) :], noise.items(), strict=False):
        assert row[0] == name
        says(row[3], measures["sd"])
    documents = {f"Numbers of {_titled(one)}": one for one in attributes if one["values"] > 1}
    documents |= {f"Numbers of {name}": one for name, one in noise.items()}
    labels = [label for label in page.tables if label.startswith("Numbers of ")]
    assert labels == list(documents) if len(documents) < 7 else {*labels} <= {*documents}, "of many forms one is told"
    for label in labels:
        one = documents[label]
        for what, cell in page.tables[label]:
            if what == "a change shows, under a key":
                ends = dict.fromkeys((one["changes"]["least"], one["changes"]["most"]))
                says(cell, *(ends if " to " in cell else list(ends)[-1:]))
            else:
                says(cell, *OWN[what](one))
            checked += 1
    for row, pair in zip(
        page.tables.get("Guesses from several answers", [[]])[1:], document["correlated"], strict=True
    ):
        says(" ".join(row[1:4]), pair["blind"], pair["own"], pair["both"])
        checked += 1
    together = [line for line in page.grades if TOGETHER in line]
    for line in together:
        epsilon = math.inf if noise else float(document["whole_record"]["epsilon"])
        if epsilon < 700:
            says(line.split("γ")[1], math.exp(epsilon))
            checked += 1
    return checked


def _titled(one: dict[str, Any]) -> str:
    alike = one["treated_alike"] - 1
    return " + ".join(one["attributes"]) + (f" and {alike} alike" if alike else "")


def _ages() -> tuple[sf.Schema, dict[str, Any]]:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, 3000)
    table = {
        "age": age,
        "sick": np.where(rng.random(3000) < age / 120, "yes", "no"),
        "sex": rng.choice(["f", "m"], 3000),
    }
    schema = sf.Schema(
        {
            "age": sf.Numeric(15, 95, bins=8),
            "sick": sf.Categorical(("no", "yes"), nullable=True),
            "sex": sf.Categorical(("f", "m")),
        }
    )
    return schema, table


def _schemes() -> dict[str, Callable[[], Report]]:
    days = sf.Date("2020-01", "2021-12", by="month")
    schema, table = _ages()
    mixed = sf.Schema(
        {
            "grade": sf.Ordinal(tuple("abcdefgh"), nullable=True),
            "town": sf.Categorical(tuple(f"t{i}" for i in range(9)), nullable=True),
            "seen": days,
            "income": sf.Numeric(0, 200, bins=10),
            "land": sf.Categorical(("n", "s", "w")),
        }
    )
    four = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abcdef"})

    def of_release() -> Report:
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 12), rng=sf.experiment(2))
        return report(release.scheme, evidence=sf.evidence(release), n=len(release))

    return {
        "nullable, windows, dates, in the clear": lambda: report(
            rest_clear(
                mixed,
                {
                    "grade": c.windows(9, 4),
                    "town": c.subset(10, gamma=5),
                    "seen": c.windows(24, 6),
                    "income": c.average(10, 3),
                },
            ),
            n=2500,
        ),
        "additive noise": lambda: report(
            rest_clear(mixed, {"income": c.gaussian(20.0), "town": c.symmetric(10, gamma=2)}), n=700
        ),
        "forms": lambda: report(sf.Forms.for_gamma(four, gamma=9, ask=2), n=20_000),
        "a group, and blocks": lambda: report(
            rest_clear(
                four,
                {("a", "b"): c.symmetric((2, 2), 0.3), "c": c.binary(0.1, 0.3), "d": c.blocks([c.identity(1)] * 2)},
            ),
            n=900,
        ),
        "many alike": lambda: report(sf.Scheme(four, {tuple(four): c.product([c.symmetric(2, 0.2)] * 6)}), n=900),
        "longitudinal": lambda: report(
            rest_clear(mixed, {"land": c.longitudinal(3, gamma=3, lifetime=30), "town": c.symmetric(10, 0.01)}), n=40
        ),
        "no records named": lambda: report(sf.Scheme.for_gamma(mixed, 7)),
        "weak": lambda: report(sf.Scheme.for_gamma(mixed, 40_000), n=300_000),
        "a release": of_release,
    }


@pytest.mark.parametrize("name", list(_schemes()))
def test_the_tables_of_a_report_say_what_its_document_says(name: str) -> None:
    with sf.errors.without_warnings():
        assert check(_schemes()[name]()) > 15


def test_another_number_would_be_seen() -> None:
    for text, values in (("25 %", [0.27]), ("± 2.5 points", [0.03]), ("9.01, 2.2", [9.0, 2.5]), ("∞", [9.0])):
        with pytest.raises(AssertionError):
            says(text, *values)
