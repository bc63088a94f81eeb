"""What changed answers disclose, against what keyed releases show."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import sfumato as sf
from gallery import CHANNELS
from sfumato import channels as c
from sfumato.channels.longitudinal import Longitudinal
from sfumato.errors import ChannelError


def rounds(channel: sf.channels.Channel, values: list[np.ndarray]) -> list[np.ndarray]:
    schema = sf.Schema({"v": sf.Categorical(tuple(map(str, range(channel.k))))})
    scheme, key = sf.Scheme(schema, {"v": channel}), sf.new_key()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            np.array(
                sf.randomize(
                    {"id": list(range(len(codes))), "v": list(map(str, codes))}, scheme, key=key, id="id", order="keep"
                ).arrow()["v"]
            )
            for codes in values
        ]


@pytest.mark.parametrize("channel", [c.subset(8, 3), c.windows(8, 3), c.longitudinal(8, 3, 81, 2)], ids=str)
def test_the_formula_is_what_keyed_releases_show(channel: sf.channels.Channel) -> None:
    n, found = 8000, sf.privacy.changes(channel)
    before, after = np.full(n, 2), np.full(n, 5)
    first, same, other = rounds(channel, [before, before, after])
    wide = 5.5 * math.sqrt(0.25 / n)
    assert np.mean(first != same) == pytest.approx(found.without, abs=wide)
    assert found.least - wide < np.mean(first != other) < found.most + wide


def test_many_rounds_show_no_more_changes_than_ever() -> None:
    """With very many rounds the commonest answer before and after is the permanent one: a change shows as often as said."""
    channel = c.longitudinal(8, 3, 81, 2)
    before, after = np.full(600, 2), np.full(600, 5)
    told = rounds(channel, [before] * 45 + [after] * 45)
    first, later = (np.mean(np.array(told[part]) % 2, axis=0) > 0.5 for part in (slice(45), slice(45, 90)))
    assert np.mean(first != later) == pytest.approx(sf.privacy.changes(channel).ever, abs=5.5 * math.sqrt(0.25 / 600))


@pytest.mark.parametrize("name", [n for n, ch in CHANNELS.items() if ch.k <= 12 and ch.arity == 1])
def test_it_equals_the_brute_force_twin(name: str) -> None:
    channel = CHANNELS[name]
    if isinstance(channel, Longitudinal):
        return
    P, found = channel.matrix, sf.privacy.changes(channel)
    twin = [1 - P[x] @ P[other] for x in range(channel.k) for other in range(channel.k) if x != other]
    assert (found.least, found.most) == pytest.approx((min(twin), max(twin)), abs=1e-9)
    assert found.odds == math.inf


def test_very_many_values_and_groups() -> None:
    many = sf.privacy.changes(c.subset(9_000, 3))
    assert 0.99 < many.least <= many.most <= 1
    group = c.product([c.binary(0.2, 0.2), c.symmetric(3, gamma=4)])
    P = group.matrix
    twin = [1 - P[x] @ P[other] for x in range(6) for other in range(6) if x != other]
    found = sf.privacy.changes(group)
    assert (found.least, found.most) == pytest.approx((min(twin), max(twin)))
    assert sf.privacy.changes(c.identity(1)).most == 0


def test_a_single_value_beside_others_changes_nothing() -> None:
    alone, beside = c.symmetric(3, 0.3), c.product([c.identity(1), c.symmetric(3, 0.3)])
    assert sf.privacy.changes(beside) == sf.privacy.changes(alone)


def test_free_text_is_refused_in_one_line() -> None:
    with pytest.raises(ChannelError, match="free text has too many values"):
        sf.privacy.changes(c.prefixes(sf.Text(16), 50))
