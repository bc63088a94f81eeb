"""sfumato attack: try to recover what a release hides."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from sfumato.assess import attacks
from sfumato.assess.attacks import Recovery
from sfumato.assess.shares import EQUAL, ESTIMATED, GIVEN
from sfumato.channels.additive import parse_noise
from sfumato.cli import console, scheme_files
from sfumato.cli.attacked_tables import additive_columns, numbers, row_numbers, whole
from sfumato.cli.choices import one_of
from sfumato.cli.forecast import foretelling
from sfumato.cli.keyfile import read_key, read_link_key
from sfumato.cli.shares import read_shares
from sfumato.errors import SfumatoError
from sfumato.membership import SHADOWS
from sfumato.owner.resample.description import method_of, read_description
from sfumato.release import Release

if TYPE_CHECKING:
    pass

NAMES = (
    "bayes",
    "repeated",
    "spectral",
    "pca",
    "bayes_estimate",
    "procrustes",
    "rotation_pca",
    "link",
    "linkage",
    "membership",
    "track",
)

#: Where the adversary's shares of the values come from, in words.
SHARES = {
    GIVEN: "the shares of the values are those given",
    ESTIMATED: "the shares of the values are estimated from the release",
    EQUAL: "every value is assumed equally likely, which understates a real adversary: give --shares, or a release",
}


def attack(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", autocompletion=one_of(*NAMES))],
    file: Annotated[Path, typer.Argument(help="A release, a scheme, or a table of released numbers.")],
    truth: Annotated[
        Path | None, typer.Option(help="The raw table, to measure the error: row by row as released, or by ids.")
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(help="bayes: the owner's key; finds the truth of shuffled rows by their pseudonyms.")
    ] = None,
    link_key_file: Annotated[Path | None, typer.Option(help="bayes: the same by the key of the pseudonyms.")] = None,
    attribute: Annotated[str | None, typer.Option(help="bayes, repeated: attribute, group or form (a+b).")] = None,
    shares: Annotated[
        str | None,
        typer.Option(help="bayes, repeated: public shares, as F=.4,M=.6 or a JSON file; else estimated."),
    ] = None,
    times: Annotated[int, typer.Option(min=1, help="repeated: how many fresh releases.")] = 10,
    noise: Annotated[
        str | None, typer.Option(help="Additive noise, as gaussian:5 or its deviation; a release tells its own.")
    ] = None,
    known: Annotated[int | None, typer.Option(help="procrustes: how many first rows of the truth are known.")] = None,
    sample: Annotated[
        Path | None, typer.Option(help="rotation_pca: like records; membership: fresh ones; linkage: see --own.")
    ] = None,
    own: Annotated[
        str | None,
        typer.Option(
            help="linkage: the released column that names the original row; link: the register's, the released."
        ),
    ] = None,
    register: Annotated[
        Path | None, typer.Option(help="link: a table of people with some attributes of the release.")
    ] = None,
    second: Annotated[Path | None, typer.Option(help="track: a later release of the same people.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="track, with a scheme: how many people there are.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Attack a release, and say how wrong the attack is beside how wrong knowing nothing would be.

    The best guess of every record's diagnosis, under shares of the diagnoses that are estimated from the release. Held
    against the truth, rows are told apart by their ids, or stand in their order (randomize --order keep):

        sfumato attack bayes release.parquet --attribute diagnosis

        sfumato attack bayes release.parquet --attribute diagnosis --truth patients.csv --key-file secret.key

    What ten fresh releases of one attribute would add up to, under shares that everybody knows:

        sfumato attack repeated scheme.json --attribute sex --shares F=.4,M=.6 --times 10

    Naming people: who in a register is each record most likely to be?

        sfumato attack link release.parquet --register voters.csv

    Following people: whose keyed answers are recognised in the next release, by the answers alone?

        sfumato attack track week1.parquet --second week2.parquet

    Filtering additive noise out of correlated columns, and undoing a rotation from eight known rows:

        sfumato attack spectral noisy.csv --noise gaussian:5 --truth raw.csv

        sfumato attack procrustes rotated.csv --truth raw.csv --known 8
    """
    if name not in NAMES:
        raise SfumatoError(f"there is no attack {name!r}: choose one of {', '.join(NAMES)}")
    if register is not None and name != "link":
        raise SfumatoError(f"the {name} attack takes no --register: only link does")
    if name != "track" and (second is not None or n is not None):
        raise SfumatoError(f"the {name} attack takes no --second and no --n: only track does")
    if (name != "bayes" or truth is None) and (key_file is not None or link_key_file is not None):
        raise SfumatoError("--key-file and --link-key-file are for the bayes attack with --truth")
    if name == "track":
        of = scheme_files.read_scheme(file) if file.suffix == ".json" else Release.load(file)
        found = attacks.track(of, None if second is None else Release.load(second), n=n)
    elif name == "link":
        found = _link(file, _wanted(register, "--register", name), own)
    else:
        keys = {"key": _key(key_file), "link_key": _key(link_key_file, of_links=True)}
        found = _run(name, file, truth, attribute, times, noise, known, sample, own, shares, keys)
    details = {key: value for key, value in found.details.items() if np.ndim(value) == 0 or isinstance(value, dict)}
    if json:
        about = {"attack": found.attack, "error": found.error, "nothing": found.nothing, "naive": found.naive}
        console.emit({**about, "advantage": found.advantage, "details": details})
        return
    console.say(str(found))
    if found.advantage is not None:
        if found.advantage > 0:
            console.say(f"the attack removes {100 * found.advantage:.3g} % of the ignorance")
        else:
            console.say("the attack learned nothing: knowing only the public shares or means does as well")
    for key, value in details.items():
        if isinstance(value, str) and key != "shares":
            console.say(f"  {key}: {value}")
        elif key == "shares":
            console.say(f"  {SHARES[value]}")
        elif key == "exact":
            console.say("  computed exactly" if value else "  simulated: the last digits vary from run to run")
        elif key == "expected":
            if not math.isclose(value, found.error or 0.0):
                console.say(f"  error expected if these shares were the true ones: {console.number(value)}")
        else:
            console.say(f"  {key}: {value if isinstance(value, dict) else console.number(value)}")


