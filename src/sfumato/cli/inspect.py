"""sfumato inspect: what a release or a scheme says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.assess.goodness_of_fit import goodness_of_fit
from sfumato.assess.report.summary import factor
from sfumato.channels import Channel
from sfumato.cli import console, scheme_files
from sfumato.cli.resampled_words import inspect_resampled
from sfumato.errors import SfumatoError
from sfumato.forms import Forms
from sfumato.printable import many
from sfumato.release import Release
from sfumato.released.counted import CountedPart
from sfumato.released.counts_file import is_counts_file
from sfumato.released.in_words import in_words
from sfumato.scheme import Scheme


def inspect(
    file: Annotated[
        Path, typer.Argument(help="A release (.parquet, .csv), a scheme (.json), or a table of sfumato resample.")
    ],
    rows: Annotated[int, typer.Option(min=0, help="How many released rows to show.")] = 0,
    fit: Annotated[
        bool, typer.Option("--fit", help="Test whether the answers can have come through their channels at all.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Show what a release or a scheme says of itself: attributes, channels, and how much each discloses.

    Examples:

        sfumato inspect release.parquet

        sfumato inspect release.parquet --rows 5

        sfumato inspect release.parquet --fit

        sfumato inspect scheme.json --json
    """
    if file.suffix != ".json" and file.is_file() and inspect_resampled(file, rows, fit, json):
        return
    release: Release | None = None
    schemes: list[tuple[int | None, Scheme]]
    found: Scheme | Forms | None = None
    if file.suffix == ".json" and not is_counts_file(file):
        found = scheme_files.read_scheme_or_forms(file)
        schemes = [(None, form) for form in found] if isinstance(found, Forms) else [(None, found)]
    else:
        release = Release.load(file)
        schemes = [(len(part), part.scheme) for part in release.parts]
    if fit and release is None:
        raise SfumatoError("--fit tests the answers of a release, and a scheme has none")
    tables = _tables(release)
    tests = _tested(release) if fit and release is not None else []
    if json:
        ids = None if release is None or release.id is None else {"name": release.id, "kind": release.id_kind}
        console.emit(
            {
                "file": str(file),
                "id": ids,
                "order": None if release is None else release.order,
                "parts": [{"rows": n, **_describe(scheme)} for n, scheme in schemes],
                **({"tables": tables} if tables else {}),
                **({"fit": tests} if fit else {}),
            }
        )
        return
    alike: dict[str, tuple[list[int], Scheme]] = {}
    for count, scheme in schemes:
        alike.setdefault(scheme.fingerprint, ([], scheme))[0].extend([] if count is None else [count])
    if found is not None and isinstance(found, Forms):
        console.say(
            f"{file.name}: {many(len(found), 'form')} {found.fingerprint[:16]}; each record answers one; all "
            f"answers of one person together: gamma {factor(found.epsilon, 4)}"
        )
        console.table(
            ["form", "weight", "gamma"],
            [[" + ".join(form.schema.names), w, form.gamma] for form, w in zip(found, found.weights, strict=True)],
        )
        return
    if len(alike) > _FEW:
        _show_forms(file.name, list(alike.values()), whole=release is None or release.whole)
        alike = {}
    for counts, scheme in alike.values():
        held = many(sum(counts), "record") if counts else "a scheme"
        if len(counts) > 1:
            held += f" in {len(counts)} parts of {console.some([f'{count:,}' for count in counts])}"
        console.say(f"{file.name}: {held}, scheme {scheme.fingerprint[:16]}")
        entries = _describe(scheme)["attributes"]
        console.table(
            ["attribute", "values", "channel", "gamma", "epsilon"],
            [[e["names"], e["values"], e["channel"], e["gamma"], e["epsilon"]] for e in entries],
        )
        console.say(f"gamma of a whole record: {factor(scheme.epsilon, 4)}")
    if release is not None and release.id_kind == "clear":
        console.warn(
            f"the column {release.id!r} holds ids in the clear: whoever knows an id finds its record and its answers"
        )
    elif release is not None and release.id is not None:
        console.say(f"{release.id}: pseudonyms instead of ids")
    if release is not None and release.order == "kept":
        console.warn("the rows keep their owner's order: whatever they were sorted by can be read off the release")
    if fit:
        _show_tests(tests)
    if tables:
        shown = console.some([" x ".join(columns) for columns in tables])
        console.say(f"tables of counts, no rows: {len(tables)}, {shown}")
    if release is not None and rows:
        console.say()
        _show_rows(*_rows(release, rows))


def _tables(release: Release | None) -> list[list[str]]:
    """The columns of each table of counts, where there are such in place of rows."""
    parts = [] if release is None else [part for part in release.parts if isinstance(part, CountedPart)]
    return [list(columns) for columns in dict.fromkeys(columns for part in parts for columns in part.tables)]


