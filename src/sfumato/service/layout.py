"""The answers of one form as bytes: every released code in as few bytes as its column needs, and back again."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.released.writer import code_types
from sfumato.scheme import Scheme
from sfumato.service.noisy_numbers import reach
from sfumato.service.refusals import RefusalError

_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Layout:
    """How the released columns of one scheme stand in the bytes of a response, in the order of the scheme.

    >>> from sfumato import channels as c
    >>> from sfumato.schema import Categorical, Schema
    >>> layout = Layout(Scheme(Schema({"sex": Categorical(("F", "M"))}), {"sex": c.symmetric(2, 0.2)}))
    >>> layout.pack({"sex": 1}), layout.unpack([b"\\x01", b"\\x00"])["sex"].tolist()
    (b'\\x01', [1, 0])
    """

    def __init__(self, scheme: Scheme) -> None:
        self.scheme = scheme
        self.columns = scheme.columns
        kinds = {name: kind.to_pandas_dtype() for name, kind in code_types(scheme).items()}
        types = {name: np.dtype(kinds[name]).newbyteorder("<") for name in self.columns}
        self.dtype = np.dtype([(f"c{i}", types[name]) for i, name in enumerate(self.columns)])
        noisy = scheme.noises
        letters = ("d" if name in noisy else _LETTERS[types[name].itemsize] for name in self.columns)
        self._struct = struct.Struct("<" + "".join(letters))
        self._reach = {name: reach(scheme, name) for name in noisy}
        self._sizes = [None if name in noisy else scheme.output_sizes[name] for name in self.columns]

    def pack(self, answers: Mapping[str, Any]) -> bytes:
        """The bytes of these answers; refused unless there is a code in range for every column, and nothing else."""
        found = []
        for name, size in zip(self.columns, self._sizes, strict=True):
            code = answers.get(name)
            if size is None:
                low, high = self._reach[name]
                if type(code) not in (float, int) or not low <= code <= high:  # type: ignore[operator]
                    raise _outside(name, f"must be a number from {low:g} to {high:g}: no noise leads further")
            elif type(code) is not int or not 0 <= code < size:
                raise _outside(name, f"must be a code from 0 to {size - 1}")
            found.append(code)
        if len(answers) != len(found):
            raise RefusalError(
                "outside_codes", f"the answers hold columns that the scheme does not have: {self._have()}"
            )
        return self._struct.pack(*found)

    def _have(self) -> str:
        return f"it has {', '.join(self.columns[:20])}{' ...' * (len(self.columns) > 20)}"

    def unpack(self, rows: Iterable[bytes]) -> dict[str, NDArray[Any]]:
        """The columns of many responses."""
        found = np.frombuffer(b"".join(rows), dtype=self.dtype)
        return {name: np.ascontiguousarray(found[f"c{i}"]) for i, name in enumerate(self.columns)}

    def spelled(self, packed: bytes) -> str:
        """The codes as a receipt spells them."""
        values = self._struct.unpack(packed)
        sized = zip(values, self._sizes, strict=True)
        return ",".join(struct.pack("<d", value).hex() if size is None else str(value) for value, size in sized)


def _outside(column: str, rule: str) -> RefusalError:
    return RefusalError("outside_codes", f"answer {column!r} {rule}", column=column)
