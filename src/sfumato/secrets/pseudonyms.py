r"""Pseudonyms: what a release carries instead of its ids.

A pseudonym is 128 bits, as 32 hexadecimal digits: in the words of ``sfumato.secrets.keyed_answers``,

    pseudonym = CBC(k, h || t),   k = SHA-256("sfumato pseudonyms 2\n" || secret)

Without the key it tells nothing about the id; under one key the same id always has the same pseudonym, so parties that
share a link key can join their releases. The fingerprint names the key without giving it away: releases made under
different keys are not joined by mistake.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Bytes
from sfumato.errors import SchemaError, SchemeError
from sfumato.randomness import SecureSource, Source
from sfumato.secrets.keyed_answers import BLOCK, Chain
from sfumato.secrets.keys import answer_secret, link_secret, subkey

if TYPE_CHECKING:
    import pyarrow as pa

_LONG_ID = 96  # bytes: longer ids are replaced by their digest, so that one of them does not widen all


class Pseudonyms:
    """The pseudonyms under one key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.fingerprint = hmac.digest(key, b"fingerprint", "sha256")[:8].hex()
        self._chain = Chain(key)

    @classmethod
    def under(cls, key: bytes | None, link_key: bytes | None, src: Source | None = None) -> Pseudonyms:
        """Those of the link key; without one, of the owner's own key; without either, of a key that nobody keeps."""
        if link_key is not None:
            secret = link_secret(link_key)
            if key is not None and secret == answer_secret(key):
                raise SchemeError("link_key must differ from key: whoever knows the key can undo the answers")
        elif key is not None:
            secret = answer_secret(key)
        else:
            once = np.empty(32, dtype=np.uint8)
            (src or SecureSource()).fill(once)
            secret = once.tobytes()
        return cls(subkey(secret, "sfumato pseudonyms 2"))

    def __reduce__(self) -> tuple[Any, ...]:  # to a Spark worker
        return Pseudonyms, (self._key,)

    def of(self, ids: NDArray[np.bytes_]) -> Bytes:
        """16 bytes for each id (as ``id_text`` gives them)."""
        return self._chain.texts("person", ids)


def hexadecimal(pseudonyms: Bytes) -> pa.Array:
    """The pseudonyms as text."""
    import pyarrow as pa

    n = len(pseudonyms)
    digits = _DIGITS[pseudonyms].view(np.uint8)
    ends = np.arange(0, 2 * BLOCK * n + 1, 2 * BLOCK, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(ends), pa.py_buffer(digits)])


_DIGITS = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype=np.uint16)


def id_text(ids: Any) -> NDArray[np.bytes_]:
    """Ids as text in bytes, so that 7 in a Parquet file and "7 " in a CSV file are the same record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = decoded(ids)
    if ids.null_count:
        raise SchemaError(f"the id column holds {ids.null_count} nulls; every record needs an id")
    if pa.types.is_floating(ids.type) or (pa.types.is_decimal(ids.type) and ids.type.scale > 0):
        raise SchemaError(f"the id column holds {_no_ids(ids)}; use whole numbers or text")
    try:
        text = ids.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(f"the id column of type {ids.type} cannot be read as text") from None
    if not len(text):
        return np.zeros(0, dtype="S1")
    if not pa.types.is_integer(ids.type):
        text = _one_spelling(text)
    long = None if pa.types.is_integer(ids.type) else pc.greater(pc.binary_length(text), _LONG_ID)
    # The last byte tells an id from its digest, and keeps ids apart that differ only in trailing zero bytes.
    text = pc.binary_join_element_wise(text, pa.scalar("\1"), pa.scalar(""))
    if long is not None and pc.any(long).as_py():
        digests = [hashlib.sha256(value.encode()).hexdigest() + "\2" for value in text.filter(long).to_pylist()]
        text = pc.replace_with_mask(text, long, pa.array(digests))
    widest = int(pc.max(pc.binary_length(text)).as_py())
    padded = pc.ascii_rpad(text, width=widest, padding="\0")  # by bytes: all ids end up equally long
    data = np.frombuffer(padded.buffers()[2], dtype=np.uint8)
    start = np.frombuffer(padded.buffers()[1], dtype=np.int32)[padded.offset]
    return data[start : start + len(padded) * widest].view(f"S{widest}")


def _one_spelling(text: pa.Array) -> pa.Array:
    """Without white space around it, and accents written in one way: a record told twice must be found out."""
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(text)
    if not pc.all(pc.string_is_ascii(text)).as_py():
        text = pc.utf8_normalize(text, "NFC")
    empty = int(pc.sum(pc.equal(pc.binary_length(text), 0)).as_py())
    if empty:
        raise SchemaError(f"the id column is empty in {empty} row{'s' * (empty > 1)}; every record needs an id")
    return text


def _no_ids(ids: pa.Array) -> str:
    """What is wrong with numbers that may have a fraction."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = ids.cast(pa.float64(), safe=False)
    whole = pc.all(pc.equal(numbers, pc.floor(numbers))).as_py()
    return "doubles, which do not keep numbers of 16 digits apart" if whole else "fractions"


def decoded(column: Any) -> Any:
    """The column without a dictionary, which would list values of other rows too."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
