"""Other methods beside the one that made the rows."""

from __future__ import annotations

import re

from sfumato.assess.comparison import Row
from sfumato.assess.other_methods import other_methods

OWN = Row("blurred model", "one covariance, noise of strength 5.66", 0.543, 0.567, {"kNN": 2.0, "forest": 0.0}, "", 0.5)


def _text(*others: Row, chosen: bool = True) -> str:
    return other_methods([OWN, *others], 0.55, 0.6, chosen)


def _other(name: str, risk: float, outliers: float, cost: float, note: str = "") -> Row:
    return Row(name, "nothing to set", risk, outliers, {"kNN": cost, "forest": cost}, note, 0.5)


def test_a_cheaper_method_that_discloses_more_is_named_with_the_reason() -> None:
    text = _text(_other("plain bootstrap", 0.81, 0.79, -0.5), _other("additive noise", 0.545, 0.62, 15.0))
    assert "Cheaper, but they disclose more than was asked: plain bootstrap (−0.5)." in text
    assert "additive noise (" not in text  # it costs more, and needs no reason
    assert text.count("not for outliers") == 1 and text.count("<td>no</td>") == 1 and text.count("<td>yes</td>") == 1


def test_a_cheaper_method_within_the_bounds_is_not_hidden() -> None:
    assert "within the bounds, by more than chance explains: other (−3.0)." in _text(_other("other", 0.54, 0.57, -3.0))
    assert "within the bounds, by no more than chance explains: other (+0.5)." in _text(
        _other("other", 0.54, 0.57, 0.5)
    )


def test_where_none_is_cheaper_or_the_rows_were_made_otherwise_it_says_so_or_nothing() -> None:
    assert "None of the others costs less." in _text(_other("other", 0.54, 0.57, 9.0))
    assert "Your rows were made by" not in _text(_other("other", 0.54, 0.57, 9.0), chosen=False)


def test_the_first_table_has_few_columns_and_the_classifiers_are_folded_away() -> None:
    first, _, folded = _text(_other("rotation", 1, 1, 0.0, "by known rows")).partition("<details")
    assert len(re.findall('<th scope="col"', first)) == 5 and "kNN" not in first
    assert "kNN" in folded and "attacker who knows a few of the records" in first


def test_a_minus_is_written_as_on_all_pages_and_nothing_is_no_minus() -> None:
    text = _text(_other("less", 0.54, 0.57, -3.0), _other("nothing", 0.54, 0.57, -0.04))
    assert ">−3.0\u00a0±" in text and text.count("−3.0<") == 2  # in the table, and for each of two classifiers
    assert text.count("+0.0<") == 3 and not re.search(r"-\d", text)
