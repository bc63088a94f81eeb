"""Tan07: the numbers that hold, and the printed ones that do not."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sfumato.assess.comparison import errors
from sfumato.owner.resample import resample
from sfumato.papers import (
    tan07,
    tan07_dapl,
    tan07_fig3,
    tan07_fig4,
    tan07_fig5,
    tan07_fig6,
    tan07_fig7,
    tan07_table2,
)


def brought(file):
    if not (Path(os.environ.get("SFUMATO_DATA", "nowhere")) / file).exists():
        pytest.skip(f"{file} is not bundled: set SFUMATO_DATA to a folder that holds it")


def svmguide1_errors() -> dict[str, int]:
    """Errors among the 4000 test rows of svmguide1, where nothing is random."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    X, y = tan07.load("svmguide1")
    models = {"kNN": KNeighborsClassifier(11), "NB": GaussianNB(), "NB, equal priors": GaussianNB(priors=[0.5, 0.5])}
    return {
        name: int((model.fit(X[:3089], y[:3089]).predict(X[3089:]) != y[3089:]).sum()) for name, model in models.items()
    }


def test_svmguide1_has_one_answer():
    brought("svmguide1_train.csv")
    assert svmguide1_errors() == {"kNN": 149, "NB": 246, "NB, equal priors": 278}
    assert tan07.PRINTED["svmguide1"][2] == 278 / 4000  # the printed naive Bayes has equal priors


def test_dapl_of_a_known_density():
    for sites, value in tan07_dapl.REFERENCE.items():
        assert tan07_dapl.exact(sites) == pytest.approx(value, abs=0.003)


def test_dapl_is_u_shaped_while_linkage_only_falls():
    _, losses, linked = zip(*tan07_dapl.over_width(400), strict=True)
    assert losses[0] > min(losses[1:4]) < losses[-1]
    assert list(linked) == sorted(linked, reverse=True)


@pytest.mark.parametrize("name", ["iris", "breast cancer", "ionosphere"])
def test_splits_are_those_of_table_1(name):
    X, y, Xt, yt = tan07.split(name, 0)
    rows = {"iris": (120, 30, 4), "breast cancer": (512, 171, 9), "ionosphere": (263, 88, 34)}[name]
    assert (len(X), len(Xt), X.shape[1]) == rows and len(np.unique(y)) == 2 == len(np.unique(yt))
    assert np.abs(np.vstack([X, Xt])).max() == 1


def test_table_2_on_breast_cancer():
    found = tan07_table2.measure("breast cancer", 8)
    for short, paper in zip(tan07.MODELS, tan07.PRINTED["breast cancer"], strict=True):
        assert found[short][0] == pytest.approx(paper, abs=0.02)
    assert "patient" in tan07_table2.report(2, ("breast cancer",))


def test_a_naive_bayes_error_of_zero_on_ionosphere_is_not_credible():
    mean, error = tan07_table2.measure("ionosphere", 5)["NB"]
    assert 0.05 < mean < 0.16 and mean - 4.9 * error > 0


def knn_phi(per_class, seeds=10):
    gaps = []
    for seed in range(seeds):
        X, y, Xt, yt = tan07.split("ionosphere", seed)
        out = resample(X, y, per_class=per_class, rng=seed)
        before, after = (errors(a, b, Xt, yt, names=("kNN",))["kNN"] for a, b in ((X, y), (out.X, out.y)))
        gaps.append(after - before)
    return np.array(gaps)


def test_ionosphere_knn_loses_more_than_printed_and_less_when_pooled():
    apart, pooled = knn_phi(True), knn_phi(False)
    assert apart.mean() == pytest.approx(7.5, abs=5 * apart.std(ddof=1) / np.sqrt(10))
    assert pooled.mean() == pytest.approx(3.3, abs=5 * pooled.std(ddof=1) / np.sqrt(10))
    assert apart.mean() > 3 and apart.mean() > pooled.mean()


NEEDED = {tan07_fig4: "svmguide1_train.csv", tan07_fig5: "pima.csv"}


@pytest.mark.parametrize("figure", [tan07_fig3, tan07_fig4, tan07_fig5, tan07_fig6, tan07_fig7])
def test_figures_print_themselves(figure):
    if figure in NEEDED:
        brought(NEEDED[figure])
    text = figure.report(seeds=2, sites=(1, 2))
    lines = text.splitlines()
    assert lines[0].startswith("Tan07 Fig.") and len(lines) == 6
    for line in lines[2:4]:
        assert line.count("±") == 3
    assert "linkage" in lines[1]


def test_figures_are_drawn(tmp_path):
    tan07_fig3.draw(tmp_path / "fig3.svg", seeds=2)
    text = (tmp_path / "fig3.svg").read_text()
    assert text.lstrip().startswith("<?xml") and len(text) > 10_000


def test_seeds_can_run_in_parallel():
    one = tan07.trials("iris", 1, 2)
    two = tan07.trials("iris", 1, 2, jobs=2)
    assert [t.phi for t in one] == [t.phi for t in two]
