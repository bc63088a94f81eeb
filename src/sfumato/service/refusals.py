"""What the service refuses, and with which HTTP status: the one list of error codes, which docs/http-api.md repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import SfumatoError

#: The HTTP status of each code.
STATUS = {
    "malformed": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "invitation_used": 403,
    "not_found": 404,
    "unknown_study": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "conflict": 409,
    "frozen": 409,
    "too_early": 409,
    "closed": 409,
    "too_few": 409,
    "wrong_fingerprint": 409,
    "deleted": 410,
    "too_large": 413,
    "wrong_type": 415,
    "outside_codes": 422,
    "refused": 422,
    "not_possible": 422,
    "too_many": 429,
    "internal": 500,
    "busy": 503,
}


#: The id of a study, as a pattern and in words.
ID = "^[a-z0-9][a-z0-9-]{1,62}[a-z0-9]$"
ID_IN_WORDS = (
    "a study's id has 3 to 64 small letters a to z, digits and hyphens, without spaces, and begins and ends with a "
    "letter or a digit, such as two-words"
)


class RefusalError(SfumatoError):
    """A request that is not granted. ``code`` is for programs, the message for people, and neither quotes an answer."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code, self.details = code, details

    @property
    def status(self) -> int:
        return STATUS[self.code]

    def document(self) -> dict[str, Any]:
        """The JSON that says it."""
        return {"error": {"code": self.code, "message": str(self), "details": self.details}}

    def __reduce__(self) -> Any:
        return _again, (self.code, str(self), self.details)


def busy() -> RefusalError:
    """A database that does not write, or a disk that is full: no fault of what was sent."""
    return RefusalError("busy", "the server cannot store this now: send the same again in a moment")


def malformed(errors: Sequence[Mapping[str, Any]], skip: int = 0) -> RefusalError:
    """What a body or a query lacks, from pydantic's list of errors; never what it holds."""
    first = errors[0] if errors else {}
    where = ".".join(str(part) for part in tuple(first.get("loc", ()))[skip:])[:200]
    if first.get("type") == "json_invalid":
        return RefusalError("malformed", "the body is not JSON", where="")
    if first.get("ctx", {}).get("pattern") == ID:
        return RefusalError("malformed", ID_IN_WORDS, where=where)
    said = str(first.get("msg", "is not what it should be")).split(", got")[0][:200]
    return RefusalError("malformed", f"{where or 'the request'}: {said}", where=where)


def _again(code: str, message: str, details: dict[str, Any]) -> RefusalError:
    return RefusalError(code, message, **details)
