"""Names of columns that number persons or things, and numbers that may do so under any name."""

from __future__ import annotations

import re
from collections import Counter

_NAMED_ID = re.compile(
    r"(?:^|[_\W])(?:id|ids|nr|no|mrn|ssn|uuid|guid|key|number|nummer|zip|zipcode|postcode|plz|phone|tel|telephone|"
    r"mobile|email|mail|name|surname|firstname|lastname|iban|passport|record)$",
    re.IGNORECASE,
)
_NAMES_THINGS = re.compile(
    r"(?:.*[_\W])?(?:id|ids|idno|idnum|nr|mrn|ssn|uuid|guid|plz|zip|(?:zip|post|postal)[_\W]?code|code[_\W]?postal|"
    r"(?:u|p|hh)id|(?P<word>[a-z]{2,}id))",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(
    r"aid|raid|said|laid|mid|kid|lid|rid|did|skid|slid|(?:.*(?:high|low|max|min|last|first|top|net))?bid|"
    r".*(?:paid|medicaid|braid|oid|covid|humid|grid|hybrid|solid|valid|acid|fluid|liquid|rapid|lipid|rigid)",
    re.IGNORECASE,
)
MANY_IDS = 100  #: fewer numbers under the name of an id may be a list of places
_CODES = re.compile(r".*(?:[_\W](?:no|nr|num|number|key)|codes?|fips|naics|isco)", re.IGNORECASE)


def named_like_an_id(name: str) -> bool:
    """Whether the name of the column speaks of numbers or names of persons.

    >>> named_like_an_id("patient_id"), named_like_an_id("PatientNr"), named_like_an_id("humid")
    (True, True, False)
    """
    return _NAMED_ID.search(_spaced(name)) is not None


def names_things(name: str) -> bool:
    """Whether the name says that its numbers are those of persons or things, which may be in several rows.

    >>> [names_things(name) for name in ("schid", "place_id", "zip", "user_id_str", "amtpaid", "humid", "median")]
    [True, True, True, True, False, False, False]
    """
    found = _NAMES_THINGS.fullmatch(_spaced(name))
    return found is not None and not (found["word"] and _OTHER_WORDS.fullmatch(found["word"]))


def named_like_codes(name: str) -> bool:
    """Whether the name says that its numbers may be codes, as of trades or states.

    >>> named_like_codes("statefips"), named_like_codes("pay")
    (True, False)
    """
    return _CODES.fullmatch(_spaced(name)) is not None


def may_name_things(name: str, numbers: Counter[float]) -> str | None:
    """Why many whole numbers may be those of things: their name, or nearly all equally often. Neither is a proof.

    >>> may_name_things("firm", Counter({x: 6 for x in range(500)})), may_name_things("year", Counter(range(99)))
    ('its numbers are in 6 rows each', None)
    """
    if not all(isinstance(value, int) for value in numbers):
        return None
    if named_like_codes(name):
        return "its name speaks of numbers of things"
    times, held = Counter(numbers.values()).most_common(1)[0]
    return f"its numbers are in {times:,} rows each" if times > 1 and held >= 0.9 * len(numbers) else None


def _spaced(name: str) -> str:
    """PatientNr as Patient_Nr; user_id_str as user_id."""
    return re.sub(r"(?<=\w)_(?:str|txt)$", "", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name), flags=re.IGNORECASE)
