"""The pictures of the page on a resampled release."""

from __future__ import annotations

import re
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest import mock

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from sfumato.assess import resample_page, resample_pictures
from sfumato.assess.disclosure import Disclosure
from sfumato.membership import Risk
from sfumato.owner.resample.description import risk_entry
from sfumato.pages import chart


@pytest.mark.parametrize(
    "numbers",
    [(0.00012, 0.00002), (145_000, 20_000), (-145_000, 20_000), (2010, 4), (1.5e7, 5e6), (-0.1, 0.02), (0.5, 0.1)],
    ids=["tiny", "large", "debts", "years", "millions", "negative", "shares"],
)
def test_the_numbers_of_an_axis_stand_apart_and_mark_their_thousands(numbers: tuple[float, float]) -> None:
    raw = np.random.default_rng(1).normal(*numbers, 500)
    figures: list[Figure] = []

    def keep(draw: Any, width: float, height: float, *_: str) -> str:
        with mpl.rc_context(chart._STYLE):
            figures.append(Figure(figsize=(width, height), layout="constrained"))
            draw(figures[-1])
            figures[-1].canvas.draw()
        return ""

    with mock.patch.object(resample_pictures, "svg", keep):
        resample_pictures._column(raw, raw, "x", 0)
    (axes,) = figures[0].axes
    low, high = axes.get_xlim()
    shown = [t for t, at in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True) if low <= at <= high]
    boxes = [label.get_window_extent() for label in shown]
    assert len(boxes) >= 2 and all(right.x0 - left.x1 > 8 for left, right in pairwise(boxes))
    written = [label.get_text() for label in shown]
    assert all(("," in one) == (abs(numbers[0]) == 145_000) and "-" not in one for one in written)


def test_shares_are_written_as_in_the_report() -> None:
    """The report wrote 99.8 %, this page 99.8%."""
    near = {"closest": 0.1, "usual": 1.0, "ratio": 0.2, "ind": 0.3}
    facts = resample_page._facts(Disclosure(linked=0.998, linked_outliers=0.5, chance=0.0016, **near))
    assert "99.8 %" in facts and "0.16 %" in facts and "50 %" in facts and not re.search(r"\d%", facts)


def test_a_class_without_an_answer_has_a_name() -> None:
    classes = SimpleNamespace(proportions=[{"class": "", "rows": 284}, {"class": "no", "rows": 7248}])
    told = resample_page._proportions(classes)
    assert "no answer" in told and "7,248" in told


def test_the_page_and_the_description_tell_one_number() -> None:
    risk = Risk(0.53454, 0.00149, 0.55651, 0.00351, asked=0.55, outliers_asked=0.6)
    entry = risk_entry(0, risk)
    assert f"AUC {entry['measured']:.3f} ± {entry['error']:.3f} on all" in resample_page._reached(risk)
