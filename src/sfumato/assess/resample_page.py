"""The owner's report on a resampled table: one page, in words first, with what every attack reached."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.assess.comparison import Row
from sfumato.assess.disclosure import Disclosure
from sfumato.owner.resample import Resampled, Risk
from sfumato.owner.resample.kernel import Array
from sfumato.printable import figure_text

RAW, RELEASED, BOUND = "#8a8f98", "#2a6f97", "#b23a48"


def page(
    X: Array, y: NDArray[Any] | None, released: Resampled, found: Disclosure, rows: Sequence[Row] = (), title: str = ""
) -> str:
    """The page as HTML with its pictures inside. It shows raw distributions, so it stays with the owner."""
    risk = released.worst
    body = [
        f"<h1>What does this release disclose?</h1><p class=sub>{escape(title)} · {len(released):,} released rows · "
        f"{escape(released.method)}</p>",
        _verdict(risk),
        "<h2>Who was in the table?</h2>",
        "<p>Each attack ranks records by how close they are to the release. 0.5 is blind guessing, 1 is certainty. "
        "The outliers are the loneliest tenth of the records of their class, whom a release exposes first.</p>"
        if risk
        else "<p>No games were played: ask for a bound with --max-risk to have every attack tried.</p>",
        _attacks(risk) if risk else "",
        _sites(released.risk),
        "<h2>Which record is behind a row?</h2>",
        _facts(found),
        "<h2>What the data look like</h2><p>The first columns, raw and released. This part shows raw data: keep the "
        "page with the owner.</p>",
        _columns(X, released),
        _rows(rows),
        "<h2>What travels</h2><p>The released rows, and how many there are of each class at each site. Nothing of the "
        "density, no bandwidth, no record.</p>",
        _proportions(released),
        "<h2>What this is not</h2><p>These numbers say what known attacks reach on this table; they are no proof "
        "against unknown ones. Where a guarantee for every record is needed, whatever the attacker knows, or where "
        "columns are categorical, use channels (<code>sfumato randomize</code>). DAPL, the paper's own measure, is "
        "left out on purpose: it measures the fit of a density, not what is disclosed.</p>",
    ]
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Sfumato: resampled table</title>{_STYLE}"
        + "".join(body)
    )


def _verdict(risk: Risk | None) -> str:
    if risk is None:
        return "<p class='box warn'><b>No bound was asked for.</b> Nothing limits what the paper's kernel shows.</p>"
    word = "The bound is held." if risk.held else "The bound is not held."
    kind = "good" if risk.held else "warn"
    how = risk.setting.words if risk.setting else ""
    return (
        f"<p class='box {kind}'><b>{word}</b> The strongest attack on membership reaches an AUC of {risk.achieved:.3f} "
        f"(asked: at most {risk.asked:.2f}), on outliers {risk.outliers:.3f} (at most {risk.outliers_asked:.2f}). "
        f"Mixing: {escape(how)}.</p>"
    )


def _attacks(risk: Risk) -> str:
    from matplotlib.figure import Figure

    names = sorted(risk.attacks, key=lambda name: risk.attacks[name][0])
    figure = Figure(figsize=(7.2, 0.36 * len(names) + 1), layout="constrained")
    axes = figure.subplots()
    for side, (colour, label, marker) in enumerate(((RELEASED, "all records", "o"), (BOUND, "outliers", "D"))):
        axes.plot([risk.attacks[name][side] for name in names], names, marker, color=colour, label=label, ms=6)
    for bound, colour in ((risk.asked, RELEASED), (risk.outliers_asked, BOUND)):
        if bound is not None:
            axes.axvline(bound, color=colour, lw=1, ls="--")
    axes.axvline(0.5, color=RAW, lw=1)
    low = min(min(pair) for pair in risk.attacks.values())
    axes.set_xlim(min(0.44, low - 0.02), max(0.68, max(max(pair) for pair in risk.attacks.values()) + 0.02))
    axes.set_xlabel("AUC (0.5: blind; dashed: the bounds)")
    axes.legend(frameon=False, loc="lower right")
    return _svg(figure)


def _columns(X: Array, released: Resampled) -> str:
    from matplotlib.figure import Figure

    shown = [i for i in range(X.shape[1]) if np.ptp(X[:, i]) > 0][:4]
    figure = Figure(figsize=(8.4, 2.1), layout="constrained")
    for axes, i in zip(np.atleast_1d(figure.subplots(1, max(len(shown), 1))), shown, strict=False):
        span = np.quantile(np.concatenate([X[:, i], released.X[:, i]]), (0.002, 0.998))
        edges = np.linspace(float(span[0]), float(span[1]), 25)
        axes.hist(X[:, i], edges, density=True, color=RAW, alpha=0.55, label="raw")
        axes.hist(released.X[:, i], edges, density=True, histtype="step", color=RELEASED, lw=1.6, label="released")
        axes.set_title(figure_text(released.names[i]), fontsize=9)
        axes.set_yticks([])
    figure.axes[0].legend(frameon=False, fontsize=7)
    return _svg(figure)


def _sites(risks: dict[Any, Risk]) -> str:
    """Every site by itself, where there are several: the picture is that of the worst."""
    if len(risks) < 2:
        return ""
    lines = [
        [
            str(place),
            f"{one.achieved:.3f} ({one.attack})",
            f"{one.outliers:.3f} ({one.outlier_attack})",
            "held" if one.held else "NOT HELD",
            one.setting.words if one.setting else "",
        ]
        for place, one in list(risks.items())[:40]
    ]
    heads = ["site", "all records", "outliers", "bound", "mixing"]
    return "<p>The picture is of the site that discloses most. All sites:</p>" + _table(heads, lines)


def _facts(found: Disclosure) -> str:
    lines = [
        ("Rows whose nearest record is the one they came from", f"{found.linked:.1%}", f"blind: {found.chance:.2%}"),
        ("The same for rows that came from outliers", f"{found.linked_outliers:.1%}", ""),
        ("Median distance to the closest record", f"{found.closest:.2f}", f"between records: {found.usual:.2f}"),
        ("Nearest to second-nearest distance, median", f"{found.ratio:.2f}", "near 0: a row points at one record"),
        ("Dependence of a row on its centre, at least", f"{found.ind:.2f}", "0: independent, 1: a function of it"),
    ]
    return _table(["", "", ""], lines) + "<p class=sub>Distances in standard deviations of each column.</p>"


def _rows(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    heads = ["method", "setting", "risk", "outliers", *rows[0].phi, "mean φ", ""]
    lines = [
        [r.method, r.setting, f"{r.risk:.3f}", f"{r.outliers:.3f}"]
        + [f"{v:+.1f}" for v in r.phi.values()]
        + [f"{r.mean:+.1f}\u00a0±\u00a0{r.error:.1f}"]
        + [r.note]
        for r in rows
    ]
    about = (
        "<h2>Other methods at the same risk</h2><p>Each is turned until its membership AUC is within the bound, where "
        "it can be. φ is what its rows cost a classifier, in points of error, on a quarter of the records; ± is one "
        "standard error. The outliers have no say in it: see their column.</p>"
    )
    return about + _table(heads, lines)


def _proportions(released: Resampled) -> str:
    entries = released.proportions
    lines = [[str(entry.get(key, "")) for key in ("site", "class", "rows")] for entry in entries[:40]]
    more = f"<p class=sub>and {len(entries) - 40} more</p>" if len(entries) > 40 else ""
    return _table(["site", "class", "rows"], lines) + more


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in heads) if any(heads) else ""
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    return f"<table>{'<tr>' + head + '</tr>' if head else ''}{rows}</table>"


def _svg(figure: Any) -> str:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


_STYLE = """<style>
body{font:15px/1.55 system-ui,sans-serif;max-width:60rem;margin:2.5rem auto;padding:0 1.2rem;color:#1d232b}
h1{font-size:1.7rem;margin-bottom:0}h2{font-size:1.15rem;margin-top:2.2rem}.sub{color:#667;margin-top:.3rem}
.box{padding:.8rem 1rem;border-left:5px solid;border-radius:4px}.good{background:#eaf4ee;border-color:#3b8c5a}
.warn{background:#faecea;border-color:#b23a48}table{border-collapse:collapse;font-size:.92em;width:100%}
td,th{padding:.3rem .6rem;border-bottom:1px solid #e3e6ea;text-align:left;font-variant-numeric:tabular-nums}
th{color:#556;font-weight:600}svg{max-width:100%;height:auto}code{background:#f2f4f6;padding:0 .25em}
</style>"""
