"""What a release tells about ids: nothing, unless it was asked to."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, ReleaseError, SfumatoError
from sfumato.owner.ledger import Booking
from sfumato.owner.request import RandomizeRequest

SCHEME = sf.Scheme(sf.Schema({"a": sf.Categorical((0, 1))}), {"a": c.binary(0.25, 0.25)})
OTHER = sf.Scheme(sf.Schema({"b": sf.Categorical((0, 1))}), {"b": c.binary(0.25, 0.25)})
NAMES = [f"Schmidt-{i:04d}" for i in range(2000)]
LINK = b"agreed on by two hospitals"


def table(n: int = 200) -> dict:
    return {"id": NAMES[:n], "a": np.arange(n) % 2, "b": np.arange(n) % 2}


def content(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("name", ["release.parquet", "release.csv"])
@pytest.mark.parametrize("keys", [{}, {"key": sf.new_key()}, {"link_key": LINK}], ids=["none", "key", "link"])
def test_ids_are_not_in_the_file(tmp_path: Path, name: str, keys: dict) -> None:
    release = sf.randomize(table(), SCHEME, id="id", **keys)
    release.save(tmp_path / f"saved-{name}")
    sf.randomize_file(table(), tmp_path / name, SCHEME, id="id", **keys)
    assert b"Schmidt" not in content(tmp_path)
    assert all(len(text) == 32 for text in sf.Release.load(tmp_path / name).arrow().column("id").to_pylist())


@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.filterwarnings("ignore:the ids in 'id' are released")
def test_a_categorical_column_does_not_write_its_dictionary(tmp_path: Path, clear: bool) -> None:
    """Ten rows of a frame whose ids are a pandas categorical with 2000 names, and whose index holds names too."""
    everyone = pd.DataFrame({"id": pd.Categorical(NAMES), "a": pd.Categorical([0, 1] * 1000)}, index=NAMES)
    ten = everyone.iloc[:10]
    sf.randomize_file(ten, tmp_path / "release.parquet", SCHEME, id="id", clear_ids=clear)
    sf.randomize(ten, SCHEME, id="id", clear_ids=clear).save(tmp_path / "saved.parquet")
    sf.Release(ten.assign(a=ten.a.astype(int)), SCHEME, "id").save(tmp_path / "own.csv")
    (tmp_path / "own.csv").unlink()  # the user's own rows, ids and all; its sidecar is read below
    if clear:
        sf.Release.raw(ten, SCHEME.schema, id="id").save(tmp_path / "raw.parquet", clear=True)
    written = content(tmp_path)
    assert not [name for name in NAMES[10:] if name.encode() in written]
    assert any(name.encode() in written for name in NAMES[:10]) == clear
    for file in tmp_path.glob("*.parquet"):
        assert set(pq.read_metadata(file).metadata) == {b"sfumato", b"ARROW:schema"}  # no index of a data frame


def test_ids_in_the_clear_are_asked_for_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(DisclosureWarning, match="the ids in 'id' are released as they are"):
        release = sf.randomize(table(), SCHEME, id="id", clear_ids=True)
    assert sorted(release.arrow().column("id").to_pylist()) == NAMES[:200]
    path = release.save(tmp_path / "release.parquet")
    described = json.loads(pq.read_metadata(path).metadata[b"sfumato"])
    assert described["id"] == {"name": "id", "kind": "clear"}
    shown = run(f"inspect {path}")
    assert "holds ids in the clear" in shown.error
    assert json.loads(run(f"inspect {path} --json").out)["id"] == {"name": "id", "kind": "clear"}
    assert "ids in the clear" in run(f"assess {path}").out
    run(f"assess {path} --html {tmp_path / 'page.html'}")
    assert "ids in the clear" in (tmp_path / "page.html").read_text()
    safe = sf.randomize(table(), SCHEME, id="id").save(tmp_path / "safe.parquet")
    assert "in the clear" not in run(f"inspect {safe}").error + run(f"assess {safe}").out
    assert json.loads(run(f"inspect {safe} --json").out)["id"]["kind"] == "pseudonym"


def test_parties_join_under_one_link_key_only() -> None:
    left = sf.randomize(table(), SCHEME, id="id", link_key=LINK)
    numbered = {**table(), "id": np.arange(200)}
    assert len(left.join(sf.randomize(table(), OTHER, sf.new_key(), "id", LINK), on="id")) == 200
    for other in ({}, {"link_key": LINK + b"."}, {"key": sf.new_key()}):
        with pytest.raises(ReleaseError, match="pseudonyms under different keys"):
            left.join(sf.randomize(table(), OTHER, id="id", **other))
    with pytest.raises(ReleaseError, match="some ids are pseudonyms and some are not"):
        left.join(sf.Release.raw(table(), OTHER.schema, id="id"))
    texts = sf.randomize({**numbered, "id": [str(i) for i in range(200)]}, SCHEME, id="id", link_key=LINK)
    assert len(texts.join(sf.randomize(numbered, OTHER, id="id", link_key=LINK))) == 200  # 7 and "7" are one person
    key = sf.new_key()
    own = [sf.randomize(table(), scheme, key=key, id="id") for scheme in (SCHEME, OTHER)]
    assert len(own[0].join(own[1])) == 200


def test_a_key_of_the_answers_is_no_link_key() -> None:
    key = sf.new_key()
    with pytest.raises(SfumatoError, match="link_key must differ from key"):
        sf.randomize(table(), SCHEME, key=key, id="id", link_key=key)
    with pytest.raises(SfumatoError, match="link_key must be at least 16 random bytes"):
        sf.randomize(table(), SCHEME, id="id", link_key=b"short")
    with pytest.raises(SfumatoError, match="clear_ids and link_key exclude each other"):
        sf.randomize(table(), SCHEME, id="id", link_key=LINK, clear_ids=True)


def test_a_key_of_another_study_warns_as_a_link_key_too() -> None:
    """Pseudonyms under it are those of the other study."""
    bound = sf.new_key(study="health 2027")
    sf.randomize(table(), SCHEME, id="id", link_key=bound, study="health 2027")
    with pytest.warns(DisclosureWarning, match="another study"):
        sf.randomize(table(), SCHEME, id="id", link_key=bound)


def test_a_link_key_is_no_key_of_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other parties know it: with it they would recompute everybody's answers."""
    with pytest.raises(SfumatoError, match="key is a link key: the parties that share it could undo the answers"):
        sf.randomize(table(), SCHEME, key=sf.new_link_key(), id="id")
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("id,a\n1,0\n2,1\n")
    Path("s.json").write_text(SCHEME.to_json())
    call = "randomize t.csv {}.parquet --scheme s.json --id id"
    assert run(call.format("a") + " --key-file secret.key --link-key-file link.key").code == 0
    assert "is a link key, which other parties know" in run(call.format("b") + " --key-file link.key").error
    assert "is a key of answers, to be shown to nobody" in run(call.format("b") + " --link-key-file secret.key").error
    assert not Path("b.parquet").exists()


