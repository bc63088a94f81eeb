"""sfumato density: the density of one noisy column."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import SfumatoError, SfumatoWarning

HELP = """Estimate the density of x from a column z = x + noise.

The noise is public; the method "auto" needs no tuning. Examples:

    sfumato density survey.parquet --column z --noise uniform:1

    sfumato density survey.csv --column income --noise gaussian:5000 --support 0,200000 --plot income.svg

    sfumato density survey.csv --column z --noise laplace:0.5 --method em --stop cv:5 --bins 50 --json

    sfumato density survey.csv --column z --noise scipy.gamma:2,-2,1
"""


def density(
    file: Annotated[Path, typer.Argument(help="CSV or Parquet file with the released values.")],
    column: Annotated[str, typer.Option(help="The column that holds z.")],
    noise: Annotated[
        str, typer.Option(help="uniform:HALF_WIDTH, gaussian:SD, laplace:SCALE or scipy.NAME:ARGS.")
    ],
    support: Annotated[str | None, typer.Option(help="Where x may lie, as LOW,HIGH.")] = None,
    bins: Annotated[int | None, typer.Option(help="Cells of the estimate (default 80).")] = None,
    method: Annotated[str, typer.Option(help="auto, em, as or mle.")] = "auto",
    stop: Annotated[
        str | None, typer.Option(help="em and as: iterations:N, theta:T, loglik:T, chi2:T or cv:FOLDS.")
    ] = None,
    widen: Annotated[bool, typer.Option("--widen", help="Widen the support when z does not fit it.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write a picture (.svg, .png, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the estimate as JSON.")] = False,
) -> None:
    from sfumato.evidence.density import density as estimate

    try:
        with warnings.catch_warnings(record=True) as caught, _Progress() as progress:
            warnings.simplefilter("always", SfumatoWarning)
            found = estimate(
                file,
                noise,
                _pair(support),
                bins,
                method,
                stop,
                column=column,
                outside="widen" if widen else "refuse",
                progress=progress,
            )
        if plot is not None:
            found.plot(plot)
    except (SfumatoError, OSError, ValueError) as error:
        _fail(str(error).splitlines()[0], as_json)
    for warning in caught:
        typer.echo(f"warning: {warning.message}", err=True)
    if as_json:
        typer.echo(json.dumps(found.to_dict() | {"warnings": [str(w.message) for w in caught]}))
        return
    low, middle, high = (float(found.quantile(q)) for q in (0.05, 0.5, 0.95))
    typer.echo(
        f"{found.n:,} values, {found.noise.kind} noise with sd {found.noise.sd:.4g}, method {found.method}"
    )
    typer.echo(f"support   [{found.edges[0]:.6g}, {found.edges[-1]:.6g}] in {found.mass.size} cells")
    typer.echo(f"mean      {found.mean:.6g}      sd {found.sd:.6g}")
    typer.echo(f"quantiles 5% {low:.6g}   50% {middle:.6g}   95% {high:.6g}")
    typer.echo(f"floor     {found.floor:.2%} lost to the width of the cells at least")
    typer.echo(f"log-likelihood {found.log_likelihood:.2f} after {found.iterations} iterations")
    typer.echo(_bars(found.height.tolist()))
    if plot is not None:
        typer.echo(f"picture   {plot}")


def _pair(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise SfumatoError(f"support must look like 0,100, got {text!r}") from None
    return low, high


def _fail(message: str, as_json: bool) -> None:
    typer.echo(json.dumps({"error": message}) if as_json else f"error: {message}", err=not as_json)
    raise typer.Exit(1)


def _bars(height: list[float]) -> str:
    """The density as one line of block characters."""
    top = max(height) or 1.0
    return "density   " + "".join(" ▁▂▃▄▅▆▇█"[round(8 * h / top)] for h in height)


class _Progress:
    """A count of values read, on a terminal and only once reading takes a while."""

    def __enter__(self) -> _Progress:
        self._shown = 0
        return self

    def __call__(self, count: int) -> None:
        if sys.stderr.isatty() and count - self._shown >= 5_000_000:
            self._shown = count
            sys.stderr.write(f"\rread {count / 1e6:.0f} million values")
            sys.stderr.flush()

    def __exit__(self, *exc: object) -> None:
        if self._shown:
            sys.stderr.write("\n")


density.__doc__ = HELP
