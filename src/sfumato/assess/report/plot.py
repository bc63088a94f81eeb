"""The report's pictures, as SVG text that stands inside the page."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.assess.breach import rho2
from sfumato.assess.game import game_curve
from sfumato.assess.precision import mean_half_width
from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.measures import accuracy_prior, widest
from sfumato.assess.report.sentences import belief, number, percent
from sfumato.channels import Channel, identity
from sfumato.pages.chart import ACCENT, INK, SOFT, WARM, svg
from sfumato.pages.parts import bars
from sfumato.printable import figure_text

_SIZE = (3.3, 2.6)  # inches: about the width of a phone
_NAMED, _LINES, _LETTERS = 12, 14, 14  # rows with names, lines of all names together, and letters of a line


def overview(facts: Facts) -> str | None:
    """How often the best guess is right, blind and after seeing the release, attribute by attribute."""
    rows = [
        (unit.title, unit.measures["guess_blind"], unit.measures["guess"])
        for unit in facts.units
        if "guess" in unit.measures
    ]
    if not rows:
        return None
    title = "How often the best guess of a record's value is right"
    return bars(title, rows, "blind", "after seeing the release", percent)


def heat_map(unit: Unit) -> str | None:
    """The table of chances: a row per true value, a column per answer."""
    channel = unit.channel
    if channel.k < 2 or channel.k > 128 or channel.k * channel.m > 1 << 20:
        return None
    P = channel.matrix

    def draw(figure: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap, to_rgb

        axes = figure.add_subplot()
        blue = to_rgb("#1f6a9a")  # a picture inside the picture knows no variables: one blue, thinner or denser
        shades = LinearSegmentedColormap.from_list("dense", [(*blue, 0.03), (*blue, 1.0)])
        # where one answer is far likelier than all others, as "no answer" is, its chance would leave these blank
        most = float(P.max() if P.size <= 36 else np.quantile(P.max(axis=0), 0.9))
        axes.imshow(P, cmap=shades, vmin=0, vmax=most, aspect="auto", interpolation="none")
        k, m = P.shape
        some = _named(k)
        lines = max(_LINES // k, 1)
        names = [_folded(unit.labels[x], lines) if unit.labels else str(x) for x in some]
        axes.set_yticks(some, names, fontsize=8)
        axes.set_xticks(some if m == k and max(map(len, names)) * len(names) <= 24 else [])
        if len(axes.get_xticks()):
            axes.set_xticklabels(names, fontsize=8)
        if k * m <= 36:
            for x in range(k):
                for y in range(m):
                    dark = P[x, y] > 0.8 * P.max()
                    colour = "#ffffff" if dark else INK
                    axes.text(
                        y,
                        x,
                        f"{100 * P[x, y]:.3g}",
                        ha="center",
                        va="center",
                        fontsize=8 if k > 3 else 8.5,
                        color=colour,
                    )
        axes.set_xlabel("answer" if m == k else f"answer ({m:,} possible)")
        axes.set_ylabel("true value")
        title = "Chance of each answer, %" if k * m <= 36 else "Chance of each answer"
        figure.suptitle(title, x=0.02, ha="left", fontsize=9.5, fontweight="bold")  # long names narrow the axes
        for side in axes.spines.values():
            side.set_visible(False)
        axes.tick_params(length=0)

    return svg(draw, *_SIZE, f"heat-{unit.title}", f"Chance of each answer for each true value of {unit.title}")


def beliefs(unit: Unit) -> str:
    """How far one answer can raise any belief."""
    gamma = unit.measures["gamma"]
    top = "without limit" if gamma == math.inf else f"a belief of 10 % to at most {belief(rho2(gamma, 0.1))}"
    said = f"One answer about {unit.title} can raise {top}"

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        prior = np.linspace(0, 1, 201)
        axes.plot(100 * prior, 100 * prior, color=SOFT, lw=1, ls=":")
        if gamma == math.inf:
            axes.plot([0, 0, 100], [0, 100, 100], color=WARM, lw=2)
            axes.text(50, 80, "no limit", ha="center", color=WARM)
        else:
            ceiling = 100 * rho2(gamma, prior)
            axes.fill_between(100 * prior, 100 * prior, ceiling, color=ACCENT, alpha=0.13, lw=0)
            axes.plot(100 * prior, ceiling, color=ACCENT, lw=2)
            at = rho2(gamma, 0.1)
            axes.plot([10, 10], [10, 100 * at], color=INK, lw=0.8)
            axes.plot(10, 100 * at, "o", color=INK, ms=4)
            axes.annotate(
                f"10 → {belief(at).removesuffix(' %')}",
                (10, 100 * at),
                xytext=(7, -3),
                textcoords="offset points",
                fontsize=8.5,
            )
        axes.set(xlim=(0, 100), ylim=(0, 102), xlabel="belief before, %", ylabel="at most after, %")
        axes.set_xticks([0, 50, 100])
        axes.set_yticks([0, 50, 100])
        axes.set_title("How far a belief can rise")

    return svg(draw, *_SIZE, f"beliefs-{unit.title}", said)


def payoff(unit: Unit) -> str | None:
    """What a guessing adversary gains, as wrong guesses grow dearer."""
    if "break_even" not in unit.measures or unit.channel.k * unit.channel.m > 1 << 20:
        return None
    stop = unit.measures["break_even"]
    reach = 10.0 if stop == math.inf else 1.7 * stop
    losses = np.linspace(0, reach, 120)
    gains = -game_curve(unit.channel, losses, unit.prior)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.plot(losses, gains, color=WARM, lw=2)
        axes.axhline(0, color=SOFT, lw=0.8)
        if stop < math.inf:
            axes.plot(stop, 0, "o", color=INK, ms=4, clip_on=False)
            axes.annotate(f"up to {stop:.3g}", (stop, 0), xytext=(3, 9), textcoords="offset points", fontsize=8.5)
        axes.set(xlim=(0, reach), xlabel="cost of a wrong guess\n(a right one brings 1)", ylabel="gain per record")
        axes.set_ylim(0, max(float(gains.max()) * 1.1, 0.01))
        axes.set_title("When guessing pays")

    return svg(
        draw, *_SIZE, f"payoff-{unit.title}", f"Guessing {unit.title} pays until a wrong guess costs {number(stop)}"
    )


def precision(unit: Unit) -> str | None:
    """Expected half-width against the number of records, with and without randomizing."""
    m, n = unit.measures, unit.n
    if "effective_sample_size" not in m or unit.prior is None:
        return None
    target, prior = m["target"], accuracy_prior(unit, unit.prior)

    def reach(channel: Channel) -> float:
        if target == "mean":
            return mean_half_width(channel, 1, prior, nullable=unit.nullable)
        return widest(unit, channel, 1, target)

    one, plain = reach(unit.channel), reach(identity(unit.channel.k))
    centre = n or 10_000
    sizes = np.geomspace(max(centre / 100, 10), centre * 100, 50)

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.plot(sizes, 100 * one / np.sqrt(sizes), color=ACCENT, lw=2, label="randomized")
        axes.plot(sizes, 100 * plain / np.sqrt(sizes), color=SOFT, lw=1.2, ls=":", label="not randomized")
        if n is not None:
            axes.plot(n, 100 * one / math.sqrt(n), "o", color=INK, ms=4)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.minorticks_off()
        low, high = axes.get_ylim()
        marks = [v for v in (0.001, 0.01, 0.1, 1, 10, 100, 1000) if low <= v <= high]
        axes.set_yticks(marks, [f"{v:g}" for v in marks])
        first, last = math.ceil(math.log10(sizes[0]) - 1e-9), math.floor(math.log10(sizes[-1]) + 1e-9)
        powers = [10**power for power in range(first, last + 1, 2)]
        axes.set_xticks(powers, [_round_number(power) for power in powers])  # exponents are too small to be read
        axes.set(xlabel="records", ylabel="± points")
        axes.set_title("How precise estimates are")
        axes.legend(frameon=False, fontsize=8, handlelength=1.4)

    return svg(
        draw,
        *_SIZE,
        f"precision-{unit.title}",
        f"Half-width of estimates of {unit.title} against the number of records",
    )


def _round_number(power_of_ten: int) -> str:
    """A mark along an axis, short enough for a phone.

    >>> [_round_number(10**power) for power in (2, 4, 6, 11, 13)]
    ['100', '10,000', '1 million', '100 billion', '10,000 billion']
    """
    for name, unit in (("billion", 10**9), ("million", 10**6)):
        if power_of_ten >= unit:
            return f"{power_of_ten // unit:,} {name}"
    return f"{power_of_ten:,}"


def _named(k: int) -> NDArray[np.int64]:
    """The rows that are named: as evenly as can be, the first and the last among them.

    >>> _named(9).tolist(), _named(18).tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 2, 4, 6, 8, 10, 12, 14, 17])
    """
    step = -(-k // _NAMED)
    some = np.arange(0, k, step)
    return np.append(some[some <= k - 1 - step], k - 1)


def _folded(name: str, most: int) -> str:
    """A value in at most so many lines; what has no room there is cut."""
    lines = wrap(name, _LETTERS)
    kept = [*lines[: most - 1], " ".join(lines[most - 1 :])] if len(lines) > most else lines
    return "\n".join(figure_text(line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…") for line in kept)
