"""sfumato learn regression: coefficients with standard errors from randomized records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import numpy as np
import typer

from sfumato.cli import console, learning
from sfumato.cli.choices import one_of
from sfumato.cli.forecast import duration
from sfumato.cli.typed_labels import TypedLabels
from sfumato.domains import Domain
from sfumato.errors import EstimationError, SfumatoError
from sfumato.learn.regression import Regression, family_of
from sfumato.learn.regression.model import FAMILIES, WAYS
from sfumato.printable import label_text
from sfumato.reading.name_lists import listed

_PATIENCE = 3.0  # seconds: refits that take longer are said beforehand


def regression(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    target: Annotated[str | None, typer.Option(help="The attribute to explain.")] = None,
    names: Annotated[
        str | None,
        typer.Option(
            help="Covariates, comma-separated: age, C(age) for a dummy per value, age:sex, age*sex. All others."
        ),
    ] = None,
    columns: learning.Columns = None,
    formula: Annotated[str | None, typer.Option(help='Instead of both: "ill ~ age * sex".')] = None,
    family: Annotated[
        str | None,
        typer.Option(
            help="gaussian, logistic or ordinal; left out, the target's kind decides.",
            autocompletion=one_of(*FAMILIES),
        ),
    ] = None,
    event: Annotated[str | None, typer.Option(help="The target's value whose odds are explained (logistic).")] = None,
    through: Annotated[
        str,
        typer.Option(help="scores (unbiased), model (the joint model), or auto.", autocompletion=one_of(*WAYS)),
    ] = "auto",
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="Also draw the coefficients (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Fit a regression: coefficients, standard errors and intervals, response and covariates randomized.

    Examples:

        sfumato learn regression release.parquet --target income --names age,sex

        sfumato learn regression release.parquet --target ill --names "age,C(grade),age:sex" --plot coefficients.svg

        sfumato learn regression release.parquet --formula "ill ~ age * sex" --family logistic
    """
    explained = target if target is not None else (formula or "").partition("~")[0].strip().strip("`")
    if not explained:
        raise EstimationError('say what to explain: --target NAME, or --formula "NAME ~ ..."')
    release = learning.load(files, columns, explained, numbers=True)
    chosen, value = family, None
    if explained in release.schema:
        chosen = family or family_of(release.schema[explained], event is not None)
        value = _event(release.schema[explained], explained, event)
    noisy = any(explained in part.scheme.noises for part in release.parts)
    if through == "model" or (noisy and (chosen or "gaussian") != "gaussian"):
        release = learning.cut_numbers(release)
    covariates = None if names is None else listed(names)
    model = Regression(chosen or "gaussian", through=through, event=value)
    model.fit(
        learning.named(release, columns, explained),
        target=target,
        names=covariates,
        formula=formula,
        progress=_foretelling(),
    )
    text = model.summary(level)
    if plot is not None:
        model.plot(plot, level)
    if not json:
        for line in text.splitlines():
            console.say(line)
        return
    console.emit(
        {
            "model": "regression",
            "family": model.family,
            "target": model.target_,
            "event": label_text(model.classes_[1]) if model.family == "logistic" else None,
            "n": model.n_,
            "left_out": model.left_out_,
            "rare_values": model.rare_values_.records,
            "compared_with": model.rare_values_.compared_with,
            "off_the_middle_by": model.binned_.off_by,
            "clipped": list(model.binned_.clipped),
            "method": model.method_,
            "covariance": model.covariance_,
            "converged": model.converged_,
            "freedom": None if np.isinf(model.freedom_) else model.freedom_,
            "scale": model.scale_,
            "level": level,
            "coefficients": model.frame(level).to_pylist(),
            "cov": model.cov_.tolist(),
        }
    )


def _foretelling() -> Callable[[int, int], None]:
    """What is being done, and beforehand how long the refits for the errors will take, by the time of the first fit."""
    began = monotonic()

    def step(done: int, total: int) -> None:
        console.step(f"refit {done + 1} of {total} of the joint model, for the errors")
        told = (monotonic() - began) * total
        if not done and told >= _PATIENCE:
            console.note(f"the errors of this joint model need {total} more fits of it: about {duration(told)}")

    return step


def _event(domain: Domain, name: str, text: str | None) -> Any:
    """The value that is written so."""
    if text is None:
        return None
    try:
        label = TypedLabels(domain).meant(text)
    except SfumatoError as problem:
        raise SfumatoError(f"--event: {name} has {problem}") from None
    if label is None:
        raise SfumatoError(f"--event: records without an answer are left out; name a value of {name}")
    return label
