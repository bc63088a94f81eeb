"""The channel for free text: its answers follow the public numbering, and its gamma is that of the channel inside."""

from __future__ import annotations

from math import e

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from sfumato import channels as c
from sfumato.channels.text_hash import TextHash, as_rows
from sfumato.channels.text_noise import rarest
from sfumato.errors import ChannelError, SchemeError


def small(nullable: bool = False) -> tuple[sf.Text, c.Channel]:
    domain = sf.Text(12, "abcdef", nullable)
    return domain, c.prefixes(domain, 20, cells=1 << 10)


def test_questions_grow_to_the_whole_text_and_the_last_judges() -> None:
    assert c.prefixes(sf.Text(16), e**4).lengths == (4, 7, 10, 13, 16, 16)
    assert c.prefixes(sf.Text(4, "0123456789"), 3).lengths == (4,)
    _, channel = small()
    assert channel.lengths == (7, 12, 12)
    assert channel.gamma <= 20
    assert channel.gamma == channel.channel.gamma


def test_answers_follow_the_numbering_of_the_question() -> None:
    domain, channel = small()
    texts = np.repeat(domain.encode(["abcdefabcdef"]), 60_000)
    level, said = channel.split(channel.randomize(texts, rng=1))
    shares = np.bincount(level, minlength=3)
    assert stats.chisquare(shares, np.array(channel.shares) * len(texts)).pvalue > 1e-6
    for place, numbering in enumerate(channel.hashes):
        number = int(numbering(as_rows(texts[:1]))[0])
        own = channel.channel.transition.entries(np.array([number]), np.arange(channel.channel.m))[0]
        other = np.roll(own, 17)
        seen = np.bincount(said[level == place], minlength=channel.channel.m)
        likely = own > own.mean()
        assert stats.binomtest(int(seen[likely].sum()), int(seen.sum()), float(own[likely].sum())).pvalue > 1e-6
        unlike = other > other.mean()
        assert stats.binomtest(int(seen[unlike].sum()), int(seen.sum()), float(other[unlike].sum())).pvalue < 1e-6


def test_short_texts_have_numbers_of_their_own() -> None:
    domain = sf.Text(3, "abc", nullable=True)
    channel = c.prefixes(domain, 5)
    every = [a + b + d for a in "abc" for b in ["", *"abc"] for d in (["", *"abc"] if b else [""])]
    numbers = channel.hashes[0](as_rows(domain.encode([*every, None])))
    assert len(set(numbers.tolist())) == len(every) + 1 == domain.size
    assert numbers.max() < channel.channel.k


def test_a_number_is_the_sum_of_its_letters() -> None:
    numbering = TextHash(5, 1000, level=2, seed=3)
    texts = np.array([[1, 2, 3, 0, 0, 9]], dtype=np.uint8)
    by_hand = sum(int(numbering.table[place, letter]) for place, letter in enumerate([1, 2, 3, 0, 0]))
    assert numbering(texts)[0] == by_hand % 1000
    assert numbering.shift(texts[:, 1:5], 1) + numbering.table[0, 1] == by_hand


def test_a_scheme_with_text_is_written_and_read() -> None:
    domain, channel = small(nullable=True)
    scheme = sf.Scheme(sf.Schema({"why": domain, "sex": sf.Categorical(("F", "M"))}), {"why": channel}, clear=["sex"])
    again = sf.Scheme.from_json(scheme.to_json())
    assert again == scheme
    assert again["why"].hashes == channel.hashes


def test_the_rarest_text_grows_rarer_with_more_records() -> None:
    _, channel = small()
    assert rarest(channel, 10) == 1.0
    assert rarest(channel, 10**6) == pytest.approx(10 * rarest(channel, 10**8))


def test_what_does_not_fit_is_refused() -> None:
    domain, channel = small()
    schema = sf.Schema({"why": domain})
    with pytest.raises(SchemeError, match="does not fit a text"):
        sf.Scheme(sf.Schema({"why": sf.Text(5)}), {"why": channel})
    with pytest.raises(SchemeError, match="treated by itself, by prefixes"):
        sf.Scheme(schema, {"why": c.symmetric(3, 0.2)})
    with pytest.raises(SchemeError, match="cannot pass in the clear"):
        sf.Scheme(schema, clear=["why"])
    with pytest.raises(SchemeError, match=r"give it one, prefixes\(domain, gamma\)"):
        sf.Scheme(schema)
    with pytest.raises(SchemeError, match="one attribute of free text"):
        sf.Scheme(sf.Schema({"a": sf.Categorical(("x", "y"))}), {"a": channel})
    with pytest.raises(ChannelError, match="too many values for a matrix"):
        _ = channel.matrix
    with pytest.raises(ChannelError, match="takes the domain"):
        c.prefixes(sf.Categorical(("x", "y")), 3)
    with pytest.raises(ChannelError, match=r"gamma must lie in"):
        c.prefixes(domain, 1)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"lengths": [7, 9, 12]}, "last question but one"),
        ({"lengths": [12, 7, 12]}, "must grow to 12"),
        ({"people": [1, 1]}, "one for each question"),
        ({"letters": 300}, "of 2 to 254 letters"),
        ({"lengths": "12"}, "lengths must be a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"lengths": [12], "people": [1]}, "so that all can be tried"),
    ],
)
def test_a_damaged_description_is_refused(changed: dict[str, object], why: str) -> None:
    _, channel = small()
    with pytest.raises((ChannelError, sf.SfumatoError), match=why):
        c.from_dict({**channel.to_dict(), **changed})
