"""The words of keyed answers, against a program written from their description alone."""

from __future__ import annotations

import hashlib
import unicodedata

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from sfumato.errors import SfumatoError
from sfumato.randomness import SecureSource
from sfumato.secrets.keyed_answers import KeyedSource, code_bytes
from sfumato.secrets.keys import HEADER, answer_secret, link_secret, new_key
from sfumato.secrets.pseudonyms import Pseudonyms, hexadecimal, id_text

KEY = HEADER + bytes(range(32))


def cbc(key: bytes, message: bytes) -> bytes:
    """The last block, as a browser computes it."""
    cipher = Cipher(algorithms.AES256(key), modes.CBC(bytes(16))).encryptor()
    return (cipher.update(message) + cipher.finalize())[-16:]


def text(id: str) -> bytes:
    id = unicodedata.normalize("NFC", id.strip())
    raw = id.encode() + b"\1"
    if len(id.encode()) > 96:
        raw = hashlib.sha256(raw).hexdigest().encode() + b"\2"
    return raw + bytes(-len(raw) % 16)


def person(key: bytes, id: str) -> bytes:
    padded = text(id)
    return cbc(key, hashlib.sha256(b"person|%d" % (len(padded) // 16)).digest()[:16] + padded)


def word(id: str, question: bytes, value: bytes, draw: int) -> int:
    key = hashlib.sha256(b"sfumato keyed answers 2\n" + KEY[-32:]).digest()
    tail = value + bytes((12 - len(value)) % 16) + draw.to_bytes(4, "little")
    head = hashlib.sha256(b"answer|" + question + b"|%d" % (len(tail) // 16)).digest()[:16]
    return int.from_bytes(cbc(key, head + person(key, id) + tail)[:8], "little") >> 1


IDS = ["7", " z\t", "e\u0301", "x" * 15, "x" * 16, "ž" * 40, "y" * 96, "y" * 97, "long " * 90, "a\0", "a\0\0"]


@pytest.mark.parametrize("attributes", [1, 3, 12, 13, 16, 28, 29, 60])
def test_words_follow_their_description(attributes: int) -> None:
    import pyarrow as pa

    question = hashlib.sha256(b"some question").digest()
    source, rng = KeyedSource.of_answers(KEY), np.random.default_rng(attributes)
    columns = [rng.integers(0, 200, len(IDS)).astype(np.uint8) for _ in range(attributes)]
    words = source.words(question, source.people(id_text(pa.array(IDS))), columns)
    for draw in (0, 1, 300):
        expected = [word(id, question, bytes(int(c[i]) for c in columns), draw) for i, id in enumerate(IDS)]
        assert words(draw).tolist() == expected


def test_codes_and_numbers_take_the_bytes_that_are_described() -> None:
    import pyarrow as pa

    question, ids = b"q" * 32, id_text(pa.array(["7", "8"]))
    source = KeyedSource.of_answers(KEY)
    columns = [
        code_bytes(np.array([5, 6]), 300),
        code_bytes(np.array([70_000, 1]), 1 << 17),
        code_bytes(np.array([1, 0]), 256),
    ]
    found = source.words(question, source.people(ids), columns)(2).tolist()
    values = [b"\x05\x00" + (70_000).to_bytes(4, "little") + b"\1", b"\x06\x00" + (1).to_bytes(4, "little") + b"\0"]
    assert found == [word(id, question, value, 2) for id, value in zip("78", values, strict=True)]
    numbers = np.array([0.5, -1.25])
    found = source.words(question, source.people(ids), [numbers])(0).tolist()
    assert found == [word(id, question, x.tobytes(), 0) for id, x in zip("78", numbers, strict=True)]


def test_pseudonyms_follow_their_description() -> None:
    import pyarrow as pa

    secret = b"agreed on by two hospitals"
    key = hashlib.sha256(b"sfumato pseudonyms 2\n" + secret).digest()
    made = Pseudonyms.under(None, secret, SecureSource())
    assert hexadecimal(made.of(id_text(pa.array(IDS)))).to_pylist() == [person(key, id).hex() for id in IDS]
    assert hexadecimal(made.of(id_text(pa.array([], pa.string())))).to_pylist() == []


def test_keys() -> None:
    assert answer_secret(KEY) == bytes(range(32))
    assert answer_secret(bytearray(KEY)) == bytes(range(32))
    assert link_secret(KEY) == bytes(range(32))
    assert len({new_key() for _ in range(5)}) == 5
    for wrong, line in (
        (bytes(range(32)), "is a key of version 1"),
        (KEY[:-1], "not a whole key"),
        (b"sfumato key 3\n" + bytes(32), "not a whole key"),
        (b"short", "not a whole key"),
        ("text", r"key must be bytes \(make one with sfumato.new_key\(\)\)"),
    ):
        with pytest.raises(SfumatoError, match=line):
            answer_secret(wrong)
    with pytest.raises(SfumatoError, match=r"link_key must be bytes \(make one with sfumato.new_link_key\(\)\)"):
        link_secret("text")
