"""Pictures of models show what matters and fit a page."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.edges import Edge
from sfumato.learn.bayesnet.plot import PAGE
from sfumato.learn.regression.plot import plot
from sfumato.learn.tree.plot import MOST_ENDS, least_share
from sfumato.pages.picture import empty_picture, set_title


def text_of(figure):
    return " ".join(t.get_text() for axes in figure.axes for t in axes.texts) + figure.get_suptitle()


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(3)
    table = {f"x{i}": rng.choice(20, 4000, p=np.r_[0.4, np.full(19, 0.6 / 19)]) for i in range(3)}
    table["y"] = (table["x0"] + table["x1"] + table["x2"] > 9).astype(int)
    schema = sf.Schema({f"x{i}": sf.Categorical(tuple(range(20))) for i in range(3)} | {"y": sf.Categorical((0, 1))})
    return sf.learn.DecisionTree(counts="direct").fit(sf.evidence(table, schema), target="y")


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(5)
    grams = rng.integers(0, 8, 6000)
    y = (grams + rng.normal(0, 2, 6000) > 3.5).astype(int)
    table = {"grams": 1000.0 * grams, "noise": rng.integers(0, 2, 6000), "y": y}
    schema = sf.Schema(
        {"grams": sf.Numeric(-500, 7500, bins=8), "noise": sf.Categorical((0, 1)), "y": sf.Categorical((0, 1))}
    )
    return sf.randomize(table, sf.Scheme.for_gamma(schema, 19), rng=rng)


def points_of(path):
    """Many points of a path of lines and curves."""
    part, points, at = np.linspace(0, 1, 100)[:, None], [], np.zeros(2)
    for ends, code in path.iter_segments():
        if code == path.CLOSEPOLY:
            continue
        stops = [at, *np.reshape(ends, (-1, 2))]
        while code != path.MOVETO and len(stops) > 1:  # de Casteljau's
            stops = [(1 - part) * a + part * b for a, b in pairwise(stops)]
        points += [stops[-1].reshape(-1, 2)]
        at = np.reshape(ends, (-1, 2))[-1]
    return np.concatenate(points)


class TestNetworks:
    def test_tables_of_many_values_stand_on_a_page_and_say_what_they_hide(self):
        rng = np.random.default_rng(2)
        sizes = {"a": 3, "b": 30, "c": 25, "d": 5, "e": 9}
        table = {name: rng.integers(0, k, 400) for name, k in sizes.items()}
        schema = sf.Schema({name: sf.Categorical(tuple(range(k))) for name, k in sizes.items()})
        parents = {"a": [], "b": ["a"], "c": ["b"], "d": ["c"], "e": ["b"]}
        net = BayesianNetwork(parents).fit(sf.evidence(table, schema))
        figure = net.plot(cpts=True)
        assert figure.get_size_inches()[0] <= PAGE + 0.5
        assert "and 14 rarer rows and 15 rarer values" in text_of(figure)  # of c given b

    def test_wide_networks_are_wrapped_without_boxes_on_top_of_each_other(self):
        parents = {f"lone{i}": () for i in range(24)} | {f"leaf{i}": ("lone0",) for i in range(18)}
        schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in parents})
        net = BayesianNetwork(parents).fit(sf.evidence({name: ["x", "y"] for name in parents}, schema))
        figure = net.plot()
        width, height = figure.get_size_inches()
        assert width <= PAGE + 0.5 and height < 3 * PAGE
        figure.canvas.draw()
        boxes = [t.get_bbox_patch().get_window_extent() for t in figure.axes[0].texts if t.get_bbox_patch()]
        assert len(boxes) == 42
        for i, one in enumerate(boxes):
            assert not any(one.overlaps(other) for other in boxes[i + 1 :])

    @pytest.mark.parametrize("seed", range(8))
    def test_no_link_passes_behind_the_box_of_another_node(self, seed):
        rng = np.random.default_rng(seed)
        names = [f"{'household_income_' * (i % 3 == 0)}W{i}" for i in range(int(rng.integers(4, 13)))]
        pairs = [(a, b) for i, b in enumerate(names) for a in names[:i]]
        kept = rng.permutation(len(pairs))[: int(rng.integers(3, 31))]
        parents = {name: tuple(a for a, b in (pairs[i] for i in kept) if b == name) for name in names}
        schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in names})
        with without_warnings():  # two records do not tell the tables
            net = BayesianNetwork(parents).fit(sf.evidence({name: ["x", "y"] for name in names}, schema))
            figure = net.plot()
        figure.canvas.draw()
        (axes,) = figure.axes
        boxes = {text.get_text(): text.get_bbox_patch().get_window_extent() for text in axes.texts}
        assert set(boxes) == set(names)
        for i, one in enumerate(boxes.values()):
            assert not any(one.overlaps(other) for other in list(boxes.values())[i + 1 :])
        links = sorted((a, b) for b, held in parents.items() for a in held)
        assert len(axes.patches) == len(links)
        for (parent, child), patch in zip(links, axes.patches, strict=True):
            way = patch.get_path().transformed(axes.transData)
            points = points_of(way)
            entered = {name for name, box in boxes.items() if any(box.contains(*point) for point in points)}
            assert entered <= {parent, child}, (parent, child)
            foot, head = boxes[parent], boxes[child]
            for (left, right), y in (((foot.x0, foot.x1), foot.y0), ((head.x0, head.x1), head.y1)):
                near = points[(left < points[:, 0]) & (points[:, 0] < right)]
                assert np.abs(near[:, 1] - y).min() < 5, (
                    "it begins at the foot of one and ends at the head of the other"
                )

    def test_a_link_that_cannot_be_tested_is_drawn(self):
        schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in "ab"})
        net = BayesianNetwork({"a": [], "b": ["a"]}).fit(sf.evidence({"a": list("xy"), "b": list("xy")}, schema))
        net.edges_ = (replace(net.edges_[0], statistic=math.nan, p_value=math.nan),)
        assert [patch.get_linewidth() > 1 for patch in net.plot().axes[0].patches] == [True]

    def test_the_thicker_a_link_the_smaller_its_p_value(self):
        """Whatever the test: a trend of 20 on one degree is surer than 30 on twenty."""
        schema = sf.Schema({name: sf.Categorical(("x", "y")) for name in "abc"})
        table = {name: list("xy") * 5 for name in "abc"}
        net = BayesianNetwork({"a": [], "b": ["a"], "c": ["a"]}).fit(sf.evidence(table, schema))
        weak, sure = Edge("a", "b", 30.0, 20, 0.07), Edge("a", "c", 20.0, 1, 8e-6, 4.5, "trend")
        net.edges_ = (weak, sure)
        thin, thick = (patch.get_linewidth() for patch in net.plot().axes[0].patches)
        net.edges_ = (weak, replace(sure, p_value=0.0))
        assert thin < thick < max(patch.get_linewidth() for patch in net.plot().axes[0].patches) < 4


def test_no_error_in_a_table_of_a_network_is_0():
    """Of an answer that 4 in 1000 gave, "0.00 ±.00" stood in the picture."""
    schema = sf.Schema({"a": sf.Categorical(("x", "y"))})
    table = {"a": ["x"] * 6300 + ["y"] * 25}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 20), rng=1)
    net = BayesianNetwork({"a": []}).fit(sf.evidence(release))
    said = [text.get_text() for axes in net.plot(cpts=True).axes for text in axes.texts]
    assert len([text for text in said if "±" in text]) == 2 and not any("±.00" in text[-4:] for text in said)


class TestTrees:
    def test_a_big_tree_shows_its_large_branches_and_says_so(self, tree):
        assert len(tree.root_.leaves) > 100
        figure = tree.plot(depth=3)
        assert figure.get_size_inches()[1] < 0.42 * MOST_ENDS + 2
        assert "several branches of less than" in figure.get_suptitle()
        assert "small branches" in text_of(figure)

    def test_a_small_tree_is_shown_whole(self, tree):
        assert least_share(tree, 0) == 0
        schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical((0, 1))})
        small = sf.learn.DecisionTree(counts="direct").fit(
            sf.evidence({"x": ["a", "b"] * 50, "y": [0, 1] * 50}, schema), target="y"
        )
        assert max(map(len, small.plot().get_suptitle().split("\n"))) <= 13 * small.plot().get_figwidth()  # not cut off
        assert small.plot().get_suptitle().startswith("How to tell") and "leaves" not in small.plot().get_suptitle()


class TestLinearWeights:
    def test_weights_do_not_depend_on_units(self, release):
        model = sf.learn.LinearClassifier(loss="lda").fit(sf.evidence(release), target="y")
        grams, noise = np.abs(model.weights_[:, 0])
        assert grams > 5 * noise  # raw: 1000 times smaller than it looks beside the indicator
        assert model.weights_[0, 0] == pytest.approx((model.coef_[1, 0] - model.coef_[0, 0]) * model.scale_[0])

    def test_errors_say_which_weights_are_noise(self, release):
        model = sf.learn.LinearClassifier(loss="lda").fit(sf.evidence(release), target="y")
        errors = model.standard_errors(release)
        assert errors.shape == model.weights_.shape
        t = np.abs(model.weights_ / errors)[:, 0]
        assert t[0] > 5 and t[1] < 4.5
        figure = model.plot(errors=errors)
        assert "two standard errors" in figure.axes[0].get_title(loc="left")
        assert len(figure.axes[0].containers) == 2  # bars and whiskers

    def test_other_losses_are_scaled_too(self, release):
        model = sf.learn.LinearClassifier(loss="logistic").fit(sf.evidence(release), target="y")
        assert np.isfinite(model.weights_).all() and (model.scale_ > 0).all()

    def test_a_direction_has_no_scale(self, release):
        """Refits of the pocket differ in length: their errors would be those of the length."""
        model = sf.learn.LinearClassifier(loss="pocket", steps=2000, rng=1).fit(sf.evidence(release), target="y")
        before = model.weights_
        assert np.linalg.norm(before, axis=0) == pytest.approx(1)
        model.coef_ = 7 * model.coef_
        assert np.allclose(model.weights_, before)
        assert (model.standard_errors(release, groups=4) < 3).all()


@pytest.mark.parametrize("model", [sf.learn.NaiveBayes(), sf.learn.TAN(), sf.learn.LinearClassifier()])
def test_bars_say_whose_they_are_and_shares_stay_between_0_and_1(release, model):
    figure = model.fit(release, target="y").plot()
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend in (["y = 0", "y = 1"], ["y = 1"])
    if isinstance(model, sf.learn.LinearClassifier):
        assert figure.axes[0].get_title("left") == "What speaks for y = 1"  # once the name of the loss, "pocket"
    else:
        assert "y" in figure.axes[0].get_title("left")
        ends = [x for bar in figure.axes[0].collections for x in np.concatenate(bar.get_segments())[:, 0]]
        assert all(0 <= x <= 1 for x in ends)


def test_a_picture_of_no_class_says_so():
    """Of so few and so much randomized records no class is surely held."""
    rng = np.random.default_rng(0)
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical(tuple("pqr"))})
    table = {"x": rng.choice(["a", "b"], 30), "y": rng.choice(list("pqr"), 30)}
    released = sf.randomize(table, sf.Scheme.for_gamma(schema, 1.2), rng=sf.experiment(1))
    with pytest.warns(UnrecoverableWarning):
        model = sf.learn.LinearClassifier().fit(sf.evidence(released), target="y")
    assert not model.told_classes_.any()
    figure = model.plot()
    figure.canvas.draw()
    assert "no class" in figure.axes[0].get_title(loc="left").replace("\n", " ")


def test_neighbouring_values_of_a_branch_are_one_stretch():
    """A branch of eleven bins was a list of them, cut off after the third."""
    x = np.arange(4000) % 20
    schema = sf.Schema({"x": sf.Numeric(0, 20, bins=10), "c": sf.Categorical(("p", "q", "r")), "y": sf.Ordinal((0, 1))})
    table = {"x": x, "c": np.array(["p", "q", "r"])[np.arange(4000) % 3], "y": (x >= 6).astype(int)}
    tree = sf.learn.DecisionTree().fit(sf.evidence(table, schema), target="y")
    assert "[0, 6): 0" in tree.text() and "[6, 20]: 1" in tree.text()


def test_the_picture_of_a_regression_leaves_out_the_intercept(release):
    """On the scale of the intercept no coefficient could be read."""
    model = sf.learn.Regression("logistic").fit(release, target="y")
    axes = model.plot().axes[0]
    rows = [text.get_text() for text in axes.get_yticklabels()]
    assert rows and "Intercept" in model.terms_ and "Intercept" not in rows
    assert f"y (odds of {model.classes_[1]}), by logistic" in " ".join(axes.get_title(loc="left").split())


def test_an_interval_that_tells_nothing_does_not_squeeze_the_others(release):
    """One that reached from -40 to 40 made dots of the others. It goes on beyond the picture, which says so."""
    value, low, high = np.array([0.2, 0.4, -0.1]), np.array([0.1, -0.3, -40.0]), np.array([0.3, 1.1, 40.0])
    figure = plot(None, ["a", "b", "c"], value, low, high, "title", 0.95)
    (left, right), legend = figure.axes[0].get_xlim(), [text.get_text() for text in figure.legends[0].get_texts()]
    assert -4 < left < -0.3 and 1.1 < right < 4 and legend == ["not told from 0", "told from 0", "goes on"]
    whole = plot(None, ["a"], value[:1], low[:1], high[:1], "", 0.9)
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["told from 0"]
    linear = sf.learn.LinearClassifier("lda").fit(release, target="y")
    errors = np.abs(linear.weights_) / 9
    errors[1] = 900
    assert np.abs(linear.plot(errors=errors).axes[0].get_xlim()).max() < 300


def test_the_ends_of_levels_are_no_covariates(release):
    """They stood among what goes along with the target."""
    model = sf.learn.Regression("ordinal").fit(release, target="grams")
    rows = [text.get_text() for text in model.plot().axes[0].get_yticklabels()]
    assert len(model.terms_) == len(rows) + 7 and not any("/" in row for row in rows)


def test_cells_of_two_attributes_are_named_in_a_picture(release):
    """They read 0, 0."""
    names = list(release.schema)[:2]
    rows = [text.get_text() for text in sf.evidence(release).counts(names).plot().axes[0].get_yticklabels()]
    assert all(f"{names[0]} = " in row and f", {names[1]} = " in row for row in rows)


def test_titles_are_broken_before_the_edge_of_the_picture():
    figure, axes = empty_picture(7.2, 3)
    set_title(axes, "The surest 20 of 188 rules: how often the right side holds where the left does")
    figure.canvas.draw()
    assert axes.title.get_text() == "" and "\n" in axes.get_title("left")
    assert axes._left_title.get_window_extent().x1 <= figure.bbox.x1


@pytest.fixture(scope="module")
def nine_classes():
    rng = np.random.default_rng(8)
    classes = tuple(f"a class called {i}" for i in range(9))
    y = rng.choice(9, 4000, p=np.r_[0.0, 0.3, 0.2, np.full(6, 0.5 / 6)])
    table = {"x": (y + rng.integers(0, 3, 4000)) % 10, "y": [classes[i] for i in y]}
    schema = sf.Schema({"x": sf.Ordinal(tuple(range(10))), "y": sf.Categorical(classes)})
    return sf.randomize(table, sf.Scheme.for_gamma(schema, 19), rng=sf.experiment(8))


@pytest.mark.parametrize(
    "model",
    [
        sf.learn.NaiveBayes(),
        sf.learn.TAN(),
        sf.learn.DecisionTree(counts="direct"),
        sf.learn.LinearClassifier(loss="lda"),
    ],
)
def test_no_two_classes_share_a_colour_and_the_legend_fits(nine_classes, model):
    figure = model.fit(nine_classes, target="y").plot()
    figure.canvas.draw()
    (legend,) = figure.legends
    colours = [handle.get_facecolor() for handle in getattr(legend.legend_handles[0], "patches", legend.legend_handles)]
    assert len(colours) == len(set(colours)) == 6
    if not isinstance(model, sf.learn.DecisionTree):  # which writes the names
        assert len({line.get_marker() for line in figure.axes[0].lines if line.get_marker() != "None"}) == 6
    assert legend.get_window_extent().x0 >= 0 and legend.get_window_extent().x1 <= figure.bbox.x1
    if not isinstance(model, sf.learn.DecisionTree):
        assert model.told_classes_.tolist() == [False] + [True] * 8
        assert "a class called 0" not in " ".join(text.get_text() for text in legend.get_texts())
