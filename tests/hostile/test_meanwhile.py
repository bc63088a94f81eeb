"""Two runs at a time, and files that come while a long run works: nobody's file, and nobody's key, is lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.hostile.guard import refused

import sfumato as sf
from sfumato import channels as c
from sfumato.cli import keyfile
from sfumato.errors import SfumatoError
from sfumato.service.client import Client
from sfumato.service.refusals import RefusalError
from sfumato.writing import whole_files

SCHEME = sf.Scheme(sf.Schema({"a": sf.Categorical(("1", "2"))}), {"a": c.binary(0.25, 0.25)})
THEIRS = b"somebody else's"


@pytest.mark.parametrize("came", ["out.parquet", "out.csv", "out.csv.json"])
@pytest.mark.parametrize("linked", [True, False])
def test_what_comes_to_the_target_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, came: str, linked: bool
) -> None:
    """It was replaced without a word, also by a file system that has no second names."""
    source, ledger = tmp_path / "raw.parquet", sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    pq.write_table(pa.table({"a": ["1", "2"] * 20}), source)
    if not linked:
        monkeypatch.setattr(Path, "hardlink_to", lambda *_: (_ for _ in ()).throw(PermissionError()))

    def run() -> None:
        put = lambda _: (tmp_path / came).write_bytes(THEIRS)  # noqa: E731
        sf.randomize_file(source, tmp_path / came.removesuffix(".json"), SCHEME, ledger=ledger, progress=put)

    assert "already exists" in refused(run)
    assert (tmp_path / came).read_bytes() == THEIRS and not ledger.entries()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["ledger.sqlite", came, "raw.parquet"])


def test_what_comes_at_the_last_moment_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.json"

    def run() -> None:
        with whole_files.replacing(path) as temporary:
            temporary.write_text("ours")
            path.write_bytes(THEIRS)

    assert "already exists" in refused(run)
    assert path.read_bytes() == THEIRS and list(tmp_path.iterdir()) == [path]


def test_two_runs_that_make_one_key_answer_under_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second replaced the key of the first, whose answers nobody could repeat any more."""
    path, theirs, make = tmp_path / "study.key", sf.new_key(), keyfile.new_key

    def slowly(study: str) -> bytes:
        path.write_bytes(theirs)
        return make(study)

    monkeypatch.setattr(keyfile, "new_key", slowly)
    with keyfile.keys(path, None, {}, "study") as (key, _):
        assert key == theirs == path.read_bytes()


def test_a_key_that_another_run_uses_is_not_taken_back(tmp_path: Path) -> None:
    path, used = tmp_path / "study.key", []

    def fails(also: bool) -> None:
        with keyfile.keys(path, None, {}, "study"):
            if also:
                with keyfile.keys(path, None, {}, "study") as (key, _):
                    used.append(key)
            raise SfumatoError("refused")

    refused(lambda: fails(also=False))
    assert not path.exists()
    refused(lambda: fails(also=True))
    assert path.read_bytes() == used[0]


def test_two_runs_do_not_begin_one_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each put its own secret into it, and a ledger with two is a damaged one."""
    path = tmp_path / "ledger.sqlite"
    sf.Ledger(path, new=True)
    monkeypatch.setattr(Path, "exists", lambda _: False)  # as the other run saw it
    assert "already exists" in refused(lambda: sf.Ledger(path, new=True))


def test_two_runs_that_save_tokens_in_one_file_lose_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second wrote over what the first had saved; the server keeps hashes only."""
    monkeypatch.setenv("SFUMATO_TOKEN", "sfa_1")
    line, seconds = f"study tokens commuting --new site --save {tmp_path / 'site.token'}", []

    def ask(self: Client, *_: object) -> dict[str, object]:
        if not seconds:
            seconds.append(None)
            seconds[0] = run(line)
        return {"tokens": [{"id": "1", "token": "sfs_first" if len(seconds) == 1 else "sfs_second"}]}

    monkeypatch.setattr(Client, "ask", ask)
    assert run(line).code == 0
    assert seconds[0].code == 1 and "is there already" in seconds[0].error
    assert (tmp_path / "site.token").read_text() == "sfs_first\n"


def test_tokens_that_were_not_made_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_TOKEN", "sfa_1")
    monkeypatch.setattr(Client, "ask", lambda *_: (_ for _ in ()).throw(RefusalError("forbidden", "not allowed")))
    assert run(f"study tokens commuting --new site --save {tmp_path / 'site.token'}").code == 1
    assert "does not exist" in run(f"study tokens commuting --new site --save {tmp_path / 'no' / 'a'}").error
    assert not list(tmp_path.iterdir())
