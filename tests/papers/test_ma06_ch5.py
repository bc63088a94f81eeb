"""Chapter 5 of Ma06: the printed numbers, and what the figures show."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sfumato.papers.ma06 import experiment1, experiment2, experiment3, experiment4, networks, parameters

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.UnrecoverableWarning")


def test_the_simple_example_of_section_5_4_3() -> None:
    cpt = parameters.table(0.25, 8000)
    assert cpt.sd(population=False)[0, 0] == pytest.approx(0.02372, abs=5e-6)
    assert cpt.sd()[0, 0] == pytest.approx(0.02500, abs=5e-6)
    law = cpt.density((0, 0), population=False)
    w = np.linspace(0.3, 0.7, 20_001)
    density = law.pdf(w)
    mean = float((w * density).sum() / density.sum())
    assert float(np.sqrt(((w - mean) ** 2 * density).sum() / density.sum())) == pytest.approx(0.0237, abs=2e-4)


def test_table_5_1_gammas() -> None:
    rows = {row.label: row for row in experiment1.measure_channels(True).rows}
    assert rows["C: gamma"].ours == pytest.approx(7.5) and rows["C: gamma"].verdict == "misprint"
    assert [label for label, row in rows.items() if row.verdict == "misprint"] == ["C: gamma", "F: gamma"]


def test_figure_5_2_rows_fit_the_network() -> None:
    rows = experiment1.measure_network(True).rows
    fixed = [row for row in rows if row.paper is not None]
    assert len(fixed) == 11 and all(row.paper == row.ours for row in fixed)
    assert sum(row.verdict == "not recoverable" for row in rows) == 4


def test_table_5_2_is_reproduced_by_randomizing_one_table_again() -> None:
    learned = experiment1.learn(6)
    assert (learned["S"].estimates.std(0) == 0).all()  # one fixed table, and S is not randomized: the paper's .00
    assert (learned["G"].estimates.std(0) > 0).all()  # so its parent is: the paper's .30 and .29
    spread = np.concatenate([own.estimates.std(0, ddof=1) for node, own in learned.items() if node != "S"])
    given = np.concatenate([own.given for node, own in learned.items() if node != "S"])
    assert 0.8 < np.sqrt((spread**2).mean() / (given**2).mean()) < 1.25
    found = experiment1.measure_table(True)
    means = [row for row in found.rows if "probability" in row.label]
    assert len(means) == 64 and sum(row.verdict == "reproduced" for row in means) >= 61
    for row in means:
        truth = float(row.label.rpartition("true ")[2][:-1])
        assert abs(row.ours - truth) < 0.12


def test_figure_5_4_estimates_are_good_up_to_a_quarter() -> None:
    small, large = (np.abs(experiment2.node_d(p, experiment2.N, 4) - experiment2.TRUTH).mean() for p in (0.1, 0.35))
    assert small < 0.03 < large


def test_figure_5_5_more_records_allow_more_randomization() -> None:
    few, many = (experiment2.limit(n, 0.04, runs=2) for n in (1000, 10_000))
    assert 0.02 <= few < many < 0.4


def test_figures_5_7_and_5_8_distance_grows_with_p_and_falls_with_n() -> None:
    low, high = (experiment3.distances(p, 10_000, 3).mean() for p in (0.1, 0.3))
    assert 0 < low < high < 0.2
    assert experiment3.distances(0.3, 80_000, 3).mean() < high / 2


def test_figures_5_9_and_5_10_extra_links_grow_without_the_wald_test() -> None:
    rules = {name: experiment4.rule(name) for name in ("bic", "bayes", "wald")}
    found, raw = (
        {name: rows.mean(0) for name, rows in experiment4.wrong(rules, p, runs).items()}
        for p, runs in ((0.25, 3), (0.0, 2))
    )
    assert found["bic"][0] > 2 and found["bayes"][0] > 2
    assert found["wald"][0] < 1
    assert all(values[0] <= 0.5 for values in raw.values())
    assert found["wald"][2] < found["bic"][2]


def test_the_stand_ins_have_parents_at_the_other_site() -> None:
    for entry in (networks.FIGURE5_3, networks.FIGURE5_6):
        rows = entry.measure(True).rows
        assert [row.verdict for row in rows] == ["not recoverable", "not recoverable", ""] and rows[2].ours >= 2


def test_the_three_site_example_runs() -> None:
    path = Path(__file__).parents[2] / "examples" / "three_sites.py"
    spec = importlib.util.spec_from_file_location("three_sites", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    distances = module.main(seed=3)
    assert distances["raw data"] < distances["without one"] < distances["with a data miner"] < 0.05
