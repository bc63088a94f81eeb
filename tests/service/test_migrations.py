"""Every version of the database is brought to the newest one; one of a newer program is refused; a second server too."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, inspect, text

from service_client import SCHEME, Clock, new_id
from sfumato.errors import SfumatoError
from sfumato.service.collection import open_collection
from sfumato.service.storage import tables
from sfumato.service.storage.migrations import STEPS, VERSION, migrate
from sfumato.service.tokens import digest


def engine_of(folder, url):
    return create_engine(f"sqlite:///{folder / 'sfumato.db'}" if url is None else url.replace("://", "+psycopg://", 1))


def test_every_older_version_reaches_the_newest(folder, url):
    engine = engine_of(folder, url)
    with engine.begin() as connection:
        assert migrate(connection, STEPS[:1]) == 0
    with engine.begin() as connection:
        assert migrate(connection) == 1
        assert migrate(connection) == VERSION
    found = inspect(engine)
    for table in tables.metadata.tables.values():
        assert {column["name"] for column in found.get_columns(table.name)} == {column.name for column in table.columns}
    engine.dispose()


def test_tokens_of_an_older_version_are_good_and_name_no_columns(folder, url):
    engine = engine_of(folder, url)
    row = {"id": "1" * 32, "hash": digest("sfs_old"), "role": "site", "study": "commuting", "name": "", "created": 0}
    with engine.begin() as connection:
        migrate(connection, STEPS[:2])
        names = ", ".join(row)
        connection.execute(text(f"INSERT INTO tokens ({names}) VALUES ({', '.join(f':{name}' for name in row)})"), row)
    engine.dispose()
    held = open_collection(folder, url, now=Clock())
    found = held.tokens.find("sfs_old")
    assert (found.id, found.columns) == (row["id"], None)
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    ((made, secret),) = held.writer.now(held.tokens.make("site", "commuting", columns=["sex", "car"]))
    held.close()
    again = open_collection(folder, url, now=Clock())
    assert again.tokens.find(secret) == made and made.columns == ("sex", "car")
    assert again.tokens.allowed_columns(found).reserved == {"sex", "car"}
    again.close()


def test_a_newer_database_is_refused(folder, url):
    open_collection(folder, url).close()
    engine = engine_of(folder, url)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO versions (number) VALUES (99)"))
    engine.dispose()
    with pytest.raises(SfumatoError, match="newer sfumato"):
        open_collection(folder, url)


def test_a_second_server_is_kept_out_and_a_later_one_finds_everything(folder, url):
    held = open_collection(folder, url, now=Clock())
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    held.writer.now(held.studies.open("commuting"))
    report = held.responses.report("commuting", new_id(), SCHEME.fingerprint, None, {"car": 1, "sex": 0})
    held.writer.now(held.responses, report)
    with pytest.raises(SfumatoError, match="another server"):
        open_collection(folder, url)
    held.close()
    again = open_collection(folder, url, now=Clock())
    assert again.writer.now(again.responses, report).status == "replayed"
    assert again.responses.collected(again.studies["commuting"]).counts(0, ["car"]).tolist() == [0, 1]
    again.close()


def test_a_database_url_that_makes_no_sense_is_told_so(folder):
    for url in ("nonsense", "mysql://x/y"):
        with pytest.raises(SfumatoError, match="database"):
            open_collection(folder, url)
    with pytest.raises(SfumatoError, match="cannot be opened"):
        open_collection(folder, f"postgresql://nobody@/nothing?host={folder}")
