"""A file that one process at a time holds, whatever becomes of that process."""

from __future__ import annotations

import os
from pathlib import Path


class LockedFile:
    """``ours`` says whether no other process holds it; it is let go by ``close``, or when the process ends."""

    def __init__(self, path: Path) -> None:
        self._number: int | None = None
        self.ours = True
        try:
            import fcntl
        except ImportError:  # not on this system: whoever starts two takes care
            return
        self._number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.ours = os.path.samestat(os.fstat(self._number), path.stat())  # not one that was deleted meanwhile
        except OSError:
            self.ours = False
        if not self.ours:
            self.close()

    def close(self) -> None:
        if self._number is not None:
            os.close(self._number)
            self._number = None
