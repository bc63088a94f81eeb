"""The devices of interviews as channels."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ChannelError


def test_the_crosswise_answer_follows_two_questions():
    rng = np.random.default_rng(4)
    sensitive, harmless = rng.random(200_000) < 0.3, rng.random(200_000) < 0.2
    exactly_one = sensitive != harmless
    P = c.crosswise(0.2).matrix
    assert exactly_one[sensitive].mean() == pytest.approx(P[1, 1], abs=0.01)
    assert exactly_one[~sensitive].mean() == pytest.approx(P[0, 1], abs=0.01)


def test_the_unrelated_question_is_answered_in_its_turn():
    rng = np.random.default_rng(5)
    sensitive, asked, harmless = (rng.random(200_000) < share for share in (0.3, 0.6, 0.8))
    yes = np.where(asked, sensitive, harmless)
    P = c.unrelated(0.6, 0.8).matrix
    assert yes[sensitive].mean() == pytest.approx(P[1, 1], abs=0.01)
    assert yes[~sensitive].mean() == pytest.approx(P[0, 1], abs=0.01)
    assert c.unrelated(0.6, 0.8).gamma == pytest.approx(max(0.92 / 0.32, 0.68 / 0.08))


def test_they_serve_in_a_scheme():
    schema = sf.Schema({"theft": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme(schema, {"theft": c.crosswise(0.25)})
    table = {"theft": ["no", "yes", "no", "no"] * 2000}
    found = sf.evidence(sf.randomize(table, scheme, rng=1)).counts("theft").population()
    assert abs(found.value[1] - 0.25) < 4 * found.sd[1]


@pytest.mark.parametrize("p", [0, 1, 0.5, -1, float("nan"), "a", None])
def test_a_harmless_question_must_tell_something(p):
    with pytest.raises(ChannelError, match="p must"):
        c.crosswise(p)


@pytest.mark.parametrize(("q", "p", "words"), [(0, 0.5, "q must"), (1.5, 0.5, "q must"), (0.5, 2, "p must")])
def test_probabilities_are_checked(q, p, words):
    with pytest.raises(ChannelError, match=words):
        c.unrelated(q, p)