#: With more schemes than this a release is shown as forms, a line each.
_FEW = 3


def _show_forms(name: str, forms: list[tuple[list[int], Scheme]], whole: bool) -> None:
    """A line for each scheme of a release whose records went through different ones."""
    total = sum(sum(counts) for counts, _ in forms)
    kind = "schemes" if whole else "forms"
    console.say(f"{name}: {total:,} records, each of which answered one of {len(forms)} {kind}")
    console.table(
        [kind[:-1], "records", "channel", "gamma"],
        [[_described(scheme, 0), f"{sum(counts):,}", _described(scheme, 1), scheme.gamma] for counts, scheme in forms],
    )
    worst = max(scheme.epsilon for _, scheme in forms)
    console.say(f"all answers of one person together: gamma {factor(worst, 4)}")


def _described(scheme: Scheme, part: int) -> str:
    """What a scheme asks (0), or through which channels (1)."""
    return "; ".join(((" + ".join(g.names)), str(g.channel))[part] for g in scheme.groups)


#: A chance this small, over all attributes together, is called a misfit.
_SMALL = 0.01


def _tested(release: Release) -> list[dict[str, Any]]:
    """Of every attribute or group the distance of its answers from what the channel can give, or why there is none."""
    out: list[dict[str, Any]] = []
    schemes = dict.fromkeys(part.scheme for part in release.parts)
    for scheme in schemes:
        alike = Release.of(part for part in release.parts if part.scheme == scheme)
        more = {"scheme": scheme.fingerprint} if len(schemes) > 1 else {}
        for group in scheme.groups:
            entry: dict[str, Any] = {"names": " + ".join(group.names), **more}
            try:
                found = goodness_of_fit(alike, group.names)
                out.append({**entry, "distance": found.statistic, "p": found.p})
            except SfumatoError as problem:
                out.append({**entry, "not_tested": str(problem)})
    return out


def _show_tests(tests: list[dict[str, Any]]) -> None:
    told = [entry for entry in tests if "p" in entry]
    bad = [entry["names"] for entry in told if entry["p"] * len(told) < _SMALL]
    if told:
        console.say()
        console.table(["attribute", "distance", "p"], [[e["names"], e["distance"], e["p"]] for e in told])
    if bad:
        console.warn(f"the answers to {console.some(bad)} can hardly have come through the channel: some are false")
    elif told:
        console.say("the answers could have come through their channels; false ones that look honest cannot be told")
    for entry in tests:
        if "p" not in entry:
            name = entry["names"]
            console.note(f"{name}: not tested: {entry['not_tested'].removeprefix(f'{name}: ')}")


def _rows(release: Release, most: int) -> tuple[list[str], list[list[str]]]:
    """Headings and the first records, every answer in words."""
    released = dict.fromkeys(column for part in release.parts for column in part.scheme.columns)
    names = [*released, *([release.id] if release.id else [])]
    out: list[list[str]] = []
    for part in release.parts:
        head = part.head(most - len(out))
        columns = [
            in_words(part.scheme, name, head.column(name).to_pylist())
            if name in part.scheme.columns or name == release.id
            else [""] * head.num_rows
            for name in names
        ]
        if release.id is not None and release.id_kind != "clear":
            columns[-1] = [pseudonym[:12] + "…" for pseudonym in columns[-1]]  # the whole one is in the file
        out += [list(row) for row in zip(*columns, strict=True)]
    return names, out


def _show_rows(names: list[str], rows: list[list[str]]) -> None:
    """A line per record where that fits the terminal, otherwise a line per attribute, some records at a time."""
    widths = [max(len(cell) for cell in column) for column in zip(names, *rows, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= console.width():
        console.table(names, rows)
        return
    room = console.width() - max(map(len, names))
    first = 0
    while first < len(rows):
        fitting, left = 0, room
        for row in rows[first:]:
            left -= 2 + max(map(len, row))
            if fitting and left < 0:
                break
            fitting += 1
        shown = rows[first : first + fitting]
        console.table(
            ["", *(str(first + i + 1) for i in range(fitting))], [[n, *c] for n, *c in zip(names, *shown, strict=True)]
        )
        first += fitting
        if first < len(rows):
            console.say()


def _describe(scheme: Scheme) -> dict[str, Any]:
    attributes = [
        {
            "names": " + ".join(group.names),
            "values": _values(group.channel),
            "channel": str(group.channel),
            "gamma": group.channel.gamma,
            "epsilon": group.channel.epsilon,
        }
        for group in scheme.groups
    ]
    return {
        "fingerprint": scheme.fingerprint,
        "gamma": scheme.gamma,
        "epsilon": scheme.epsilon,
        "attributes": attributes,
    }


def _values(channel: Channel) -> str:
    if channel.continuous:
        return "numbers"
    return " x ".join(map(str, channel.sizes)) if channel.listed else "texts"
