"""sfumato estimate --where: whatever a command prints as a value can be pasted."""

from __future__ import annotations

import itertools

import pytest

import sfumato as sf
from sfumato.cli.conditions import conditions
from sfumato.cli.shares import read_shares
from sfumato.cli.typed_labels import TypedLabels
from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.pages.display import shown
from sfumato.printable import label_text, readable_bins, stretch

DOMAINS: dict[str, Domain] = {
    "small bins": sf.Numeric(0, 100, bins=4),
    "large bins": sf.Numeric(edges=(-20000, 0, 1000, 5000, 10000, 20000, 1234567.5), nullable=True),
    "tiny and huge": sf.Numeric(edges=(-1e-7, 0, 2.5e-6, 1e16, 1e20)),
    "points": sf.Numeric(0, 20000, points=5, nullable=True),
    "years": sf.Date("2019", "2023", by="year"),
    "quarters": sf.Date("2019-01", "2020-12", by="quarter", nullable=True),
    "weeks": sf.Date("2019-01-07", "2019-03-01", by="week"),
    "days": sf.Date("2019-01-28", "2019-02-03", by="day"),
    "hours": sf.Date("2019-01-28T00", "2019-01-28T12", by="hour"),
    "weekdays": sf.Date(by="weekday"),
    "clock": sf.Date(by="hour of day", nullable=True),
    "words": sf.Categorical(("a", "b=c", "d, e", "d", 'say "so"', "[x, y)", " x"), other="any other", nullable=True),
    "whole": sf.Ordinal((1, 2, 10000)),
    "doubles": sf.Categorical((0.1, 1234.5, 7.0)),
    "truth": sf.Categorical((False, True)),
    "places": sf.Hierarchy(levels=("region", "town"), tree={"North": ["Abo, W", "Eck"], "South": ["Ulm"]}),
    "marks": sf.Categorical(("a\nb", "c\x1b[0m")),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_every_printed_value_means_itself(name: str) -> None:
    schema = sf.Schema({name: DOMAINS[name], "sex": sf.Categorical(("F", "M"))})
    for label in DOMAINS[name].labels:
        for text in {label_text(label), shown(label_text(label)), readable_bins(label_text(label))}:
            for where in ([f"{name}={text},sex=F"], [f"sex=F, {name} = {text}"], [f'"{name}"={text}', "sex=F"]):
                found = conditions(where, schema)
                assert found == {name: label, "sex": "F"} and type(found[name]) is type(label), where


def test_names_with_commas_and_equals_signs_are_taken_as_they_are() -> None:
    schema = sf.Schema({"a": sf.Categorical(("1", "2")), "a=b, c": sf.Categorical(("1", "2"))})
    assert conditions(["a=b, c=1,a=2"], schema) == {"a=b, c": "1", "a": "2"}
    assert conditions(['"a=b, c"=1'], schema) == {"a=b, c": "1"}


def test_what_no_value_means_is_refused_with_values_as_they_are_printed() -> None:
    schema = sf.Schema({"gdp": DOMAINS["large bins"], "sex": sf.Categorical(("F", "M"))})
    with pytest.raises(SfumatoError, match=r"gdp has no value '\[7 to 8\)'; it has \[-20,000 to 0\), \[0 to 1000\)"):
        conditions(["gdp=[7 to 8),sex=F"], schema)
    for wrong in ("sex", "=F", "sex=F,gdp"):
        with pytest.raises(SfumatoError, match="must look like sex=F"):
            conditions([wrong], schema)


def test_a_bin_is_written_in_one_way() -> None:
    """[1000, 5000) stood beside [5,000 to 10,000)."""
    labels = DOMAINS["large bins"].labels[:-1]
    assert all(" to " in shown(label) and ", " not in shown(label) for label in (*labels, "[0, 25)"))
    ends = [shown(label)[1:-1].split(" to ") for label in labels]
    assert all(left[1] == right[0] for left, right in itertools.pairwise(ends))
    assert readable_bins("windows(5, gamma=3, widths=[1, 3])") == "windows(5, gamma=3, widths=[1, 3])"
    assert stretch(labels[0], labels[2]) == "[-20000, 5000)"


def test_shares_take_bins_as_they_are_printed() -> None:
    assert read_shares("[0 to 5000)=.4,[5000 to 20,000]=.6", "x") == {"[0, 5000)": 0.4, "[5000, 20000]": 0.6}


def test_a_number_is_no_truth_value() -> None:
    with pytest.raises(SfumatoError, match="no value '1'; it has False, True"):
        TypedLabels(DOMAINS["truth"]).meant("1")
