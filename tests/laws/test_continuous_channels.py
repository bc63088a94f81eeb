"""What every channel with continuous output must obey: it is a channel like the others, and a matrix once it is cut."""

from __future__ import annotations

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from gallery import CONTINUOUS
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.errors import ChannelError
from sfumato.randomness import source, words

each = pytest.mark.parametrize("channel", CONTINUOUS.values(), ids=CONTINUOUS.keys())
X = np.array([0.0, 0.5, 1.2, 2.0])
Y = np.array([-math.inf, -0.2, 0.4, 1.0, 1.9, math.inf])
SCHEMA = sf.Schema({"age": sf.Numeric(0, 2, bins=4), "sex": sf.Categorical(("F", "M"))})


@each
def test_it_is_a_channel_without_a_bound(channel: Channel) -> None:
    assert isinstance(channel, Channel) and channel.continuous
    assert channel.gamma == channel.epsilon == channel.exact_gamma == math.inf
    assert (channel.arity, channel.columns(["age"]), channel.factors(["age"])) == (1, ["age"], [(("age",), channel)])
    assert channel.marginal([0]) is channel


@each
def test_json_round_trip_through_the_one_reader(channel: Channel) -> None:
    assert c.from_dict(json.loads(json.dumps(channel.to_dict()))) == channel
    assert all(channel != other for other in CONTINUOUS.values() if other is not channel)


@each
def test_cut_into_intervals_it_is_the_matrix_that_sampling_follows(channel: Channel) -> None:
    cut, n = channel.discretize(X, Y), 20_000
    assert not cut.continuous and cut.matrix.shape == (3, 5)
    for x in range(3):
        true = np.random.default_rng(x).uniform(X[x], X[x + 1], n)
        seen = np.histogram(channel.randomize(true, rng=100 + x), np.clip(Y, -1e9, 1e9))[0]
        due = {row: np.maximum(cut.matrix[row] * n, 1e-300) for row in range(3)}
        kept = due[x] > 5
        misfit = {row: ((seen - due[row])[kept] ** 2 / due[row][kept]).sum() for row in range(3)}
        assert stats.chi2.sf(misfit[x], kept.sum() - 1) > 1e-8
        assert stats.chi2.sf(misfit[(x + 1) % 3], kept.sum() - 1) < 1e-8  # the check can fail


@each
def test_given_words_give_the_answers_of_the_sampler(channel: Channel) -> None:
    true = np.linspace(0, 2, 50)
    drawn = channel.draw_columns([true], lambda i: words(source(4), len(true)))
    np.testing.assert_array_equal(drawn[0], channel.sample_columns([true], source(4))[0])
    np.testing.assert_array_equal(drawn[0], channel.randomize(true, rng=4))


@each
@pytest.mark.parametrize(
    "ask",
    [
        lambda channel: channel.matrix,
        lambda channel: channel.inverse,
        lambda channel: channel.k,
        lambda channel: c.product([channel, c.binary(0.2, 0.2)]),
        lambda channel: c.blocks([channel, c.binary(0.2, 0.2)]),
        lambda channel: sf.privacy.map_success(channel),
        lambda channel: sf.audit(channel),
    ],
)
def test_what_needs_a_matrix_says_how_to_get_one(channel: Channel, ask: object) -> None:
    with pytest.raises(ChannelError, match="discretize"):
        ask(channel)


@each
@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_a_scheme_treats_it_as_it_treats_the_others(channel: Channel) -> None:
    scheme = sf.Scheme(SCHEMA, {"age": channel, "sex": c.binary(0.2, 0.2)})
    assert [group.names for group in scheme.groups] == [("sex",), ("age",)]
    assert scheme["age"] == channel
    assert scheme.gamma == scheme.epsilon == math.inf
    assert sf.Scheme.from_json(scheme.to_json()) == scheme
    assert scheme.select(["age"]).columns == ("age",)
    assert "age" in repr(scheme) and "age" in scheme._repr_html_()


def test_nobody_outside_the_channels_and_the_densities_asks_for_the_class_of_noise() -> None:
    root = Path(sf.__file__).parent
    found = []
    for path in root.rglob("*.py"):
        place = path.relative_to(root).parts
        if place[0] in ("channels", "papers") or place[:2] in (("evidence", "density"), ("assess", "distribution.py")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            asks = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"
            if asks and "Noise" in {getattr(n, "id", "") for n in ast.walk(node)}:
                found.append(str(path))
    assert found == []
