"""What a question is, so that its answer under a key is the same wherever and whenever it is asked."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from sfumato.scheme import Scheme


@lru_cache(maxsize=1 << 10)
def question(scheme: Scheme, names: tuple[str, ...]) -> bytes:
    """What is asked, in 32 bytes: the attributes of a group in its order, their domains, and the channel.

    SHA-256 of the JSON {"attributes":[[name,domain],...],"channel":channel} with sorted keys and no spaces, in UTF-8.
    Of a domain only what its codes stand for, not its unit or how files spell it; and not the rest of the scheme:
    neither a new spelling nor one more attribute may give anybody a second, independent answer.
    """
    asked = {
        "attributes": [[name, scheme.schema[name].meaning()] for name in names],
        "channel": scheme[names].to_dict(),
    }
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()
