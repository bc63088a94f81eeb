"""What goes in: any holder of z, read once; and bad input, named in one line."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import scipy.stats as st

from sfumato.channels.additive import from_scipy, gaussian, uniform
from sfumato.errors import EstimationError, SfumatoError, UnrecoverableWarning
from sfumato.evidence.density import density
from sfumato.evidence.density.binning import gather
from sfumato.evidence.density.grid import EXACT, lattice

RNG = np.random.default_rng(11)
X = RNG.uniform(2, 4, 60_000)
Z = uniform(1).randomize(X, RNG)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("z")
    table = pa.table({"z": Z, "word": ["a"] * Z.size})
    pyarrow.parquet.write_table(table, folder / "z.parquet", row_group_size=10_000)
    pyarrow.csv.write_csv(table, folder / "z.csv")
    return folder


def test_every_holder_of_z_gives_the_same_estimate(files: Path) -> None:
    frame = pd.DataFrame({"z": Z})
    holders = [
        (Z, None),
        (frame, "z"),
        (frame["z"], None),
        (pl.DataFrame(frame), "z"),
        (pl.LazyFrame({"z": Z}), "z"),
        (pa.table({"z": Z}), "z"),
        (duckdb.sql("select z, 1 as one from frame"), "z"),
        (files / "z.parquet", "z"),
        (str(files / "z.csv"), "z"),
        ((Z[i : i + 7000] for i in range(0, Z.size, 7000)), None),
    ]
    first = density(Z, uniform(1), support=(1, 5), bins=30, method="em", stop=20)
    for holder, column in holders:
        again = density(holder, uniform(1), support=(1, 5), bins=30, method="em", stop=20, column=column)
        assert again.n == Z.size
        # a stream that grows its grid may place fine cells elsewhere: a thirtieth of a z-cell at most
        assert 0.5 * np.abs(again.mass - first.mass).sum() < 2e-3


@pytest.mark.parametrize("order", ["as drawn", "rising", "falling"])
@pytest.mark.parametrize("size", [5000, 60_000])
def test_every_value_is_counted_whatever_the_order(order: str, size: int) -> None:
    held = {"as drawn": Z, "rising": np.sort(Z), "falling": np.sort(Z)[::-1]}[order]
    found = gather(held[i : i + size] for i in range(0, Z.size, size))
    assert found.n == Z.size
    assert found.fine_counts.sum() == pytest.approx(Z.size)
    assert (found.low, found.high) == (Z.min(), Z.max())
    edges = np.linspace(Z.min(), Z.max(), 41)
    assert np.abs(found.histogram(edges) - np.histogram(Z, edges)[0]).max() < 15
    assert np.abs(found.histogram(edges + 0.02) - np.histogram(Z, edges)[0]).max() > 15


def test_heavy_tails_do_not_stretch_the_grid() -> None:
    z = RNG.standard_cauchy(200_000)
    found = gather(z)
    edges = np.linspace(-3, 3, 61)
    inside = np.histogram(z, edges)[0]
    assert np.abs(found.histogram(edges)[1:-1] - inside[1:-1]).max() < 60
    assert found.histogram(edges).sum() == pytest.approx(z.size)


def test_memory_does_not_grow_with_n() -> None:
    found = gather(Z[: EXACT + 1])
    assert found.values is None
    assert found.fine_counts.size <= 16_384
    assert gather(Z[:EXACT]).values is not None


def test_rounded_z_is_recognised() -> None:
    assert lattice(np.sort(np.round(Z[:5000], 1))) == pytest.approx(0.1)
    assert lattice(np.sort(Z[:5000])) == 0.0
    rounded = density(np.round(Z[:5000], 1), uniform(1))
    plain = density(Z[:5000], uniform(1))
    assert 0.5 * np.abs(rounded.cdf(plain.edges) - plain.cdf(plain.edges)).max() < 0.02


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.filterwarnings("ignore::sfumato.errors.UnrecoverableWarning")
def test_tiny_samples_give_an_estimate(n: int) -> None:
    for method in ("auto", "em", "as"):
        d = density(Z[:n], uniform(1), method=method)
        assert d.mass.sum() == pytest.approx(1)
        assert np.isfinite(d.mass).all()


BAD = [
    ({"z": [1.0]}, "at least 2"),
    ({"z": []}, "at least 2"),
    ({"z": [1.0, np.nan, np.inf]}, "2 cells empty, NaN or infinite"),
    ({"z": [3.0] * 50}, "must vary"),
    ({"z": ["a", "b"]}, "numeric"),
    ({"z": 7}, "must be numbers"),
    ({"z": Path("nowhere.parquet"), "column": "z"}, "no such file"),
    ({"noise": "uniform:0"}, "positive"),
    ({"noise": "square:1"}, "noise must be"),
    ({"method": "magic"}, "method must be one of"),
    ({"bins": 1}, "at least 2"),
    ({"bins": [0.0, 0.0, 1.0]}, "increasing"),
    ({"support": (4, 2)}, "increasing"),
    ({"support": (0, np.inf)}, "finite"),
    ({"stop": 5}, "stop must go with"),
    ({"support": (2.5, 3.5)}, r"got \d+ values outside"),
    ({"outside": "maybe"}, "outside must be"),
    ({"bins": np.linspace(0, 6, 9), "support": (0, 6)}, "either"),
    ({"support": (2,)}, "two increasing"),
    ({"support": "ab"}, "two increasing finite numbers, got 'ab'"),
    ({"support": 3}, "got 3"),
    ({"support": (1, 2, 3)}, r"got \(1, 2, 3\)"),
    ({"z": [1e308, -1e308, 0]}, "change its unit"),
    ({"z": [1e-320, 2e-320, 0]}, "z must span"),
    ({"z": Z[:500] * 1e200, "noise": uniform(1e200)}, "z must span between"),
    ({"noise": uniform(1e200)}, "narrower"),
    ({"z": Z[:500] + 1e16}, "subtract a constant"),
    ({"rng": "a"}, "rng must be"),
    ({"bins": np.geomspace(1, 9, 300)}, "at most 240 unequal"),
    ({"method": "em", "stop": "cv:1000"}, "2 to 20 folds"),
    ({"method": "em", "stop": ("loglik", "x")}, "for the number"),
    ({"method": "em", "stop": {"theta": None}}, "for the number"),
    ({"z": pd.DataFrame({"a": Z[:9], "b": Z[:9]})}, "column must name one of its 2 columns"),
    ({"z": pl.DataFrame({"a": Z[:9], "b": Z[:9]})}, "column must name one of its 2 columns"),
    ({"z": pl.LazyFrame({"a": Z[:9]})}, "column must name one of its 1 columns"),
    ({"z": pa.table({"a": Z[:9]})}, "column must name one of its 1 columns"),
    ({"z": Z[:100].reshape(50, 2)}, "choose a column"),
    ({"z": np.ma.masked_greater(Z[:100], 3.0)}, "masked values"),
    ({"z": [np.ma.masked_greater(Z[:100], 3.0), Z[:5]]}, "masked values"),
]


@pytest.mark.parametrize(("change", "words"), BAD, ids=[w for _, w in BAD])
def test_bad_input_is_one_line_that_names_it(change: dict[str, object], words: str) -> None:
    call: dict[str, object] = {"z": Z[:500], "noise": uniform(1)} | change
    with pytest.raises(SfumatoError, match=words) as caught:
        density(**call)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_impossible_values_are_counted_and_widened_on_request() -> None:
    most = int(((Z[:2000] < 1.5 - 1e-9) | (Z[:2000] > 4.5 + 1e-9)).sum())
    with pytest.raises(EstimationError, match=f"got {most} values"):
        density(Z[:2000], uniform(1), support=(2.5, 3.5))
    wide = density(Z[:2000], uniform(1), support=(2.5, 3.5), outside="widen", method="em", stop=20)
    assert wide.edges[0] == pytest.approx(Z[:2000].min() + 1)
    assert wide.edges[-1] == pytest.approx(Z[:2000].max() - 1)


def test_noise_wider_than_the_data_warns_with_the_effective_sample_size() -> None:
    z = gaussian(20).randomize(X[:2000], rng=3)
    with pytest.warns(UnrecoverableWarning, match="2000 values weigh like"):
        density(z, gaussian(20))
    with pytest.warns(UnrecoverableWarning, match="wider than the data's whole range"):
        density(uniform(9).randomize(X[:50], rng=4), uniform(9), support=(2, 4), method="em")


def test_given_edges_are_kept() -> None:
    edges = np.array([0.5, 1.9, 2.5, 3.0, 3.7, 5.5])
    for method in ("auto", "em"):
        assert np.array_equal(density(Z[:3000], uniform(1), bins=edges, method=method).edges, edges)
    with pytest.raises(EstimationError, match="equal width"):
        density(Z[:3000], uniform(1), bins=edges, method="as")


def test_noise_that_cannot_have_made_z_is_called_out() -> None:
    with pytest.warns(UnrecoverableWarning, match="cannot have made this z"):
        density(gaussian(1).randomize(np.zeros(500), rng=3), gaussian(2), method="em", stop=5)


def test_noise_of_infinite_variance_can_swamp_the_data_too() -> None:
    cauchy = from_scipy(st.cauchy(0, 50))
    with pytest.warns(UnrecoverableWarning, match="half of it within"):
        density(cauchy.randomize(X[:500], rng=3), cauchy, method="em", stop=5)


def test_many_cells_are_split_from_fewer() -> None:
    with pytest.warns(UnrecoverableWarning, match="at most 240 cells"):
        fine = density(Z[:500], uniform(1), bins=1000)
    plain = density(Z[:500], uniform(1))
    assert fine.mass.size == fine.band()[0].size == 1000
    assert fine.mass.sum() == pytest.approx(1)
    assert np.abs(fine.cdf(plain.edges) - plain.cdf(plain.edges)).max() < 0.02


def test_an_unmasked_array_and_one_column_are_plain_numbers() -> None:
    how = {"noise": uniform(1), "method": "em", "stop": "5"}
    plain = density(Z[:500], **how)  # type: ignore[arg-type]
    for holder in (np.ma.masked_invalid(Z[:500]), Z[:500].reshape(-1, 1)):
        assert np.array_equal(density(holder, **how).mass, plain.mass)  # type: ignore[arg-type]
    assert plain.iterations == density(Z[:500], uniform(1), method="em", stop=5.0).iterations == 5


def test_a_lattice_wider_than_the_noise_is_not_rounding() -> None:
    for method in ("auto", "em"):
        with pytest.warns(UnrecoverableWarning, match="lattice of step 1"):
            d = density([0.0, 1.0] * 100, gaussian(0.1), method=method)
        assert d.cdf(0.75) - d.cdf(0.25) < 0.2  # it was flat: one half
