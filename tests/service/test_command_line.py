"""The commands against a real server in a process of its own: from nothing to a study with a pushed file."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import sfumato as sf
from command_line import run
from service_client import SCHEME
from sfumato.service.client import Client


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    command = [sys.executable, "-m", "sfumato", "serve", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ})
    try:
        lines = [process.stderr.readline(), process.stderr.readline()]
        port = re.search(r"localhost:(\d+)", lines[1])[1]
        yield process, f"http://localhost:{port}"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_from_a_new_server_to_a_pushed_file(server, tmp_path, monkeypatch):
    process, to = server
    (tmp_path / "scheme.json").write_text(SCHEME.to_json())
    made = run(f"study create commuting --scheme scheme.json --minimum 2 --open --to {to}")
    assert made.code == 0 and "open" in made.out
    assert f"{to}/answer/commuting" in made.error
    token = json.loads(run(f"study tokens commuting --new site --name north --json --to {to}").out)["tokens"][0]
    assert "north" in run(f"study tokens commuting --to {to}").out
    (tmp_path / "site.token").write_text(token["token"])
    table = {"car": ["no", "yes"] * 50, "sex": ["F", "M"] * 50}
    for name in "ab":
        sf.randomize(table, SCHEME).save(tmp_path / f"{name}.parquet")
    pushed = run(f"push a.parquet --study commuting --token-file site.token --to {to}")
    assert pushed.code == 0 and "100 rows" in pushed.out
    again = json.loads(run(f"push a.parquet --study commuting --token-file site.token --json --to {to}").out)
    assert again["receipt"] in pushed.out and again["rows"] == 100
    cars = {"car": table["car"], "person": list(range(100))}
    some = sf.randomize(cars, SCHEME.select(["car"]), id="person", link_key=sf.new_link_key())
    some.save(tmp_path / "cars.parquet")
    waits = run(f"push cars.parquet --study commuting --token-file site.token --to {to}")
    assert waits.code == 0 and "do not count yet" in waits.out and "do not count yet" not in pushed.out
    mine = json.loads(run(f"study tokens commuting --new site --columns car --name cars --json --to {to}").out)
    assert re.search(r"columns\n.*\bcar\b", run(f"study tokens commuting --to {to}").out, re.DOTALL)
    assert "for new tokens" in run(f"study tokens commuting --columns car --to {to}").error
    (tmp_path / "cars.token").write_text(mine["tokens"][0]["token"])
    kept_out = run(f"push b.parquet --study commuting --token-file cars.token --to {to}")
    assert kept_out.code == 1 and "this token pushes car; the file holds car, sex" in kept_out.error
    # With a wrong token first: its refusal kept the right one out for a week.
    run(f"study tokens commuting --new site --columns sex --save sex.token --to {to}")
    more = sf.randomize(cars, SCHEME.select(["car"]), id="person", link_key=sf.new_link_key())
    more.save(tmp_path / "more.parquet")
    wrong = run(f"push more.parquet --study commuting --token-file sex.token --to {to}")
    assert wrong.code == 1 and "this token pushes sex; the file holds car" in wrong.error
    right = run(f"push more.parquet --study commuting --token-file cars.token --to {to}")
    assert right.code == 0 and "100 rows" in right.out, right.error
    theirs = run(f"push more.parquet --study commuting --token-file sex.token --to {to}")
    assert theirs.code == 1 and "this token pushes sex" in theirs.error
    link = run(f"study tokens commuting --new miner --to {to}").out
    assert re.search(rf"(sfm_\S+) {to}/results/commuting#token=\1", link)
    saved = run(f"study tokens commuting --new invitation --count 2 --save guests.token --json --to {to}")
    assert "sfi_" not in saved.out + saved.error and (tmp_path / "guests.token").read_text().count("sfi_") == 2
    assert (tmp_path / "guests.token").stat().st_mode & 0o777 == 0o600
    assert "is there already" in run(f"study tokens commuting --new site --save guests.token --to {to}").error
    refused = run(f"study close commuting --token-file site.token --to {to}")
    assert refused.code == 1 and "does not allow" in refused.error
    assert "closed" in run(f"study close commuting --to {to}").out
    assert "commuting" in run(f"study list --to {to}").out
    revoked = run(f"study tokens commuting --revoke {token['id']} --to {to}")
    assert revoked.code == 0
    second = subprocess.run([sys.executable, "-m", "sfumato", "serve", "--port", "0"], capture_output=True, text=True)
    assert second.returncode == 1 and "another server uses the folder" in second.stderr
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    said = process.stderr.read()
    assert "everything acknowledged is on the disk" in said
    assert token["token"] not in said and "127.0.0.1" not in said


@pytest.mark.parametrize("demo", ["", " --demo"])
def test_a_server_that_cannot_listen_says_so_in_a_line_and_writes_nothing(tmp_path, monkeypatch, demo):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = run(f"serve{demo} --port {port}")
    assert (refused.code, refused.out) == (1, "")
    said = f"error: port {port} of 127.0.0.1 is in use: give another with --port, 0 for any free one\n"
    assert refused.error == said
    for host in ("192.0.2.1", "no-such-host.invalid"):
        wrong = run(f"serve --host {host} --port 0")
        assert wrong.code == 1 and f"{host} is no address" in wrong.error
    assert run("serve --port 65536").code == 2
    assert not any(tmp_path.iterdir())


def test_a_demonstration_shows_a_study_in_which_people_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "sfumato", "serve", "--demo", "--port", "0"]
    places = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=places)
    try:
        said = [process.stderr.readline() for _ in range(4)]
        to, miner = re.search(r"(http://localhost:\d+)/results/census#token=(\S+)", said[0]).groups()
        assert f"{to}/answer/census" in said[1] and f"{to}/#token=" in said[3]
        client = Client(to, miner)
        first = client.ask("GET", "/v1/studies/census/progress")["responses"]
        assert first >= 5000
        found = client.ask("GET", "/v1/studies/census/estimates?names=income")["cells"]
        assert found[0]["low"] < 0.761 < found[0]["high"]  # the truth of the census
        for _ in range(100):
            if client.ask("GET", "/v1/studies/census/progress")["responses"] > first:
                break
            time.sleep(0.1)
        else:
            pytest.fail("nobody answers")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0 and "nothing was kept" in process.stderr.read()
        assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
    kept = run("serve here --demo")
    assert kept.code == 1 and "leave out the folder" in kept.error


def test_a_command_without_a_server_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_TOKEN", "sfa_x")
    monkeypatch.setattr("sfumato.service.client.PAUSE", 0.0)
    found = run("study list --to http://localhost:9")
    assert found.code == 1 and "does not answer" in found.error
    monkeypatch.delenv("SFUMATO_TOKEN")
    assert "needs a token" in run("study list").error
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    monkeypatch.setenv("SFUMATO_TOKEN", "sfs_x")
    assert "as Parquet" in run("push a.csv --study commuting").error
    assert "https only" in run("push a.csv --study commuting --to http://example.org").error
    assert "no such file" in run("push missing.parquet --study commuting").error
