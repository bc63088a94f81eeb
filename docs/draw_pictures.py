"""Draws the pictures of the guide into docs/pictures: ``python docs/draw_pictures.py [NAME ...]``.

Every picture is made from the package's own numbers, with a fixed seed, so that it can be drawn again.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import diagrams
import numpy as np
import page_pictures

import sfumato as sf
from sfumato import channels as c
from sfumato.pages.picture import GRID, empty_panels, empty_picture, save_picture
from sfumato.printable import percentage

FOLDER = Path(__file__).parent / "pictures"
BLUE, ORANGE, RED, GREY = "#2b6cb0", "#c05621", "#c53030", "#a0aec0"
DRAWN: dict[str, Callable[[], object]] = {}


def drawn(function: Callable[[], object]) -> Callable[[], object]:
    """A function that returns a figure, under its own name with dashes."""
    DRAWN[function.__name__.replace("_", "-")] = function
    return function


@drawn
def idea() -> object:
    """Four hundred people: what they are, what is sent, what is known."""
    rng = np.random.default_rng(8)
    true = rng.permutation(400) < 120
    channel = c.symmetric(2, gamma=3)
    sent = channel.randomize(true.astype(np.uint8), rng).astype(bool)
    figure, panels = empty_panels(10.8, 4.2, 3)
    place = np.arange(400)
    for axes, values, title in zip(
        panels,
        (true, sent),
        ("1. The truth stays with its owner", "2. What leaves is changed by chance"),
        strict=False,
    ):
        axes.scatter(place % 20, place // 20, s=34, c=np.where(values, BLUE, "#dbe3ec"))
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.spines[:].set_visible(False)
        axes.set_title(title, fontsize=12)
    panels[0].set_xlabel(f"400 people, {percentage(true.mean())} of them smoke")
    panels[1].set_xlabel("no dot can be trusted: one in four is false")
    axes = panels[2]
    sizes = [400, 2000, 10_000, 50_000]
    for row, n in enumerate(sizes):
        people = (np.random.default_rng(row + 1).random(n) < 0.3).astype(np.uint8)
        answers = channel.randomize(people, np.random.default_rng(row + 20))
        release = sf.Release(
            {"smokes": answers}, sf.Scheme(sf.Schema({"smokes": sf.Categorical(("no", "yes"))}), {"smokes": channel})
        )
        estimate = sf.evidence(release).counts("smokes").population()
        low, high = estimate.interval(0.95)
        axes.plot([low[1], high[1]], [row, row], color=BLUE, lw=7, alpha=0.35, solid_capstyle="butt")
        axes.plot(estimate.value[1], row, "o", color=BLUE)
    axes.axvline(0.3, color=RED, lw=1.5)
    axes.text(0.302, -0.62, "the truth", color=RED, fontsize=10)
    axes.set(yticks=range(4), yticklabels=[f"{n:,} people" for n in sizes], xlim=(0.1, 0.5), ylim=(3.5, -0.9))
    axes.xaxis.set_major_formatter(lambda x, _: percentage(x))
    axes.set_xlabel("share that smokes: estimate and 95 % interval")
    axes.set_title("3. The whole is still clear", fontsize=12)
    axes.grid(axis="x", color=GRID)
    return figure


@drawn
def schema() -> object:
    """Five columns of a file, and what becomes of them."""
    figure, axes = empty_picture(8.4, 2.9)
    axes.axis("off")
    rows = [
        ["00137", "left out: it names a person", "", ""],
        ["F", "category", "F, M", "0"],
        ["39", "number", "16 bins from 15 to 95", "4"],
        ["2023-02-11", "date", "months of two years", "1"],
        ["came late, bloods at noon", "left out: free text", "", ""],
    ]
    table = axes.table(
        rows,
        colLabels=["in the file", "verdict", "in the schema", "code"],
        rowLabels=["patient", "sex", "age", "admitted", "note"],
        cellLoc="left",
        colWidths=[0.34, 0.3, 0.26, 0.1],
        bbox=[0.1, 0, 0.9, 1],
    )
    table.auto_set_font_size(False)
    table.set_fontsize(10)
    for (row, column), cell in table.get_celld().items():
        cell.set_edgecolor(GRID)
        if row == 0:
            cell.set_text_props(weight="bold")
        elif column >= 0 and rows[row - 1][1].startswith("left out"):
            cell.set_text_props(color="#718096")
    return figure


@drawn
def choose() -> object:
    """How many people stand for one clear record, by gamma."""
    figure, axes = empty_picture(7.2, 4, "y")
    gammas = np.geomspace(1.5, 30, 40)
    for k, colour in ((2, BLUE), (5, ORANGE), (20, "#2f855a")):
        best = [1 / sf.privacy.effective_sample_size(c.subset(k, gamma=float(g))) for g in gammas]
        axes.plot(gammas, best, color=colour, label=f"{k} values")
    axes.legend(frameon=False)
    axes.set(
        xscale="log", yscale="log", xlim=(1.5, 30), xlabel="gamma: more private on the left, more exact on the right"
    )
    axes.set(xticks=[2, 3, 5, 9, 20], yticks=[1, 2, 5, 10, 30, 100, 300])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.minorticks_off()
    axes.set_title("People that stand for one whose answer is not blurred", loc="left", fontsize=11)
    return figure


@drawn
def ordered() -> object:
    """Three channels for twelve ordered values, as matrices."""
    figure, panels = empty_panels(10.2, 3.6, 3)
    for axes, (name, channel, what) in zip(
        panels,
        (
            ("symmetric", c.symmetric(12, gamma=9), "the value, or any other"),
            ("windows", c.windows(12, gamma=9), "a stretch that probably holds it"),
            ("average", c.average(12, gamma=9), "a score that is right on average"),
        ),
        strict=True,
    ):
        axes.imshow(channel.matrix, aspect="auto", cmap="Blues", vmin=0)
        axes.set(xlabel=f"answer: {what}", ylabel="true value", xticks=[])
        axes.spines[:].set_visible(False)
        axes.set_title(f"{name}(12, gamma=9)", fontsize=11)
    return figure


@drawn
def values() -> object:
    """Words that nobody listed, found among blurred ones."""
    rng = np.random.default_rng(1)
    words = ["fever", "cough", "headache", "backache"] + ["".join(rng.choice(list("abcdeh"), 9)) for _ in range(1000)]
    shares = np.array([0.3, 0.2, 0.1, 0.05] + [0.35 / 1000] * 1000)
    said = rng.choice(words, 60_000, p=shares)
    scheme = sf.Scheme.for_gamma(sf.Schema({"why": sf.Text(10)}), gamma=50)
    found = sf.evidence(sf.randomize({"why": said}, scheme, rng=sf.experiment(3))).top("why", 10)
    low, high = found.interval(0.95)
    figure, axes = empty_picture(7.2, 2.8, "x")
    labels = [label[0] for label in found.labels()]
    for row, label in enumerate(labels):
        axes.plot([low[row], high[row]], [row, row], color=BLUE, lw=8, alpha=0.35, solid_capstyle="butt")
        axes.plot(found.value[row], row, "o", color=BLUE)
        axes.plot(np.sum(said == label), row, "|", color=RED, ms=16, mew=2)
    axes.set(yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.4, -0.6), xlim=(0, None))
    axes.set_xlabel("people of 60,000: estimate, 95 % interval, and the truth in red")
    axes.set_title("Words found among 1004 that nobody listed", loc="left", fontsize=11)
    return figure


@drawn
def forms() -> object:
    """Errors under one bound on the person: all questions, or a pair of them."""
    epsilon = [1, 2, 4]
    figure, axes = empty_picture(7.2, 3.6, "y")
    for label, error, colour, mark in (
        ("everybody answers all, joint model", [0.367, 0.297, 0.179], GREY, "s"),
        ("pairs of questions, each table alone", [0.374, 0.176, 0.073], ORANGE, "^"),
        ("pairs of questions, joint model", [0.186, 0.099, 0.045], BLUE, "o"),
    ):
        axes.plot(epsilon, error, marker=mark, color=colour, label=label)
    axes.set(xticks=epsilon, xlabel="epsilon of the whole person", ylim=(0, None), ylabel="error of a pair table (L1)")
    axes.legend(frameon=False)
    axes.set_title("Ask each person a few questions well", loc="left", fontsize=11)
    return figure


@drawn
def person() -> object:
    """What a year of weekly answers tells, in three ways of asking."""
    weeks = np.arange(1, 53)
    weekly = c.longitudinal(10, gamma=3, lifetime=81)
    changes = 1 + (weeks - 1) // 5
    figure, axes = empty_picture(7.2, 3.8, "y")
    for label, total, colour, style in (
        ("fresh answers", 3.0**weeks, RED, "-"),
        ("under a key, a new value every fifth week", 3.0**changes, ORANGE, "--"),
        ("longitudinal, under a key", np.full(52, float(weekly.lifetime)), BLUE, "-"),
    ):
        axes.plot(weeks, total, color=colour, ls=style, label=label)
    axes.set(yscale="log", ylim=(1, 1e12), xlim=(1, 52), xlabel="week", ylabel="gamma of the person, at most")
    axes.legend(frameon=False, loc="upper left")
    axes.set_title("What the answers of one person add up to", loc="left", fontsize=11)
    return figure


@drawn
def counts() -> object:
    """A secret sum of three sites."""
    own = [310, 140, 275]
    rng = np.random.default_rng(4)
    figure, panels = empty_panels(10.2, 3.2, 3)
    split = rng.integers(0, 1000, (3, 3))
    split[:, 2] = (own - split[:, :2].sum(axis=1)) % 1000
    for axes, height, title, colour in (
        (panels[0], own, "1. What each site counted", GREY),
        (panels[1], split.sum(axis=0) % 1000, "2. What each site shows", ORANGE),
        (panels[2], [sum(own)], "3. What everybody can add up", BLUE),
    ):
        bars = axes.bar(range(len(height)), height, color=colour, width=0.6)
        axes.bar_label(bars)
        names = ["site A", "site B", "site C"] if len(height) == 3 else ["all sites"]
        axes.set(
            xticks=range(len(height)), xticklabels=names, ylim=(0, 1100), yticks=[], xlim=(-0.8, len(height) - 0.2)
        )
        axes.spines["left"].set_visible(False)
        axes.set_title(title, fontsize=11)
    panels[1].set_xlabel("sums of random shares, modulo 1000")
    return figure


@drawn
def resample() -> object:
    """Iris, and rows that were released in its place."""
    iris = sf.datasets.load("iris")
    released = sf.resample(iris, "species", max_risk=0.55, rng=3)
    figure, panels = empty_panels(9.6, 4, 2)
    names = list(iris.column_names)
    x, y = names.index("petal_length") if "petal_length" in names else 2, 3
    raw = np.column_stack([iris.column(i).to_numpy() for i in range(4)])
    kinds = np.array(iris.column("species").to_pylist())
    keep = np.random.default_rng(1).choice(len(released.X), 150, replace=False)
    for axes, points, labels, title in (
        (panels[0], raw, kinds, "The records"),
        (panels[1], np.asarray(released.X)[keep], np.asarray(released.y)[keep], "150 of the released rows"),
    ):
        for kind, colour, mark in zip(np.unique(kinds), (BLUE, ORANGE, "#2f855a"), "o^s", strict=True):
            chosen = labels == kind
            axes.scatter(points[chosen, x], points[chosen, y], c=colour, marker=mark, s=22, alpha=0.75, label=kind)
        axes.set(xlim=(0, 8), ylim=(-0.5, 3.2), xlabel="petal length, cm", ylabel="petal width, cm")
        axes.set_title(title, fontsize=11)
    panels[0].legend(frameon=False, loc="upper left")
    return figure


@drawn
def intervals() -> object:
    """Limits of a count near zero: ours, and estimate ± 1.96 standard errors."""
    scheme = sf.Scheme(sf.Schema({"x": sf.Categorical(("no", "yes"))}), {"x": c.symmetric(2, 0.25)})
    n, rows = 100, []
    for seen in range(12, 46):
        release = sf.Release({"x": np.repeat([1, 0], [seen, n - seen]).astype(np.uint8)}, scheme)
        found = sf.evidence(release).counts("x")
        possible = sf.evidence(release, method="mle").counts("x").interval(0.95)
        rows.append((found.value[1], possible[0][1], possible[1][1], 1.96 * found.sd[1]))
    estimate, low, high, half = np.array(rows).T
    figure, axes = empty_picture(7.2, 4, "y")
    axes.axhspan(-45, 0, color="#edf2f7")
    axes.text(39, -30, "no count can be here", color="#718096", ha="right")
    axes.fill_between(estimate, low, high, color=BLUE, alpha=0.35, lw=0, label="our limits")
    axes.plot(estimate, estimate - half, "--", color=ORANGE, label="estimate ± 1.96 standard errors")
    axes.plot(estimate, estimate + half, "--", color=ORANGE)
    axes.set(
        xlabel="unbiased estimate of a count, from 100 records", ylabel="95 % limits", xlim=(-26, 40), ylim=(-45, 62)
    )
    axes.legend(frameon=False, loc="upper left")
    axes.set_title("Limits that stay possible, and are never empty", loc="left", fontsize=11)
    return figure


@drawn
def assess() -> object:
    """How far a suspicion can grow."""
    before = np.linspace(0, 1, 200)
    figure, axes = empty_picture(5.6, 4.4, "y")
    for gamma, colour in ((1, GREY), (3, BLUE), (9, ORANGE), (50, RED)):
        after = gamma * before / (1 + (gamma - 1) * before)
        axes.plot(before, after, color=colour, label=f"gamma {gamma}" if gamma > 1 else "no answer")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="suspicion before the answer", ylabel="suspicion after it, at most")
    axes.legend(frameon=False, loc="lower right")
    axes.set_title("How sure one answer can make somebody", loc="left", fontsize=11)
    return figure


@drawn
def liars() -> object:
    """How far one liar in a hundred moves a share."""
    gammas = np.geomspace(1.5, 30, 30)
    figure, axes = empty_picture(7.2, 3.6, "y")
    for k, colour in ((2, BLUE), (4, ORANGE), (10, "#2f855a")):
        moved = [100 * sf.accuracy.poisoning(c.symmetric(k, gamma=float(g)), 0.01).worst for g in gammas]
        axes.plot(gammas, moved, color=colour, label=f"{k} values")
    axes.legend(frameon=False)
    axes.set(xscale="log", xlim=(1.5, 30), ylim=(0, None), xlabel="gamma", ylabel="points")
    axes.set(xticks=[2, 3, 5, 9, 20])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.minorticks_off()
    axes.set_title("How far 1 % of false answers can move a share", loc="left", fontsize=11)
    return figure


def adult(names: list[str], gamma: float) -> tuple[sf.Release, sf.Evidence]:
    """Some columns of Adult, released, and the exact evidence beside them."""
    from sfumato.datasets import discretized

    table, known = discretized.adult().select(names), discretized.ADULT.select(names)
    release = sf.randomize(table, sf.Scheme.for_gamma(known, gamma), rng=sf.experiment(1))
    return release, sf.evidence(table, known)


@drawn
def learn() -> object:
    """A tree from randomized census records."""
    release, _ = adult(["age", "education", "sex", "hours", "income"], 9)
    return sf.learn.DecisionTree(max_leaves=6).fit(release, target="income").plot()


@drawn
def bayesnet() -> object:
    """A network from randomized census records."""
    release, _ = adult(["age", "education", "sex", "hours", "income"], 9)
    return sf.learn.BayesianNetwork(order=["sex", "age", "education"]).fit(sf.evidence(release)).plot()


@drawn
def regression() -> object:
    """Coefficients from randomized records, beside those of the raw ones."""
    release, exact = adult(["age", "education", "sex", "income"], 9)
    found = (
        sf.learn.Regression("logistic").fit(release, target="income", names=["age", "education", "sex"]).frame("pandas")
    )
    truth = (
        sf.learn.Regression("logistic").fit(exact, target="income", names=["age", "education", "sex"]).frame("pandas")
    )
    figure, axes = empty_picture(7.2, 2.8, "x")
    shown = [row for row in range(len(found)) if found["term"][row] != "Intercept"]
    for place, row in enumerate(shown):
        axes.plot(
            [found["low"][row], found["high"][row]], [place] * 2, color=BLUE, lw=8, alpha=0.35, solid_capstyle="butt"
        )
        axes.plot(found["value"][row], place, "o", color=BLUE)
        axes.plot(truth["value"][row], place, "|", color=RED, ms=16, mew=2)
    axes.set(yticks=range(len(shown)), yticklabels=[found["term"][row] for row in shown], ylim=(len(shown) - 0.4, -0.6))
    axes.axvline(0, color=GREY, lw=1)
    axes.set_xlabel("log odds: estimate and 95 % interval from randomized records; raw records in red")
    axes.set_title("Who earns more than 50 000? All answers randomized, gamma 9", loc="left", fontsize=11)
    return figure


@drawn
def security() -> object:
    """What ten fresh answers give away, and what answers under a key do."""
    times = np.arange(1, 13)
    figure, axes = empty_picture(7.2, 3.6, "y")
    channel = c.symmetric(4, gamma=3)
    fresh = [1 - sf.attacks.repeated(channel, int(many), rng=1).error for many in times]
    axes.plot(times, fresh, "o-", color=RED, ms=4, label="fresh answers each time")
    axes.plot(times, np.full(len(times), fresh[0]), "s-", color=BLUE, ms=4, label="answers under a key")
    axes.axhline(0.25, color=GREY, ls=":", lw=1.3)
    axes.text(12, 0.255, "a blind guess", color="#718096", ha="right", va="bottom", fontsize=9)
    axes.set(xlim=(0.7, 12.3), ylim=(0.2, 1), xlabel="releases of the same value", xticks=times)
    axes.yaxis.set_major_formatter(lambda y, _: percentage(y))
    axes.legend(frameon=False, loc="upper left")
    axes.set_title("How often the best guess is right: four values, gamma 3", loc="left", fontsize=11)
    return figure


@cache
def asked() -> tuple[sf.Evidence, sf.Evidence]:
    """What a miner has of some columns of Adult under gamma 9, as in docs/ask.md, and the exact evidence beside it."""
    people = sf.datasets.load("adult").select(["sex", "age", "hours-per-week", "education-num"])
    schema = sf.Schema(
        {
            "sex": sf.Categorical(("Female", "Male")),
            "age": sf.Numeric(15, 95, bins=80, step=1),
            "hours-per-week": sf.Numeric(0, 100, bins=100, step=1),
            "education-num": sf.Ordinal(tuple(range(1, 17))),
        }
    )
    release = sf.randomize(people, sf.Scheme.for_gamma(schema, gamma=9), rng=sf.experiment(1))
    return sf.evidence(release), sf.evidence(people, schema)


def answer(ask: Callable[[sf.Evidence], Any]) -> object:
    """An answer from what was released, with the truth."""
    found, exact = (ask(evidence) for evidence in asked())
    return found.plot(truth=exact.value)


@drawn
def ask_means() -> object:
    """Mean hours a week by sex."""
    return answer(lambda ev: ev.mean("hours-per-week", by="sex"))


@drawn
def ask_running() -> object:
    """Running shares of age by sex."""
    return answer(lambda ev: ev.cdf("age", by="sex"))


@drawn
def ask_quantiles() -> object:
    """Quartiles of age by sex."""
    return answer(lambda ev: ev.quantile("age", [0.25, 0.5, 0.75], by="sex"))


@drawn
def ask_correlation() -> object:
    """A correlation by sex."""
    return answer(lambda ev: ev.correlation("education-num", "hours-per-week", by="sex"))


@drawn
def ask_shares() -> object:
    """Shares of the years of education."""
    return answer(lambda ev: ev.share("education-num"))


@drawn
def ask_density() -> object:
    """The smoothed density of age."""
    return asked()[0].density("age").plot().figure


@drawn
def density() -> object:
    """Two hills behind uniform noise that is wider than they are."""
    rng = np.random.default_rng(3)
    noise = c.uniform(2)
    x = np.where(rng.random(20_000) < 0.6, rng.normal(-1.5, 0.5, 20_000), rng.normal(1.5, 0.35, 20_000))
    return sf.density(noise.randomize(x, rng), noise).plot().figure


drawn(diagrams.scale)
drawn(diagrams.threat_model)
drawn(page_pictures.serve)


def main(names: list[str]) -> None:
    """Draw the pictures that are named, or all."""
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    for name in names or DRAWN:
        save_picture(DRAWN[name](), FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
