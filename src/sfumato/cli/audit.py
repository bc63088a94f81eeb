"""sfumato audit: hold a randomizer to its promise."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from sfumato.assess.audit import Audit, audit_scheme
from sfumato.assess.audit import audit as certify
from sfumato.assess.subject import one_form
from sfumato.cli import console, scheme_files
from sfumato.errors import SfumatoError
from sfumato.forms import Forms


def audit(
    scheme: Annotated[Path, typer.Argument(help="The public scheme, or forms, as JSON.")],
    command: Annotated[
        str | None, typer.Option(help="Audit this program instead: it reads codes, a record per line, and answers.")
    ] = None,
    attribute: Annotated[str | None, typer.Option(help="With --command: the attribute it randomizes.")] = None,
    trials: Annotated[int, typer.Option(min=100, help="How often every input is asked.")] = 100_000,
    alpha: Annotated[float, typer.Option(min=0, max=0.5, help="The risk of blaming an honest randomizer.")] = 1e-3,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Certify from the answers alone how much a randomizer discloses, and whether it follows its published matrix.

    Our own randomizer, under a scheme:

        sfumato audit scheme.json

    Somebody else's program that claims to randomize an attribute by the scheme's channel:

        sfumato audit scheme.json --attribute diagnosis --command "python their_randomizer.py"
    """
    promised = scheme_files.read_scheme_or_forms(scheme)
    forms = list(promised) if isinstance(promised, Forms) else [promised]
    if command is not None and attribute is None:
        raise SfumatoError("--command needs --attribute, which names the channel that the program claims to be")
    if attribute is not None:
        names = (attribute,) if attribute in promised.schema else tuple(attribute.split("+"))
        forms = [one_form(forms, names)]
        for name in names:
            forms[0].group(name)  # one clear line where there is none
    if command is not None and attribute is not None:
        found = [certify(_words(command), against=forms[0][names], trials=trials, alpha=alpha, name=attribute)]
    else:
        kept = forms if attribute is None else [forms[0].select(names)]
        found = [one for form in kept for one in audit_scheme(form, trials=trials, alpha=alpha / len(kept))]
    if not found:
        raise SfumatoError("there is nothing to audit: every attribute has a single value, or additive noise")
    if json:
        console.emit([_row(result) for result in found])
    else:
        _show(found)
    if not all(result.passed for result in found):
        raise typer.Exit(1)


def _show(found: list[Audit]) -> None:
    """A line for each attribute, and in words what the columns certify and what is wrong."""
    console.table(
        ["", "attribute", "gamma claimed", "certified at least", "answers follow the matrix"],
        [
            [
                "pass" if one.passed else "FAIL",
                one.name,
                "" if one.claimed is None else one.claimed,
                one.lower if one.lower > 1 else "nothing",
                "" if one.fit is None else f"{'yes' if one.faithful else 'NO'} (p = {one.fit:.2g})",
            ]
            for one in found
        ],
    )
    sure = f"{1 - found[0].alpha:.6g}"
    console.say(f"{found[0].trials:,} trials for every value; each certified gamma has a confidence of {sure}")
    if any(one.fit is not None for one in found):
        console.say(f"answers fail where p is below {found[0].alpha / 2:.2g}")
    for one in found:
        if not one.passed:
            console.say(str(one))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise SfumatoError(f"--command {command!r} cannot be cut into words: {problem}") from None


def _row(result: Audit) -> dict[str, object]:
    return {
        "name": result.name,
        "passed": result.passed,
        "gamma_at_least": result.lower,
        "gamma_claimed": result.claimed,
        "fit_p_value": result.fit,
        "alpha": result.alpha,
        "trials": result.trials,
        "inputs_told_apart": list(result.pair),
    }
