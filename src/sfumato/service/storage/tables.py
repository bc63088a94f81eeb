"""The tables of the database, as the newest version has them; ``migrations`` makes them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, String, Table, Text

metadata = MetaData()

#: A study: its public document, and how far it has come. Times are hours, as seconds since 1970.
studies = Table(
    "studies",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("document", Text, nullable=False),
    Column("state", String(8), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("opened", BigInteger),
    Column("closed", BigInteger),
)

#: What tokens allow. Only their hashes are kept. ``used`` is a mark that only holders of the invitation can check;
#: ``columns`` lists in JSON those that a site pushes.
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("study", String(64)),
    Column("name", Text, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
    Column("used", String(64)),
    Column("columns", Text),
)

#: The released codes of one person each. A deleted one keeps its id and loses its codes.
responses = Table(
    "responses",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("form", Integer, nullable=False),
    Column("codes", LargeBinary),
    Column("receipt", LargeBinary, nullable=False),
    Column("hour", BigInteger, nullable=False),
)

#: How often each combination of codes occurs among the responses up to an hour: a start need not count them again.
snapshots = Table(
    "snapshots",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("hour", BigInteger, nullable=False),
    Column("counts", LargeBinary, nullable=False),
)

#: Releases that sites pushed; their rows lie in files of the data folder, named by the digest.
uploads = Table(
    "uploads",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("id", String(64), primary_key=True),
    Column("token", String(32), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("row_count", BigInteger),
    Column("parts", Text),
    Column("counts", LargeBinary),
    Column("problem", Text),
    Column("hour", BigInteger, nullable=False),
)

#: The tables of records whose columns several parties pushed, joined by pseudonyms; ``uploads`` lists whose.
joins = Table(
    "joins",
    metadata,
    Column("study", String(64), primary_key=True),
    Column("link", String(64), primary_key=True),
    Column("uploads", Text, nullable=False),
    Column("parts", Text, nullable=False),
    Column("counts", LargeBinary, nullable=False),
)