def test_the_fingerprint_and_the_pseudonyms_do_not_give_the_answers_key_away() -> None:
    """Pseudonyms under the owner's key and under it as a link key's secret differ from what answers are made of."""
    key = sf.new_key()
    one = sf.randomize(table(), SCHEME, key=key, id="id")
    two = sf.randomize(table(), SCHEME, key=key, id="id", link_key=LINK)
    assert one.parts[0].link != two.parts[0].link
    assert not set(one.arrow().column("id").to_pylist()) & set(two.arrow().column("id").to_pylist())
    count = pa.compute.sum  # the answers themselves are the same under either: only the key makes them
    assert count(one.arrow().column("a")) == count(two.arrow().column("a"))


def test_one_person_spelled_twice_is_found_out() -> None:
    composed, decomposed = "Ren\u00e9", "Rene\u0301"
    for ids in (["7", "7 "], ["7", "\t7"], ["7", "\u00a07"], [composed, decomposed]):
        with pytest.raises(SfumatoError, match="1 id occurs more than once"):
            sf.randomize({"id": ids, "a": [0, 1]}, SCHEME, id="id")
    for one, other in ((7, "7"), ("7", " 7 "), (composed, decomposed), (Decimal(7), 7)):
        left, right = (sf.randomize({"id": [i], "a": [0]}, SCHEME, id="id", link_key=LINK) for i in (one, other))
        assert left.arrow().column("id") == right.arrow().column("id")


