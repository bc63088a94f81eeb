"""sfumato density: the density of one noisy column."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.choices import one_of
from sfumato.errors import SfumatoError
from sfumato.evidence.density import density as estimate
from sfumato.evidence.density.deconvolution import METHODS
from sfumato.reading.tables import count_rows
from sfumato.released.description import read_description


def density(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with the released values.")],
    column: Annotated[str, typer.Option(help="The column that holds z.")],
    noise: Annotated[str, typer.Option(help="uniform:HALF_WIDTH, gaussian:SD, laplace:SCALE or scipy.NAME:ARGS.")],
    support: Annotated[str | None, typer.Option(help="Where x may lie, as LOW,HIGH.")] = None,
    bins: Annotated[
        int | None, typer.Option(help="Cells of the estimate (default 80); with --support, exactly these.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="auto (needs no tuning), em, as or mle.", autocompletion=one_of(*METHODS))
    ] = "auto",
    stop: Annotated[
        str | None, typer.Option(help="For em and as: iterations:N, theta:T, loglik:T, chi2:T or cv:FOLDS.")
    ] = None,
    widen: Annotated[bool, typer.Option("--widen", help="Widen the support when z does not fit it.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Also draw the estimate (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Estimate the density of x from a column z = x + noise; the noise is public.

    Examples:

        sfumato density survey.parquet --column z --noise uniform:1

        sfumato density survey.csv --column income --noise gaussian:5000 --support 0,200000 --plot income.svg

        sfumato density survey.csv --column z --noise laplace:0.5 --method em --stop cv:5 --bins 50 --json

        sfumato density survey.csv --column z --noise scipy.gamma:2,-2,1
    """
    between = _pair(support)
    if file.is_dir():
        raise SfumatoError(f"'{file}' is a directory: name a CSV or Parquet file")
    _refuse_codes(file, column)
    total = count_rows(file) if file.exists() else None
    with console.progress("reading", total) as advance:
        seen = 0

        def progress(count: int) -> None:
            nonlocal seen
            advance(count - seen)
            seen = count

        found = estimate(
            file,
            noise,
            between,
            bins,
            method,
            stop,
            column=column,
            outside="widen" if widen else "refuse",
            progress=progress,
        )
    if plot is not None:
        found.plot(plot)
    if json:
        console.emit(found.to_dict())
        return
    banded = "" if found.spread is None else "; --plot, --json: a 90 % band, which holds less often at heaps and edges"
    low, middle, high = (float(found.quantile(q)) for q in (0.05, 0.5, 0.95))
    rows = [
        ("values", f"{found.n:,}"),
        ("noise", f"{getattr(found.noise, 'name', found.noise.kind)}, sd {_number(found.noise.sd, 4)}"),
        ("method", found.method + (f", stopped by {found.stop}" if found.stop else "")),
        ("cells", _cells(found.mass.size, float(found.edges[0]), float(found.edges[-1]), between)),
        ("mean, sd", f"{_number(found.mean)}, {_number(found.sd)}"),
        ("5 %, 50 %, 95 %", f"{_number(low)}, {_number(middle)}, {_number(high)}"),
        ("their errors", f"not told here{banded}"),
        ("hills told apart", _resolution(found.resolution)),
        ("lost to the cells' width", f"{100 * found.floor:.2f} % at least"),
        ("log-likelihood", f"{found.log_likelihood:.2f} after {found.iterations} iterations"),
    ]
    hidden = found.mass.size - found.rank
    if hidden:
        rows.append(("not told by z", f"{hidden} of {found.mass.size} details: it would be the same without them"))
    console.table(("", "density"), rows)
    console.say(_bars(found.height.tolist()))
    console.note("of a release, sfumato estimate --quantiles tells quantiles with their intervals")
    if plot is not None:
        console.note(f"picture: {plot}")


def _number(value: float, digits: int = 6) -> str:
    """A few digits, and large numbers with their thousands marked: 2,194,230."""
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.{digits}g}"


def _resolution(distance: float) -> str:
    if not math.isfinite(distance):
        return "none: too few values"
    return f"from {_number(distance, 2)} on; nearer ones may show as one, and gaps between them not at all"


def _cells(count: int, low: float, high: float, support: tuple[float, float] | None) -> str:
    """How many there are and where, and which part of a given support that is."""
    told = f"{count} from {_number(low)} to {_number(high)}"
    if support is None or (low, high) == support:
        return told
    if low < support[0] or high > support[1]:
        return f"{told}: the support {_number(support[0])} to {_number(support[1])} was widened"
    return f"{told}, inside the support {_number(support[0])} to {_number(support[1])}"


def _refuse_codes(file: Path, column: str) -> None:
    """Answers of a channel are codes, not numbers with noise."""
    try:
        entries, _, _ = read_description(file)
    except (SfumatoError, OSError, ValueError):  # no release, or no file that Arrow can read: said where it is read
        return
    if any(column in scheme.columns and column not in scheme.noises for _, scheme, _, _ in entries):
        raise SfumatoError(
            f"{file} is a release, and {column!r} holds the answers of a channel, not numbers with noise: "
            f"sfumato estimate {file} --cdf {column} tells how they are spread"
        )


def _pair(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise SfumatoError(f"support must look like 0,100, got {text!r}") from None
    return low, high


def _bars(height: list[float]) -> str:
    """The density as one line of block characters."""
    top = max(height) or 1.0
    return "".join(" ▁▂▃▄▅▆▇█"[round(8 * h / top)] for h in height)
