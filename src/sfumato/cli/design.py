"""sfumato design: from wishes to a scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.channels.efficiency import TARGETS
from sfumato.cli import console, scheme_files
from sfumato.cli.choices import one_of
from sfumato.design import design as choose
from sfumato.design.rounds import design_rounds
from sfumato.design.whole_record import design_record
from sfumato.errors import SfumatoError
from sfumato.forms import Forms
from sfumato.reading.name_lists import listed
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.writing.whole_files import replacing


def design(
    source: Annotated[Path, typer.Argument(help="A schema or scheme (.json), or a table to read the schema off.")],
    n: Annotated[int, typer.Option("--n", help="How many records there will be.")],
    gamma: Annotated[
        str | None, typer.Option(help="The bound on every attribute's gamma, as 3; or on each, as sex=3,age=5.")
    ] = None,
    joint_gamma: Annotated[float | None, typer.Option(help="The bound on the whole record's gamma.")] = None,
    record_gamma: Annotated[
        float | None,
        typer.Option(help="The bound on all answers of one person, who may be asked a few questions only."),
    ] = None,
    lifetime: Annotated[
        float | None,
        typer.Option(
            help="With --gamma, for a study in rounds: the bound on all rounds of a person, for each attribute."
        ),
    ] = None,
    rho1: Annotated[float | None, typer.Option(help="No belief of at most rho1 ...")] = None,
    rho2: Annotated[float | None, typer.Option(help="... may rise to rho2.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Guessing must not pay: benefit divided by loss.")] = None,
    p_max: Annotated[float | None, typer.Option(help="With --sigma: how likely the likeliest value is.")] = None,
    half_width: Annotated[float | None, typer.Option(help="The wanted precision of shares, as 0.02.")] = None,
    level: Annotated[float, typer.Option(help="The confidence of intervals.")] = 0.95,
    target: Annotated[
        str,
        typer.Option(
            help="What matters: shares, cdf (running shares), mean, or auto by kind of attribute. With --record-gamma: "
            "the attribute that is to be foretold.",
            autocompletion=one_of("auto", *TARGETS),
        ),
    ] = "auto",
    all_levels: Annotated[
        str | None, typer.Option(help="Hierarchies whose wider levels matter too: place. All levels are asked about.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the scheme here, as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the trade-off curves (.svg, .png, .pdf).")] = None,
    attribute: Annotated[str | None, typer.Option(help="With --plot: of which attribute.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the files if they exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Choose the best channel for each attribute under a bound, and show what every candidate would cost.

    At most gamma 3 for every attribute:

        sfumato design schema.json --n 20000 --gamma 3 --save scheme.json

    It takes the channel whose hardest share is the most exact; randomize --gamma the one that keeps most of the sample
    on average, which can be another one.

    A 10 % suspicion may never rise to 50 %, and the shares should be known to within 2 points:

        sfumato design schema.json --n 20000 --rho1 0.1 --rho2 0.5 --half-width 0.02

    The means of numbers should be as precise as can be:

        sfumato design schema.json --n 20000 --gamma 3 --target mean

    At most gamma 9 for all answers of one person together, each of whom may be asked a few questions only:

        sfumato design schema.json --n 50000 --record-gamma 9 --target income --save forms.json

    Asked every week while values change: at most gamma 3 in one week, at most 81 in all of them:

        sfumato design schema.json --n 20000 --gamma 3 --lifetime 81 --save weekly.json

    Towns, and the counties and regions above them, in one answer:

        sfumato design schema.json --n 20000 --gamma 9 --all-levels place --save scheme.json

    Guessing must not pay for someone who loses five times what he wins; draw the trade-off for age:

        sfumato design schema.json --n 20000 --sigma 0.2 --plot age.svg --attribute age
    """
    others = {
        "--joint-gamma": joint_gamma, "--rho1": rho1, "--rho2": rho2, "--sigma": sigma, "--p-max": p_max,
        "--half-width": half_width, "--all-levels": all_levels, "--plot": plot, "--attribute": attribute,
    }  # fmt: skip
    if record_gamma is not None:
        _alone(
            "--record-gamma", others | {"--gamma": gamma, "--lifetime": lifetime}, "--n, --target, --save and --json"
        )
        _whole_record(_schema(source), n, record_gamma, target, save, overwrite, json)
        return
    if lifetime is not None:
        bounds = _gamma(gamma)
        goes = "one --gamma for all attributes, --n, --save and --json"
        if not isinstance(bounds, float):
            raise SfumatoError(f"--lifetime goes with {goes} only")
        _alone("--lifetime", others | {"--target": None if target == "auto" else target}, goes)
        _rounds(_schema(source), n, bounds, lifetime, save, overwrite, json)
        return
    if attribute is not None and plot is None:
        raise SfumatoError("--attribute goes with --plot: it says what to draw")
    if all(wish is None for wish in (gamma, joint_gamma, rho1, sigma, half_width)):
        raise SfumatoError(
            "say what is wanted: --gamma 3, --record-gamma 9, --joint-gamma 20, "
            "--rho1 0.1 --rho2 0.5, --sigma 0.2 or --half-width 0.02"
        )
    found = choose(
        _schema(source),
        n,
        gamma=_gamma(gamma),
        joint_gamma=joint_gamma,
        rho1=rho1,
        rho2=rho2,
        sigma=sigma,
        p_max=p_max,
        half_width=half_width,
        level=level,
        target=target,
        all_levels=listed(all_levels or ""),
    )
    _save(found.scheme, save, overwrite)
    if plot is not None:
        with replacing(plot, overwrite) as temporary:
            named = temporary.with_suffix(plot.suffix)
            found.plot(named, attribute)
            named.replace(temporary)
    if json:
        whole = {"gamma": found.scheme.gamma, "epsilon": found.scheme.epsilon}
        console.emit({"candidates": found.rows(), "unmet": found.unmet, "whole_record": whole})
        return
    console.say(found.explain())
    if save is not None:
        console.note(f"written to {save}: sfumato assess {save} --n {n} says what it discloses")
    if plot is not None:
        console.note(f"written to {plot}")


