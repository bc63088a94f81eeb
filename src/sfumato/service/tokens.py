"""Tokens: what their holders may do. The server keeps hashes only, so whoever reads its disk holds no token."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, insert, select, update

from sfumato.service.allowed_columns import AllowedColumns, check_named
from sfumato.service.clock import Clock, hour_of, iso
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.storage.writer import Alone
from sfumato.service.studies import Studies

ROLES = ("admin", "miner", "site", "invitation")
MOST = 100_000  # made at once
_NAME = 200  # characters


@dataclass(frozen=True)
class Token:
    """One token without its secret. ``used`` marks an invitation that let a response in, ``columns`` are those that a
    site pushes, and nobody without them.
    """

    id: str
    hash: str
    role: str
    study: str | None
    name: str
    created: int
    expires: int | None = None
    revoked: int | None = None
    used: str | None = None
    columns: tuple[str, ...] | None = None

    @classmethod
    def read(cls, row: Any) -> Token:
        """A token as the database holds it."""
        columns = None if row["columns"] is None else tuple(json.loads(row["columns"]))
        return cls(**{**row, "columns": columns})

    def row(self) -> dict[str, Any]:
        """The same for the database."""
        return {**vars(self), "columns": None if self.columns is None else json.dumps(self.columns)}

    def public(self) -> dict[str, Any]:
        """What an administrator reads of it."""
        times = {name: iso(getattr(self, name)) for name in ("created", "expires", "revoked")}
        return {
            "id": self.id,
            "role": self.role,
            "study": self.study,
            "name": self.name,
            "columns": None if self.columns is None else list(self.columns),
            "used": self.used is not None,
            **times,
        }


def bearer(header: str) -> str:
    """The token in an Authorization header."""
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise RefusalError("unauthorized", "the header must read Authorization: Bearer TOKEN")
    return secret.strip()


def digest(secret: str) -> str:
    """The hash of a token. They are 256 random bits, so a plain hash cannot be searched through."""
    return hashlib.sha256(secret.encode()).hexdigest()


def mark(secret: str, response: str) -> str:
    """What an invitation is marked with once used: only whoever holds the token can tell for which response."""
    return hashlib.sha256(f"sfumato invitation|{secret}|{response}".encode()).hexdigest()


class Tokens:
    """The tokens of one server, by their hashes."""

    def __init__(self, clock: Clock, studies: Studies) -> None:
        self._clock, self._studies = clock, studies
        self._held: dict[str, Token] = {}
        studies.dropped.append(self.forget)

    def load(self, connection: Connection) -> None:
        """Read what the database holds."""
        found = connection.execute(select(tables.tokens)).mappings().all()
        self._held = {row["hash"]: Token.read(row) for row in found}

    def __iter__(self) -> Iterator[Token]:
        return iter(list(self._held.values()))

    def find(self, secret: str) -> Token:
        """The token with this secret, as long as it is good."""
        token = self._held.get(digest(secret))
        if token is None or token.revoked is not None:
            raise RefusalError("unauthorized", "this token is unknown, or was revoked")
        if token.expires is not None and self._clock() >= token.expires:
            raise RefusalError("unauthorized", "this token has expired")
        return token

    def _good(self, token: Token) -> bool:
        return token.revoked is None and (token.expires is None or self._clock() < token.expires)

    def allowed_columns(self, token: Token) -> AllowedColumns:
        """Which columns it pushes. Those of a token that expired stay reserved, those of a revoked one do not."""
        others = (one.columns for one in self if one.columns and one.study == token.study and one.revoked is None)
        return AllowedColumns(frozenset(token.columns or ()), frozenset().union(*others))

    def make(
        self,
        role: str,
        study: str | None,
        name: str = "",
        count: int = 1,
        expires: int | None = None,
        columns: Sequence[str] | None = None,
    ) -> Alone:
        """New tokens; the outcome lists each with its secret, which is shown this once."""
        if role not in ROLES:
            raise RefusalError("malformed", f"role must be one of {', '.join(ROLES)}", where="role")
        if (study is None) != (role == "admin"):
            raise RefusalError("malformed", "an admin's token is for all studies, any other for one", where="study")
        if not 1 <= count <= MOST:
            raise RefusalError("malformed", f"count must be from 1 to {MOST:,}", where="count")
        if len(name) > _NAME or not name.isprintable():
            raise RefusalError("malformed", f"name must be printable text of at most {_NAME} characters", where="name")
        if columns is not None and role != "site":
            raise RefusalError("malformed", "columns are for the token of a site, which pushes them", where="columns")
        now, held = hour_of(self._clock()), None if columns is None else tuple(dict.fromkeys(columns))
        drawn = [f"sf{role[0]}_{secrets.token_urlsafe(32)}" for _ in range(count)]
        made = [
            Token(secrets.token_hex(16), digest(one), role, study, name, now, expires, columns=held) for one in drawn
        ]

        def run(connection: Connection) -> list[tuple[Token, str]]:
            if study is not None:
                asked = self._studies[study]  # refused here if it is gone
                if held is not None:
                    check_named(held, asked)
            connection.execute(insert(tables.tokens), [token.row() for token in made])
            return list(zip(made, drawn, strict=True))

        return Alone(run, lambda outcome: self._held.update({token.hash: token for token, _ in outcome}))

    def revoke(self, id: str) -> Alone:
        """No request with this token is granted any more."""

        def run(connection: Connection) -> Token:
            found = next((token for token in self._held.values() if token.id == id), None)
            if found is None:
                raise RefusalError("not_found", "there is no such token")
            others = (token for token in self._held.values() if token.role == "admin" and token.id != id)
            if found.role == "admin" and self._good(found) and not any(map(self._good, others)):
                raise RefusalError("conflict", "this is the last token of an admin: make another one first")
            now = found.revoked or hour_of(self._clock())
            connection.execute(update(tables.tokens).where(tables.tokens.c.id == id).values(revoked=now))
            return replace(found, revoked=now)

        return Alone(run, lambda token: self._held.update({token.hash: token}))

    def use(self, connection: Connection, marks: dict[str, str]) -> None:
        """Write down that these invitations, by their hashes, let a response in."""
        for hashed, marked in marks.items():
            connection.execute(update(tables.tokens).where(tables.tokens.c.hash == hashed).values(used=marked))

    def used(self, marks: dict[str, str]) -> None:
        """The same in memory, once it is on the disk."""
        for hashed, marked in marks.items():
            self._held[hashed] = replace(self._held[hashed], used=marked)

    def marked(self, hashed: str) -> str | None:
        """What an invitation was marked with, if it was used."""
        return self._held[hashed].used

    def forget(self, study: str) -> None:
        """The tokens of a draft that was deleted."""
        for token in list(self._held.values()):
            if token.study == study:
                self._held.pop(token.hash, None)


def require(token: Token | None, roles: Sequence[str], study: str | None = None) -> Token:
    """The token, if it is of one of these roles and, unless it is an admin's, of this study."""
    if token is None:
        raise RefusalError("unauthorized", "this needs a token: Authorization: Bearer TOKEN")
    if token.role not in roles or (token.role != "admin" and study is not None and token.study != study):
        raise RefusalError("forbidden", "this token does not allow that")
    return token
