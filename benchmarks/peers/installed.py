"""An environment for each peer, made once and kept: peers pin libraries that do not go together, nor with ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CALLS = Path(__file__).with_name("calls.py")

#: What is installed for each peer. Some libraries are held back, because the peer fails with newer ones.
PEERS: dict[str, tuple[str, ...]] = {
    "multi-freq-ldpy": ("multi-freq-ldpy==0.2.5", "xxhash<4"),
    "pure-ldp": ("pure-ldp==1.2.0", "xxhash<4", "scikit-learn", "statsmodels"),
    "ldp-toolbox": ("ldp-toolbox==0.1.3", "xxhash<4"),
    "qif": ("qif==1.6.0",),
    "opendp": ("opendp==0.16.0", "numpy"),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn<1.7"),
    "pram": ("pram==0.2.0", "pandas<2.1", "numpy<2"),
    "scikit-image": ("scikit-image==0.26.0",),
    "PyUnfold": ("PyUnfold==0.5.0", "numpy<1.24", "scipy<1.11", "pandas<2"),
    "efficient-apriori": ("efficient-apriori==2.0.6", "numpy"),
}


class PeerError(Exception):
    """A peer could not be installed, or stopped on a task; the message is its last line."""


@dataclass(frozen=True)
class Answer:
    """What a peer took and found. ``records`` may be fewer than asked for, where it is slow."""

    seconds: float
    records: int
    found: list[np.ndarray]


def home() -> Path:
    """Where the environments are kept: SFUMATO_PEERS, or a folder in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("SFUMATO_PEERS", cache / "sfumato" / "peers"))


def python_of(peer: str) -> Path:
    """The interpreter of the peer's environment, which is made if it is not there."""
    folder = home() / peer
    ready, python = folder / "ready.json", folder / "bin" / "python"
    wanted = list(PEERS[peer])
    if ready.exists() and json.loads(ready.read_text()) == wanted:
        return python
    venv.create(folder, with_pip=True, clear=True)
    _run([str(python), "-m", "pip", "install", "--quiet", *wanted], None)
    ready.write_text(json.dumps(wanted))
    return python


def versions() -> dict[str, str]:
    """The versions that are compared with."""
    return {peer: wanted[0].partition("==")[2] for peer, wanted in PEERS.items()}


def ask(peer: str, task: str, arrays: dict[str, np.ndarray], **options: Any) -> Answer:
    """Let the peer do a task of ``calls`` in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="sfumato-peer-") as folder:
        given, got = Path(folder) / "given.npz", Path(folder) / "got.npz"
        np.savez(given, **arrays)
        request = {"peer": peer, "task": task, "given": str(given), "got": str(got), "options": options}
        _run([str(python_of(peer)), str(CALLS)], json.dumps(request))
        with np.load(got) as found:
            results = [found[f"found{i}"] for i in range(len(found.files) - 2)]
            return Answer(float(found["seconds"]), int(found["records"]), results)


def _run(command: list[str], text: str | None) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise PeerError(lines[-1][:200] if lines else f"exit {done.returncode}")


if __name__ == "__main__":
    for name in sys.argv[1:] or PEERS:
        print(name, python_of(name))
