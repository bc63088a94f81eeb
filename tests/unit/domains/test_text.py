"""Free text: what fits is read and written back, what does not is told in one line that quotes nobody."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.domains import Tally
from sfumato.errors import OutsideDomainError, SchemaError


def test_texts_are_read_and_written_back() -> None:
    domain = sf.Text(6, "abcäß")
    assert domain.decode(domain.encode(["abc", " äßa ", "cccccc"])).to_pylist() == ["abc", "äßa", "cccccc"]
    assert domain.size == sum(5**length for length in range(1, 7))


def test_no_answer_needs_a_nullable_attribute() -> None:
    domain = sf.Text(4, nullable=True, missing=("none",))
    assert domain.decode(domain.encode(["ab", None, "", "NA", "none"])).to_pylist() == ["ab", None, None, None, None]
    with pytest.raises(SchemaError, match="4 rows are null"):
        sf.Text(4).encode([None, "", "NA", "null", "ab"])


@pytest.mark.parametrize(("value", "why"), [("secrets", "too long"), ("se-cr", "not in the alphabet")])
def test_text_beyond_its_length_or_alphabet_is_refused_without_a_quotation(value: str, why: str) -> None:
    with pytest.raises(OutsideDomainError, match=rf"column 'why': 2 rows hold a text .*{why}.*clip") as found:
        sf.Text(5).encode(["ab", value, value], "why")
    assert value not in str(found.value)


def test_clip_cuts_and_counts() -> None:
    domain, tally = sf.Text(4, "0123456789", clip=True), Tally()
    assert domain.decode(domain.encode(["12-345", "77"], "code", tally)).to_pylist() == ["1234", "77"]
    assert tally["code"] == 1
    with pytest.raises(SchemaError, match="1 row is null"):
        domain.encode(["--"])


def test_a_schema_with_text_is_written_and_read() -> None:
    schema = sf.Schema({"why": sf.Text(9, "abc", nullable=True, clip=True, missing=("?",))})
    again = sf.Schema.from_json(schema.to_json())
    assert again == schema
    assert again["why"].to_dict() == schema["why"].to_dict()
    assert "not listed" in schema._repr_html_()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"max_length": 0}, "max_length must lie in"),
        ({"max_length": "9"}, "max_length must be a whole number"),
        ({"max_length": 4, "alphabet": "aab"}, "each letter once"),
        ({"max_length": 4, "alphabet": "a"}, "2 to 254"),
        ({"max_length": 4, "alphabet": "ab "}, "blank"),
        ({"max_length": 4, "values": ["a"]}, "has no key 'values'"),
        ({}, "damaged"),
    ],
)
def test_a_bad_description_is_told_in_one_line(entry: dict[str, object], why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        sf.Schema.from_dict({"why": {"kind": "text", **entry}})
