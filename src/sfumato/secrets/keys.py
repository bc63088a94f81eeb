"""Secret keys: what one looks like, and how an old one is told from one of today.

A key is the line ``sfumato key 2`` and 32 random bytes. Keys of version 1 were the 32 bytes alone. Their answers did
not depend on the true value: when a value changed, the change showed both values. So they are refused.

A key may be bound to a study: a line ``study`` follows, with the SHA-256 of the study's name in hexadecimal. Under one
key the same people have the same pseudonyms and, to the same questions, the same answers: two studies could be laid
side by side. So a key that is bound warns when it is used for another study.

A link key, which parties share so that their releases can be joined, begins with ``sfumato link key 2`` instead. So it
is never taken for a key of answers, which the other parties could undo. Any 16 bytes or more that the parties agree on
will do, too.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

from sfumato.errors import DisclosureWarning, SfumatoError, warn

HEADER = b"sfumato key 2\n"
LINK_HEADER = b"sfumato link key 2\n"
SECRET = 32
LEAST = 16
LONGEST = len(LINK_HEADER) + SECRET + 72  # bytes of a key with its study
_STUDY = re.compile(rb"\nstudy ([0-9a-f]{64})\n")

OLD = (
    "is a key of version 1, whose answers gave both values away when a value changed; "
    "make a new key, and count what is released under it as fresh answers"
)


def new_key(study: Any = None) -> bytes:
    """A fresh secret key; the owner keeps it, nobody else ever needs it.

    ``study`` binds it to one: a name, or the scheme (or forms) that is used in all of it.

    >>> len(new_key()), new_key()[:14]
    (46, b'sfumato key 2\\n')
    """
    tail = b"" if study is None else b"\nstudy %s\n" % _digest(study)
    return HEADER + os.urandom(SECRET) + tail


def check_study(key: bytes, study: Any, stacklevel: int = 3) -> None:
    """Warn where a key is bound to another study than this one, whatever it is used for."""
    raw = _raw(key, "key")
    bound = _STUDY.fullmatch(raw[len(HEADER) + SECRET :]) if raw.startswith(HEADER) else None
    if bound is not None and bound[1] != _digest(study):
        warn(
            "the key was made for another study (another scheme, or another name): under one key people are recognised "
            "in both by their pseudonyms, and by their answers to questions that are the same; make a key for this "
            "study, or name the study that both belong to",
            DisclosureWarning,
            stacklevel=stacklevel,
        )


def is_key(raw: bytes) -> bool:
    """Whether these bytes are a whole key of this version, bound to a study or not."""
    if raw.startswith(LINK_HEADER):
        return len(raw) == len(LINK_HEADER) + SECRET
    tail = raw[len(HEADER) + SECRET :]
    whole = raw.startswith(HEADER) and len(raw) >= len(HEADER) + SECRET
    return whole and (not tail or _STUDY.fullmatch(tail) is not None)


def _digest(study: Any) -> bytes:
    text = getattr(study, "fingerprint", study)
    if not isinstance(text, str) or not text.strip():
        raise SfumatoError(f"study must be a name, or a scheme, got {type(study).__name__} instead")
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest().encode()


def new_link_key() -> bytes:
    """A fresh key of pseudonyms, for the parties that are to join their releases and nobody else.

    >>> new_link_key()[:19]
    b'sfumato link key 2\\n'
    """
    return LINK_HEADER + os.urandom(SECRET)


def answer_secret(key: bytes) -> bytes:
    """The secret inside an owner's key; what is no key, or an old one, is refused."""
    raw = _raw(key, "key")
    if raw.startswith(HEADER) and is_key(raw):
        return raw[len(HEADER) : len(HEADER) + SECRET]
    if raw.startswith(LINK_HEADER):
        raise SfumatoError(
            "key is a link key: the parties that share it could undo the answers; make a key of your own"
        )
    if len(raw) < LEAST or raw.startswith(b"sfumato key "):
        raise SfumatoError("key is not a whole key: make one with sfumato.new_key()")
    raise SfumatoError(f"key {OLD} (with sfumato.new_key())")


def link_secret(link_key: bytes) -> bytes:
    """The secret inside a link key."""
    raw = _raw(link_key, "link_key")
    if raw.startswith(HEADER) and is_key(raw):
        return answer_secret(raw)
    secret = raw.removeprefix(LINK_HEADER).removeprefix(HEADER)
    if len(secret) < LEAST:
        raise SfumatoError(
            f"link_key must be at least {LEAST} random bytes (make one with sfumato.new_link_key()), got fewer"
        )
    return secret


def subkey(secret: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for one purpose: SHA-256 of the purpose, a line feed and the secret."""
    return hashlib.sha256(purpose.encode() + b"\n" + secret).digest()


def _raw(key: bytes, name: str) -> bytes:
    if not isinstance(key, bytes | bytearray):
        made = f"make one with sfumato.new_{name}()"
        raise SfumatoError(f"{name} must be bytes ({made}), got {type(key).__name__} instead")
    return bytes(key)