@pytest.mark.parametrize(
    ("ids", "line"),
    [
        (pa.array(["7", " "]), "empty in 1 row;"),
        (pa.array([Decimal("7.5"), Decimal("7.0")]), "holds fractions"),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["7", None])), "holds 1 nulls"),
    ],
    ids=["empty", "decimal", "dictionary"],
)
def test_ids_that_tell_nobody_apart_are_refused(ids: pa.Array, line: str) -> None:
    with pytest.raises(SfumatoError, match=line):
        sf.randomize({"id": ids, "a": [0, 1]}, SCHEME, id="id")


def test_the_key_is_not_shown_with_what_was_asked() -> None:
    key = sf.new_key()
    assert repr(key)[20:40] not in repr(RandomizeRequest.of(SCHEME, key, "id"))


def test_an_id_column_cannot_take_the_name_of_a_released_one() -> None:
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1))})
    scheme = sf.Scheme(schema, {("a", "b"): c.matrix(np.full((4, 3), 1 / 3), sizes=(2, 2), outputs=(3,))})
    with pytest.raises(SfumatoError, match="'a\\+b' like the id column"):
        sf.randomize({"a": [0], "b": [1], "a+b": ["7"]}, scheme, id="a+b")


def test_a_key_that_others_may_read_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("id,a\n1,0\n2,1\n")
    (tmp_path / "s.json").write_text(SCHEME.to_json())
    line = f"randomize {tmp_path}/raw.csv {tmp_path}/out.parquet --scheme {tmp_path}/s.json --id id --overwrite"
    line += f" --key-file {tmp_path}/secret.key"
    assert "can be read by others" not in run(line).error  # made by the program itself
    (tmp_path / "secret.key").chmod(0o644)
    assert "can be read by others on this machine: chmod 600" in run(line).error


def test_the_key_of_a_release_that_is_there_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raw.csv").write_text("id,a\n1,0\n2,1\n")
    (tmp_path / "s.json").write_text(SCHEME.to_json())
    line = f"randomize {tmp_path}/raw.csv {tmp_path}/out.parquet --scheme {tmp_path}/s.json --id id"
    line += f" --key-file {tmp_path}/secret.key"

    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sf.Release, "load", stopped)  # just after the file took its place
        assert run(line).code == 130
    assert (tmp_path / "out.parquet").exists() and (tmp_path / "secret.key").exists()
    (tmp_path / "secret.key").unlink()
    assert run(line + " --overwrite --ledger missing").code == 1
    assert not (tmp_path / "secret.key").exists()  # nothing was released under it


def test_a_new_key_stays_once_the_ledger_has_booked_under_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raw.csv").write_text("id,sex\n1,F\n2,M\n")
    (tmp_path / "s.json").write_text(sf.Scheme.for_gamma(sf.Schema({"sex": sf.Categorical(("F", "M"))}), 3).to_json())
    line = f"randomize {tmp_path}/raw.csv {tmp_path}/r.parquet --scheme {tmp_path}/s.json --id id"
    line += f" --key-file {tmp_path}/secret.key --ledger {tmp_path}/l.sqlite"
    settle = Booking.settle

    def stopped(booking: Booking) -> None:
        settle(booking)
        raise ReleaseError("stopped on the way to its place")

    monkeypatch.setattr(Booking, "settle", stopped)
    assert "stopped" in run(line + " --new-ledger").error
    assert not (tmp_path / "r.parquet").exists() and (tmp_path / "secret.key").exists()
    monkeypatch.undo()
    assert run(line).code == 0  # the same answers again, which cost nothing
    assert sf.Ledger(tmp_path / "l.sqlite").spent() == {"sex": 3.0}


def test_an_id_column_without_a_name_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    """A CSV file was written and booked that did not load, and a release in memory had no ids."""
    given = {"" if name == "id" else name: values for name, values in table().items()}
    for act in (
        lambda: sf.randomize(given, SCHEME, id=""),
        lambda: sf.randomize_file(given, tmp_path / "r.csv", SCHEME, id=""),
    ):
        with pytest.raises(SfumatoError, match="no name"):
            act()
    assert not list(tmp_path.iterdir())
