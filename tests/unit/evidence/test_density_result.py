"""Density: a distribution with its own arithmetic, a band and a picture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats as st
from typer.testing import CliRunner

import sfumato as sf
from sfumato.channels.additive import gaussian, uniform
from sfumato.errors import EstimationError, SfumatoError
from sfumato.evidence.density import Density, density
from sfumato.service.models.distribution import distribution

RNG = np.random.default_rng(21)
Z = gaussian(0.5).randomize(RNG.normal(1, 1, 4000), RNG)


@pytest.fixture(scope="module")
def found() -> Density:
    return density(Z, gaussian(0.5))


def test_it_is_a_distribution(found: Density) -> None:
    assert found.mass.sum() == pytest.approx(1)
    assert (found.mass >= 0).all()
    assert found.mass.size == found.edges.size - 1 == 80
    grid = np.linspace(found.edges[0], found.edges[-1], 200_001)
    assert np.trapezoid(found.pdf(grid), grid) == pytest.approx(1, abs=1e-3)
    assert found.cdf(found.edges[-1]) == pytest.approx(1)
    q = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    assert found.cdf(found.quantile(q)) == pytest.approx(q, abs=1e-9)
    assert found.pdf([found.edges[0] - 1, found.edges[-1] + 1]) == pytest.approx([0, 0])


def test_moments_match_the_truth_and_its_own_sample(found: Density) -> None:
    assert found.mean == pytest.approx(1, abs=0.1)
    assert found.sd == pytest.approx(1, abs=0.12)
    drawn = found.sample(20_000, rng=2)
    assert st.kstest(drawn, found.cdf).pvalue > 1e-6
    assert st.kstest(drawn + 0.1, found.cdf).pvalue < 1e-6


def test_floor_estimate_is_near_the_true_floor(found: Density) -> None:
    from sfumato.assess.continuous import floor

    assert found.floor == pytest.approx(floor(st.norm(1, 1), found.edges), rel=0.25)


def test_no_limit_of_a_share_is_more_than_everybody() -> None:
    """Of mails of which 91 % are none the 95 % limits were 58 to 138 %."""
    schema = sf.Schema({"spam": sf.Ordinal((0, 1)), "size": sf.Numeric(0, 10, bins=4)})
    rng = np.random.default_rng(1)
    table = {"spam": (rng.random(3900) > 0.91).astype(int), "size": rng.uniform(0, 2, 3900)}
    ev = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(1)))
    for name in schema.names:
        found = ev.density(name)
        for level in (0.9, 0.95, 0.9999):
            low, high = found.band(level)
            share = np.diff(found.edges) * high
            assert share.max() <= 1 + 1e-12 and (low <= found.height).all() and (found.height <= high).all()


def test_a_picture_names_values_that_stand_at_their_places() -> None:
    """Of the grades 2 to 8 the axis went from 0 to 7, and words were numbers."""
    grades, words = tuple(range(2, 9)), ("never", "rarely", "often")
    schema = sf.Schema({"grade": sf.Ordinal(grades), "word": sf.Ordinal(words, nullable=True)})
    table = {"grade": grades * 300, "word": (words * 700)}
    ev = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 20), rng=sf.experiment(1)))
    for name, values, first in (("grade", grades, 2.0), ("word", words, 0.5)):
        axes = ev.density(name).plot()
        axes.figure.canvas.draw()
        drawn = [(tick.get_position()[0], tick.get_text()) for tick in axes.get_xticklabels()]
        assert drawn == [(first + i, str(value)) for i, value in enumerate(values)]


def test_grades_have_the_moments_of_their_numbers_and_words_have_none() -> None:
    """The mean of the grades 2 to 8 was that of their places, 3.5 for 5."""
    schema = sf.Schema(
        {
            "grade": sf.Ordinal(range(2, 9)),
            "tens": sf.Ordinal(range(20, 90, 10)),
            "uneven": sf.Ordinal((1, 2, 5)),
            "word": sf.Ordinal(("never", "rarely", "often"), nullable=True),
        }
    )
    table = {
        "grade": np.tile(np.arange(2, 9), 300),
        "tens": np.tile(10 * np.arange(2, 9), 300),
        "uneven": np.tile([1, 2, 5], 700),
        "word": ["never", "rarely", "often"] * 700,
    }
    ev = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 200), rng=sf.experiment(1)))
    for name, step in (("grade", 1), ("tens", 10)):
        found = ev.density(name)
        assert found.mean == pytest.approx(5 * step, abs=0.15 * step) and "mean" in repr(found)
        assert found.edges == pytest.approx((np.arange(8) + 1.5) * step)
        assert found.quantile(0.5) == pytest.approx(found.mean, abs=0.3 * step)
        low, high = found.band()
        assert (low * step <= found.mass).all() and (found.mass <= high * step).all()
        drawn = distribution(ev, {"target": name, "level": 0.95})  # at their places, which the page names
        assert drawn["edges"] == pytest.approx(list(range(8))) and drawn["height"] == pytest.approx(found.mass.tolist())
        assert drawn["mean"] is None and not drawn["years"]
    for name in ("uneven", "word"):
        found = ev.density(name)
        assert "mean" not in repr(found) and "33" in found._repr_html_() and found.to_dict()["mean"] is None
        for ask in (lambda d: d.mean, lambda d: d.sd, lambda d: d.quantile(0.5), lambda d: d.sample(3)):
            with pytest.raises(EstimationError, match="at their places"):
                ask(found)


def test_band_holds_the_estimate_and_widens_with_the_level(found: Density) -> None:
    low, high = found.band(0.9)
    wide_low, wide_high = found.band(0.99)
    body = found.height > 0.05 * found.height.max()
    assert (low[body] < found.height[body]).all()
    assert (found.height[body] < high[body]).all()
    assert (wide_low <= low).all()
    assert (wide_high >= high).all()
    with pytest.raises(EstimationError, match="band"):
        density(Z, gaussian(0.5), method="em").band()
    with pytest.raises(EstimationError, match="level"):
        found.band(1.5)


def test_document_is_json(found: Density) -> None:
    document = json.loads(json.dumps(found.to_dict()))
    assert document["n"] == 4000
    assert len(document["mass"]) == len(document["band"]["low"]) == 80


def test_plot_is_written(found: Density, tmp_path: Path) -> None:
    found.plot(tmp_path / "d.svg")
    assert "<svg" in (tmp_path / "d.svg").read_text()
    density(Z, gaussian(0.5), method="em").plot(tmp_path / "e.png")
    assert (tmp_path / "e.png").stat().st_size > 5000


def test_command_line(tmp_path: Path) -> None:
    import typer

    from sfumato.cli.density import density as command

    app = typer.Typer()
    app.command()(command)
    file = tmp_path / "z.csv"
    file.write_text("z,w\n" + "\n".join(f"{v},a" for v in uniform(1).randomize(RNG.uniform(2, 4, 900), RNG)))
    run = CliRunner().invoke
    plain = run(app, [str(file), "--column", "z", "--noise", "uniform:1", "--plot", str(tmp_path / "p.svg")])
    assert plain.exit_code == 0, plain.output
    assert "900" in plain.output
    assert "uniform, sd 0.5774" in plain.output
    assert (tmp_path / "p.svg").exists()
    how = ["--column", "z", "--noise", "uniform:1", "--method", "em"]
    machine = run(app, [str(file), *how, "--stop", "theta", "--json"])
    assert json.loads(machine.stdout)["stop"] == "theta:0.001"
    assert "'.' is a directory" in str(run(app, [".", *how]).exception)
    gamma = run(app, [str(file), "--column", "z", "--noise", "scipy.gamma:2,-0.4,0.2", "--method", "em", "--widen"])
    assert "gamma, sd" in gamma.output
    assert json.loads(run(app, [str(file), *how, "--stop", "30", "--json"]).stdout)["iterations"] == 30
    for bad, words in (
        (["--column", "w", "--noise", "uniform:1"], "cannot be read"),
        (["--column", "q", "--noise", "uniform:1"], "no column 'q'"),
        (["--column", "z", "--noise", "uniform:0"], "half_width must be positive"),
        ([*how, "--stop", "bad:30"], "stop must be one of"),
        ([*how, "--support", "2.5-3"], "support must look like"),
        ([*how, "--support", "2.5,3"], "(--widen)"),
        ([*how, "--plot", str(tmp_path / "p.xyz")], "must end in .svg"),
    ):
        wrong = run(app, [str(file), *bad])  # the command line's main turns these into one line
        assert isinstance(wrong.exception, SfumatoError)
        assert words in str(wrong.exception)
        assert "\n" not in str(wrong.exception)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda d: d.sample(-1), "size must be a whole number"),
        (lambda d: d.sample(2.5), "got 2.5"),
        (lambda d: d.pdf("a"), "x must be numbers"),
        (lambda d: d.cdf("a"), "x must be numbers"),
        (lambda d: d.quantile("a"), "q must be numbers"),
        (lambda d: d.plot("picture.xyz"), "must end in .svg"),
    ],
)
def test_bad_questions_get_one_line(found: Density, call: Callable[[Density], object], words: str) -> None:
    with pytest.raises(SfumatoError, match=words) as caught:
        call(found)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("width", [0.5, 1.0, 2.0])
def test_rank_and_null_space_agree(width: float) -> None:
    z = gaussian(width).randomize(RNG.normal(1, 1, 500), RNG)
    d = density(z, gaussian(width), bins=60, method="em", stop=5)
    unseen = d.null_space()
    assert unseen.shape == (60 - d.rank, 60)
    assert np.abs(unseen @ d.noise.interval_matrix(d.edges, d.z_edges)).max(initial=0.0) < 1e-8


def test_the_picture_of_large_numbers_has_them_in_full() -> None:
    """Incomes stood beside a 1e6, and their density beside a 1e-6."""
    x = 2e6 + 2e5 * np.random.default_rng(1).normal(size=400)
    axes = density(x, gaussian(1e5)).plot()
    axes.figure.canvas.draw()
    assert axes.xaxis.get_offset_text().get_text() == axes.yaxis.get_offset_text().get_text() == ""
    assert "2,000,000" in [label.get_text() for label in axes.get_xticklabels()]
    assert axes.get_ylabel() == "share per 100,000"
