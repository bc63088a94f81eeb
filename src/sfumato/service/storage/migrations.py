"""The versions of the database: each step takes it from one version to the next, and none is ever changed again."""

from __future__ import annotations

from sqlalchemy import Connection, text

from sfumato.errors import SfumatoError

#: SQL of each step. ``{blob}``, ``{big}`` and ``{by_key}`` are what the two databases spell differently. Rows that are
#: kept by their key, and not in the order in which they arrived, say nothing about that order.
STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE studies (id VARCHAR(64) PRIMARY KEY, document TEXT NOT NULL, state VARCHAR(8) NOT NULL,
            created {big} NOT NULL, opened {big}, closed {big})""",
        """CREATE TABLE tokens (id VARCHAR(32) PRIMARY KEY, hash VARCHAR(64) NOT NULL UNIQUE, role VARCHAR(16) NOT NULL,
            study VARCHAR(64), name TEXT NOT NULL, created {big} NOT NULL, expires {big}, revoked {big},
            used VARCHAR(64))""",
        """CREATE TABLE responses (study VARCHAR(64) NOT NULL, id VARCHAR(64) NOT NULL, form INTEGER NOT NULL,
            codes {blob}, receipt {blob} NOT NULL, hour {big} NOT NULL, PRIMARY KEY (study, id)){by_key}""",
        "CREATE INDEX responses_by_hour ON responses (study, hour)",
        """CREATE TABLE snapshots (study VARCHAR(64) PRIMARY KEY, hour {big} NOT NULL, counts {blob} NOT NULL)""",
        """CREATE TABLE uploads (study VARCHAR(64) NOT NULL, id VARCHAR(64) NOT NULL, token VARCHAR(32) NOT NULL,
            digest VARCHAR(64) NOT NULL, bytes {big} NOT NULL, state VARCHAR(16) NOT NULL, row_count {big},
            parts TEXT, counts {blob}, problem TEXT, hour {big} NOT NULL, PRIMARY KEY (study, id))""",
    ),
    (
        """CREATE TABLE joins (study VARCHAR(64) NOT NULL, link VARCHAR(64) NOT NULL, uploads TEXT NOT NULL,
            parts TEXT NOT NULL, counts {blob} NOT NULL, PRIMARY KEY (study, link))""",
    ),
    ("ALTER TABLE tokens ADD COLUMN columns TEXT",),
)

VERSION = len(STEPS)
_SPELLINGS = {
    "sqlite": {"blob": "BLOB", "big": "INTEGER", "by_key": " WITHOUT ROWID"},
    "postgresql": {"blob": "BYTEA", "big": "BIGINT", "by_key": ""},
}


def migrate(connection: Connection, steps: tuple[tuple[str, ...], ...] = STEPS) -> int:
    """Bring the database to this program's version; the version it had. One transaction: all steps, or none."""
    spelled = _SPELLINGS[connection.dialect.name]
    connection.execute(text("CREATE TABLE IF NOT EXISTS versions (number INTEGER NOT NULL)"))
    found = connection.execute(text("SELECT max(number) FROM versions")).scalar() or 0
    if found > len(steps):
        raise SfumatoError(
            f"the database is of version {found}, and this program knows versions up to {len(steps)}: "
            f"it was written by a newer sfumato; install that one"
        )
    for number, step in enumerate(steps[found:], found + 1):
        for statement in step:
            connection.execute(text(statement.format(**spelled)))
        connection.execute(text("INSERT INTO versions (number) VALUES (:number)"), {"number": number})
    return int(found)
