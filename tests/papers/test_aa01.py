"""AA01 section 5: the settings that reproduce the published numbers do, and others do not."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from sfumato.papers import aa01_fig7, aa01_fig8, aa01_fig9
from sfumato.papers.aa01 import GAUSSIAN_X, losses
from sfumato.papers.aa01_fig2 import NOISE, N, X
from sfumato.papers.aa01_fig4 import NOISE as WIDE
from sfumato.papers.aa01_fig4 import SUPPORT

SEEDS = range(40)


@pytest.mark.parametrize(
    ("paper", "x", "noise", "how"),
    [
        (13.29, X, NOISE, {"support": (0, 6), "bins": 60, "method": "as", "stop": "chi2:0.01"}),
        (4.9, X, NOISE, {"support": (2, 4), "bins": 10, "method": "em", "stop": "chi2:0.01"}),
        (26.5, GAUSSIAN_X, WIDE, {"support": SUPPORT, "bins": 10, "method": "as", "stop": 1000}),
        (17.9, GAUSSIAN_X, WIDE, {"support": SUPPORT, "bins": 10, "method": "em", "stop": "theta:1e-3"}),
    ],
    ids=["fig2", "fig3", "fig4", "fig5"],
)
def test_published_losses_lie_within_the_spread_of_ours(paper: float, x: object, noise: object, how: dict) -> None:  # type: ignore[type-arg]
    ours = losses(x, noise, N, SEEDS, **how)  # type: ignore[arg-type]
    assert abs(ours.mean() - paper) < ours.std(ddof=1)
    other = losses(x, noise, N, range(10), **(how | {"bins": 60, "support": (-3.0, 9.0), "stop": 3}))  # type: ignore[arg-type]
    assert abs(other.mean() - paper) > other.std(ddof=1)


def test_em_and_as_do_not_differ_in_equal_settings() -> None:
    how = {"support": (0, 6), "bins": 30, "stop": "chi2:0.01"}
    a, b = losses(X, NOISE, N, SEEDS, method="as", **how), losses(X, NOISE, N, SEEDS, method="em", **how)
    assert abs(a.mean() - b.mean()) < 1.0


def test_privacy_loss_falls_with_the_noise_for_all_four_pairs() -> None:
    curves = aa01_fig7.curves()
    assert len(curves) == 4
    for values in curves.values():
        assert (np.diff(values) < 0).all()
        assert 0 < min(values) < max(values) < 1


def test_half_a_percent_at_20000_is_out_of_reach() -> None:
    assert aa01_fig9.parametric(20_000, 40).mean() > 0.7


@pytest.mark.parametrize("figure", range(2, 10))
def test_every_figure_reports(figure: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sfumato.papers.aa01_fig6", "sfumato.papers.aa01_fig7"):
        monkeypatch.setattr(importlib.import_module(module), "NOISE_SDS", (0.4, 1.0))
    monkeypatch.setattr(aa01_fig9, "SIZES", (500, 20_000))
    text = importlib.import_module(f"sfumato.papers.aa01_fig{figure}").report(2)
    assert text.startswith(f"AA01 Fig. {figure}")
    assert "nan" not in text


def test_the_trade_off_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sfumato.papers.aa01_fig6", "sfumato.papers.aa01_fig7"):
        monkeypatch.setattr(importlib.import_module(module), "NOISE_SDS", (0.4, 1.0))
    aa01_fig8.draw(tmp_path / "fig8.svg", seeds=2)
    assert "<svg" in (tmp_path / "fig8.svg").read_text()
