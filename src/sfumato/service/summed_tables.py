"""The tables of many pushed files, added up. Each file's own stay packed.

A file of two rows has tables as large as one of a million: unpacked, many small files would fill the memory.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping

from sfumato.service.packed_tables import PackedTables
from sfumato.service.study import Study
from sfumato.service.tallies import Tally


class SummedTables:
    """The sum of a study's files; of those that changed since the last look, the difference is counted."""

    def __init__(self) -> None:
        self._files: dict[str, PackedTables] = {}
        self._sums: dict[int, Tally] = {}
        self._lock = threading.Lock()

    def of(self, study: Study, files: Mapping[str, PackedTables]) -> list[Tally]:
        """The tables of each form, which nobody changes any more. ``files`` are those of the study now, by a name."""
        with self._lock:
            gone = {name: one for name, one in self._files.items() if files.get(name) is not one}
            new = {name: one for name, one in files.items() if self._files.get(name) is not one}
            if gone or new:
                sums = {form: tally.copy() for form, tally in self._sums.items()}
                for sign, some in ((-1, gone), (1, new)):
                    for one in some.values():
                        one.add_to(sums, study, sign)
                self._files, self._sums = dict(files), sums
            return [tally for tally in self._sums.values() if tally.n]