def _whole_record(
    schema: Schema, n: int, gamma: float, target: str, save: Path | None, overwrite: bool, json: bool
) -> None:
    found = design_record(schema, n, gamma, None if target == "auto" else target)
    _save(found.scheme, save, overwrite)
    if json:
        whole = {"gamma": found.scheme.gamma, "epsilon": found.scheme.epsilon}
        console.emit({"alternatives": found.rows(), "whole_record": whole})
        return
    console.say(found.explain())
    if save is not None:
        console.note(f"written to {save}: sfumato randomize TABLE RELEASE --scheme {save}")


def _rounds(
    schema: Schema, n: int, gamma: float, lifetime: float, save: Path | None, overwrite: bool, json: bool
) -> None:
    found = design_rounds(schema, n, gamma, lifetime)
    _save(found.scheme, save, overwrite)
    if json:
        console.emit({"attributes": found.rows(), "lifetime": found.lifetime})
        return
    console.say(found.explain())
    if save is not None:
        console.note(f"written to {save}: sfumato randomize WEEK RELEASE --scheme {save} --id ID --key-file KEY")


def _alone(option: str, others: dict[str, Any], goes: str) -> None:
    """Refuse what would be left out of account beside an option."""
    for other, given in others.items():
        if given is not None:
            raise SfumatoError(f"{option} goes with {goes} only, not with {other}")


def _save(scheme: Scheme | Forms, save: Path | None, overwrite: bool) -> None:
    if save is not None:
        with replacing(save, overwrite) as temporary:
            temporary.write_text(scheme.to_json(), encoding="utf-8")


def _gamma(text: str | None) -> float | dict[str, float] | None:
    """One bound for all, or one for each attribute by its name."""
    if text is None:
        return None
    parts = [part.rpartition("=") for part in listed(text)]
    try:
        if len(parts) == 1 and not parts[0][1]:
            return float(text)
        if parts and all(name.strip() and equals for name, equals, _ in parts):
            return {name.strip(): float(value) for name, _, value in parts}
    except ValueError:
        pass
    raise SfumatoError(f"--gamma must look like 3 or like sex=3,age=5, got {text!r} instead")


def _schema(source: Path) -> Schema:
    if source.suffix != ".json":
        return Schema.infer(source)
    return scheme_files.read_schema(source)
