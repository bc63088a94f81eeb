"""sfumato study: make, open, close and list the studies of a server, and their tokens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from sfumato.cli import console
from sfumato.cli.choices import one_of
from sfumato.cli.command import Command
from sfumato.cli.preparation import prepared
from sfumato.cli.scheme_files import read_text
from sfumato.cli.service_address import HERE, To, TokenFile, client
from sfumato.errors import SfumatoError
from sfumato.reading.json_documents import read_json
from sfumato.reading.name_lists import listed

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="The studies of a collection server.")

Id = Annotated[str, typer.Argument(help="The study's id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine output.")]


def create(
    id: Annotated[str, typer.Argument(help="A short id, which stands in links: a-z, 0-9 and -.")],
    scheme: Annotated[Path, typer.Option(help="The scheme or the forms (sfumato design --save).")],
    title: Annotated[str, typer.Option(help="What people read first.")] = "",
    text: Annotated[str, typer.Option(help="Who asks, and what for.")] = "",
    questions: Annotated[
        Path | None, typer.Option(help='The wording, as JSON: {"car": {"text": "Do you come by car?"}}.')
    ] = None,
    minimum: Annotated[int, typer.Option(help="Answers before anything is estimated.")] = 100,
    ends: Annotated[str | None, typer.Option(help="When it closes by itself: 2026-12-31T23:00:00Z.")] = None,
    invitation: Annotated[bool, typer.Option("--invitation", help="Every response needs a token of its own.")] = False,
    open_now: Annotated[bool, typer.Option("--open", help="Open it at once.")] = False,
    to: To = HERE,
    token_file: TokenFile = None,
    json: AsJson = False,
) -> None:
    """Make a study from a scheme. It is a draft until it is opened; then its scheme does not change any more.

    sfumato study create commuting --scheme scheme.json --title "How people come to work"

    sfumato study create commuting --scheme scheme.json --questions questions.json --minimum 200 --open
    """
    fields = {
        "id": id,
        "title": title or id,
        "text": text,
        "scheme": read_json(read_text(scheme), f"{scheme}:"),
        "questions": {} if questions is None else read_json(read_text(questions), f"{questions}:"),
        "minimum": minimum,
        "ends": ends,
        "access": "invitation" if invitation else "open",
    }
    server = client(to, token_file)
    found = server.ask("POST", "/v1/studies", fields)
    if open_now:
        found = server.ask("POST", f"/v1/studies/{id}/open")
    _show([found], json)
    if not json:
        then = "answers" if open_now else f"sfumato study open {id}, then answers"
        console.note(f"next: {then} at {to.rstrip('/')}/answer/{id}")


def open_(id: Id, to: To = HERE, token_file: TokenFile = None, json: AsJson = False) -> None:
    """Freeze the scheme of a study and take answers.

    sfumato study open commuting
    """
    _show([client(to, token_file).ask("POST", f"/v1/studies/{id}/open")], json)


def close(id: Id, to: To = HERE, token_file: TokenFile = None, json: AsJson = False) -> None:
    """Take no more answers.

    sfumato study close commuting
    """
    _show([client(to, token_file).ask("POST", f"/v1/studies/{id}/close")], json)


def list_(to: To = HERE, token_file: TokenFile = None, json: AsJson = False) -> None:
    """List the studies of a server.

    sfumato study list
    """
    _show(client(to, token_file).ask("GET", "/v1/studies")["studies"], json)


def tokens(
    id: Id,
    role: Annotated[
        str | None,
        typer.Option(
            "--new",
            help="Make tokens: miner, site or invitation.",
            autocompletion=one_of("miner", "site", "invitation"),
        ),
    ] = None,
    count: Annotated[int, typer.Option(help="How many.")] = 1,
    name: Annotated[str, typer.Option(help="Whose they are, to tell them apart later.")] = "",
    columns: Annotated[
        str | None, typer.Option(help="The columns that this site pushes (a,b,c); tokens that do not name them cannot.")
    ] = None,
    expires: Annotated[str | None, typer.Option(help="Until when they are good: 2026-12-31T23:00:00Z.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write new tokens to this file, one a line, instead of showing them.")
    ] = None,
    revoke: Annotated[str | None, typer.Option(help="The id of a token that is not to be good any more.")] = None,
    to: To = HERE,
    token_file: TokenFile = None,
    json: AsJson = False,
) -> None:
    """List the tokens of a study, make new ones, or revoke one. New tokens are shown this once.

    sfumato study tokens commuting

    sfumato study tokens commuting --new site --name "north clinic" --save north.token

    sfumato study tokens commuting --new site --name registry --columns sex,age --save registry.token

    sfumato study tokens commuting --new invitation --count 50 --json

    sfumato study tokens commuting --revoke 0f3a5c
    """
    server = client(to, token_file)
    if role is not None and revoke is not None:
        raise SfumatoError("make tokens or revoke one, not both at a time")
    if role is None and save is not None:
        raise SfumatoError("--save is for new tokens: say which with --new")
    if role is None and columns is not None:
        raise SfumatoError("--columns is for new tokens: say --new site")
    if role is not None:
        asked = {"role": role, "study": id, "name": name, "count": count, "expires": expires}
        asked |= {} if columns is None else {"columns": listed(columns)}
        with _own_file(save) as file:
            made = server.ask("POST", "/v1/tokens", asked)
            if file is not None:
                file.write("".join(f"{one['token']}\n" for one in made["tokens"]))
        _show_new(made, role, f"{to.rstrip('/')}", id, save, json)
        return
    if revoke is not None:
        _show_tokens([server.ask("DELETE", f"/v1/tokens/{revoke}")], json)
        return
    _show_tokens(server.ask("GET", f"/v1/tokens?study={id}")["tokens"], json)


#: The page that a token opens.
_PAGES = {"miner": "results", "invitation": "answer"}


def _show_new(made: dict[str, Any], role: str, to: str, study: str, save: Path | None, json: bool) -> None:
    """New tokens: on the screen, each with the link that it opens, or in a file that its owner alone can read."""
    if save is not None:
        console.note(f"{len(made['tokens'])} of role {role} in {save}; the server keeps hashes only")
    elif not json:
        for one in made["tokens"]:
            link = f" {to}/{_PAGES[role]}/{study}#token={one['token']}" if role in _PAGES else ""
            console.say(f"{one['id']} {one['token']}{link}")
        console.note("these are shown this once: the server keeps hashes only")
    if json:
        shown = [{key: value for key, value in one.items() if save is None or key != "token"} for one in made["tokens"]]
        console.emit({**made, "tokens": shown})


@contextmanager
def _own_file(path: Path | None) -> Iterator[TextIO | None]:
    """A new file that its owner alone can read, taken before there is anything to write; none is left by a failure."""
    if path is None:
        yield None
        return
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
    except FileExistsError:
        raise SfumatoError(f"{path}: is there already; a token in it would be lost") from None
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be written: {problem.strerror}") from None
    try:
        with file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _show(studies: list[dict[str, Any]], json: bool) -> None:
    if json:
        console.emit({"studies": studies})
        return
    columns = ["id", "title", "state", "access", "minimum", "ends", "fingerprint"]
    rows = [[*(one[name] for name in columns[:-1]), one["fingerprint"][:16]] for one in studies]
    console.table(columns, rows)


def _show_tokens(found: list[dict[str, Any]], json: bool) -> None:
    if json:
        console.emit({"tokens": found})
        return
    columns = ["id", "role", "name", "created", "expires", "revoked", "used"]
    columns += ["columns"] if any(one["columns"] for one in found) else []
    shown = [{**one, "columns": ", ".join(one["columns"] or ()), "used": "yes" if one["used"] else ""} for one in found]
    console.table(columns, [[one[name] for name in columns] for one in shown])


COMMANDS: dict[str, Callable[..., Any]] = {
    "create": create,
    "open": open_,
    "close": close,
    "list": list_,
    "tokens": tokens,
}
for verb, command in COMMANDS.items():
    app.command(verb, cls=Command)(prepared(command, "asking the server"))