def _run(
    name: str,
    file: Path,
    truth: Path | None,
    attribute: str | None,
    times: int,
    noise: str | None,
    known: int | None,
    sample: Path | None,
    own: str | None,
    shares: str | None,
    keys: dict[str, bytes | None],
) -> Recovery:
    if name in ("bayes", "repeated"):
        of = scheme_files.read_scheme_or_forms(file) if file.suffix == ".json" else Release.load(file)
        wanted: str = _wanted(attribute, "--attribute", name)
        prior = None if shares is None else read_shares(shares, wanted)
        if name == "repeated":
            return attacks.repeated(of, times, prior, attribute=wanted)
        return attacks.bayes(of, prior=prior, truth=truth, attribute=wanted, **keys)
    if shares is not None:
        raise SfumatoError(f"the {name} attack takes no --shares: only bayes and repeated do")
    if name == "membership":
        return _membership(file, _wanted(truth, "--truth", name), _wanted(sample, "--sample", name))
    X = None if truth is None else numbers(truth)
    if name in ("spectral", "pca", "bayes_estimate"):
        filters: dict[str, Callable[..., Recovery]] = {
            "spectral": attacks.spectral,
            "pca": attacks.pca,
            "bayes_estimate": attacks.bayes_estimate,
        }
        noisy, own_noises = additive_columns(file, name)
        added = own_noises if noise is None and own_noises is not None else _noise(_wanted(noise, "--noise", name))
        return filters[name](numbers(file, only=noisy), added, None if truth is None else numbers(truth, only=noisy))
    if name == "procrustes":
        count, original = _wanted(known, "--known", name), _wanted(X, "--truth", name)
        return attacks.procrustes(numbers(file), original[:count], np.arange(min(count, len(original))), original)
    if name == "rotation_pca":
        return attacks.rotation_pca(numbers(file), numbers(_wanted(sample, "--sample", name)), X)
    column = _wanted(own, "--own", name)
    return attacks.linkage(_wanted(X, "--truth", name), numbers(file, leave=column), row_numbers(file, column))


def _key(path: Path | None, of_links: bool = False) -> bytes | None:
    """The key in a file, which must be there: a new one would find nobody."""
    if path is None:
        return None
    return read_link_key(path, {}) if of_links else read_key(path, {}, study="")


def _link(file: Path, register: Path, own: str | None) -> Recovery:
    """A register of people against a release, or against a scheme that would have randomized them."""
    if file.suffix == ".json":
        return attacks.link(scheme_files.read_scheme_or_forms(file), register)
    release = Release.load(file)
    if own is None:
        return attacks.link(release, register)
    if release.order == "shuffled":
        raise SfumatoError(
            "--own: the rows of the release were shuffled; release them with --order keep for this check"
        )
    released = row_numbers(register, own)
    if sorted(released) != list(range(len(release))):
        raise SfumatoError(f"--own {own}: the column must name each released row once, 0 to {len(release) - 1}")
    return attacks.link(release, register, np.argsort(released))


def _membership(file: Path, members: Path, strangers: Path) -> Recovery:
    """Against a file of ``sfumato resample``, which says how it was made, and so how to draw shadow releases."""
    about = read_description(file)
    target = about.get("target")
    parts = [whole(path) for path in (members, strangers, file)]
    columns = parts[2].column_names
    for part, path in zip(parts, (members, strangers), strict=False):
        missing = [name for name in columns if name not in part.column_names]
        if missing:
            raise SfumatoError(f"{path} has no column {missing[0]!r}, which the release has")
    names = [name for name in columns if name != target]
    X = [np.column_stack([part.column(name).to_numpy().astype(np.float64) for name in names]) for part in parts]
    labels = None if target is None else tuple(np.asarray(part.column(target)) for part in parts)
    with console.progress("shadow releases", SHADOWS) as advance:
        told = foretelling(advance, SHADOWS, "shadow releases")
        return attacks.membership(X[0], X[1], X[2], method_of(about, names), labels=labels, progress=told)


def _noise(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return parse_noise(text)


def _wanted(value: Any, option: str, name: str) -> Any:
    if value is None:
        raise SfumatoError(f"the {name} attack needs {option}")
    return value
