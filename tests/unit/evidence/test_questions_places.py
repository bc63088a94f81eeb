"""Answers that are no numbers, dates and words, are told as what they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato.evidence import Evidence
from sfumato.evidence.questions.rows import Rows


@pytest.fixture(scope="module")
def ev() -> Evidence:
    rng = np.random.default_rng(0)
    sold = sf.Date("2006-01", "2010-12", by="quarter")
    schema = sf.Schema(
        {
            "sold": sold,
            "mark": sf.Ordinal(tuple(range(101, 117))),
            "size": sf.Ordinal(tuple("abcdefghijkl")),
            "zone": sf.Categorical(("n", "s")),
            "price": sf.Numeric(0, 2_000_000, bins=20),
        }
    )
    n = 2000
    table = {
        "sold": [sold.labels[i] for i in rng.integers(6, 13, n)],
        "mark": rng.integers(105, 112, n),
        "size": rng.choice(list("cdefg"), n),
        "zone": ["n", "s"] * (n // 2),
        "price": rng.uniform(0, 2e6, n),
    }
    return sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 99), rng=sf.experiment(1)))


def printed(found: Rows) -> list[dict[str, object]]:
    headings, rows = found.in_words(0.95, 60)
    return [dict(zip(headings, row, strict=True)) for row in rows]


@pytest.mark.parametrize("smooth", [None, True])
def test_a_median_of_dates_is_a_date_with_dates_as_limits(ev: Evidence, smooth: bool | None) -> None:
    found = ev.quantile("sold", 0.5, smooth=smooth)
    (row,) = printed(found)
    assert row["estimate"] == "2008-Q2" and row["low"] <= "2008-Q2" <= row["high"]
    (told,) = found.frame().to_pylist()
    assert told["estimate"] == 9 and told["estimate_value"] == "2008-Q2" and told["low_value"] == row["low"]
    assert found.title == "quantiles of sold (sd in quarters)"


def test_differences_of_dates_stay_in_their_unit(ev: Evidence) -> None:
    found = ev.quantile("sold", 0.5, by="zone").contrast("n", "s")
    assert found.title == "difference n - s: quantiles of sold (in quarters) by zone"
    assert "estimate_value" not in found.frame().column_names and isinstance(printed(found)[0]["estimate"], float)


def test_a_mean_of_dates_names_the_nearest_one(ev: Evidence) -> None:
    (row,) = printed(ev.mean("sold"))
    assert isinstance(row["estimate"], float) and row["nearest"] == "2008-Q2"
    assert "nearest" not in printed(ev.mean("size"))[0]  # between two words there is none


@pytest.mark.parametrize("smooth", [None, True])
def test_a_median_of_words_is_a_word_and_of_numbers_a_number(ev: Evidence, smooth: bool | None) -> None:
    """Smoothed medians of marks from 101 to 116 were told as places from 0."""
    assert printed(ev.quantile("size", 0.5, smooth=smooth))[0]["estimate"] == "e"
    found = ev.quantile("mark", 0.5, smooth=smooth)
    low, high = found.interval()
    assert low[0] <= found.value[0] == 108 <= high[0] and low[0] >= 107 and high[0] <= 109


def test_running_shares_mark_the_thousands_of_their_ends(ev: Evidence) -> None:
    lines = repr(ev.cdf("price")).splitlines()
    assert lines[2].split()[0] == "100,000"
    assert ev.cdf("price").frame().column("below")[0].as_py() == 100_000


def test_pictures_name_their_axis_and_write_numbers_out(ev: Evidence) -> None:
    for found, name, ticks in (
        (ev.cdf("price"), "below this value of price", {"500,000", "1,000,000"}),
        (ev.cdf("sold"), "up to this value of sold", {"2006-Q1"}),
        (ev.quantile("sold", [0.25, 0.5]), "", {"2008-Q2"}),
    ):
        figure = found.plot()
        figure.canvas.draw()
        (axes,) = figure.axes
        drawn = {label.get_text() for label in axes.get_xticklabels()}
        assert axes.get_xlabel() == name and ticks <= drawn and len(drawn) <= 13
        assert not axes.xaxis.get_offset_text().get_text()


def test_the_command_prints_dates(ev: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ev.release.save("r.parquet")
    said = run("estimate r.parquet --median sold").out
    assert "2008-Q2" in said and "quarters after" not in said
