"""How far false answers move an estimate: the bound against every answer tried, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gallery import CHANNELS

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import DisclosureWarning, SfumatoError

SMALL = {name: channel for name, channel in CHANNELS.items() if channel.k * channel.m <= 4096}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_the_bound_is_what_the_worst_single_answer_does(name):
    channel, share = SMALL[name], 0.05
    bound = sf.accuracy.poisoning(channel, share)
    A, P = channel.inverse.dense(), channel.matrix
    possible = P.sum(axis=1) > 0
    rng = np.random.default_rng(5)
    theta = possible * rng.dirichlet(np.ones(channel.k))
    honest = A @ (theta @ P / theta.sum())
    reach = np.array([(1 - share) * honest + share * A[:, y] - honest for y in range(channel.m)])
    known = sf.accuracy.poisoning(channel, share, shares=theta / theta.sum())
    assert known.up == pytest.approx(reach.max(axis=0), abs=1e-9)
    assert known.down == pytest.approx(reach.min(axis=0), abs=1e-9)
    assert (bound.up >= reach.max(axis=0) - 1e-9).all() and (bound.down <= reach.min(axis=0) + 1e-9).all()


def test_senders_who_all_hold_one_value_reach_the_bound_and_nobody_passes_it():
    channel, share = c.symmetric(4, gamma=3), 0.1
    bound = sf.accuracy.poisoning(channel, share)
    A = channel.inverse.dense()
    assert bound.up == pytest.approx(share * A.max(axis=1))  # senders who do not hold the value
    assert bound.down == pytest.approx(share * (A.min(axis=1) - 1))  # senders who all do
    assert bound.worst == pytest.approx(0.25) and bound.factor == pytest.approx(2.5)


def scheme() -> sf.Scheme:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "vote": sf.Categorical(("a", "b", "c"))})
    return sf.Scheme.for_gamma(schema, gamma=3)


def test_pairs_of_attributes_are_bounded_together():
    both = sf.accuracy.poisoning(scheme(), 0.01, ("vote", "sex"))
    A = np.kron(scheme()["vote"].inverse.dense(), scheme()["sex"].inverse.dense())
    assert both.up == pytest.approx(0.01 * A.max(axis=1)) and both.labels[1] == "a, M"
    assert "a, M" in repr(both) and "<table" in both._repr_html_()


def test_an_estimate_is_bounded_by_what_it_was_made_from():
    rng = np.random.default_rng(1)
    table = {"sex": rng.choice(["F", "M"], 300), "vote": rng.choice(["a", "b", "c"], 300)}
    found = sf.evidence(sf.randomize(table, scheme(), rng=2)).counts(["vote", "sex"])
    assert sf.accuracy.poisoning(found, 0.01).up == pytest.approx(
        sf.accuracy.poisoning(scheme(), 0.01, ("vote", "sex")).up
    )


def test_an_impossible_combination_cannot_be_moved():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": sf.Categorical(("yes", "no"))})
    valid = c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.3)
    names = ("sex", "pregnant")
    bound = sf.accuracy.poisoning(sf.Scheme(schema, {names: valid}), 0.1, names)
    assert bound.labels[2] == "M, yes" and bound.up[2] == bound.down[2] == 0
    assert (bound.up[[0, 1, 3]] > 0.1).all()


@pytest.mark.parametrize("share", [0, 1, -0.1, 5, "a", None, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(SfumatoError, match="share must lie between 0 and 1"):
        sf.accuracy.poisoning(c.symmetric(3, 0.3), share)


def test_what_cannot_be_told_is_refused_in_words():
    with pytest.raises(SfumatoError, match="name an attribute"):
        sf.accuracy.poisoning(scheme(), 0.01)
    with pytest.raises(SfumatoError, match="weight"):
        sf.accuracy.poisoning(scheme(), 0.01, "weight")
    with pytest.warns(DisclosureWarning):
        noisy = sf.Scheme(sf.Schema({"age": sf.Numeric(0, 100)}), {"age": c.gaussian(5.0)})
    with pytest.raises(SfumatoError, match="additive noise"):
        sf.accuracy.poisoning(noisy, 0.01, "age")


def test_in_several_schemes_false_answers_stand_where_they_move_most():
    schema = sf.Schema({"vote": sf.Categorical(("a", "b", "c"))})
    rng, parts = np.random.default_rng(4), []
    for gamma, n in ((20.0, 300), (2.0, 900)):
        table = {"vote": rng.choice(["a", "b", "c"], n)}
        parts.append(sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=gamma), rng=1))
    release, share = sf.Release.concat(parts), 0.4
    counts = sf.evidence(release, method="moment").counts("vote")
    shares = counts.population()
    for found in (counts, shares):
        bound = sf.accuracy.poisoning(found, share)
        unit = 1.0 if found is shares else 1200.0
        before, moved = found.unbiased, []
        for order in ((0, 1), (1, 0)):  # the false answers fill one part first, and all raise the first value
            left, after = round(share * 1200), np.zeros(3)
            weights = shares.pooled.weights if found is shares else np.array([300.0, 900.0]) / 1200
            for i in order:
                piece, size = counts.seen[i], len(parts[i])
                lies = min(left, size)
                left -= lies
                best = piece.rows()[0].max()
                after[0] += unit * weights[i] * best * lies / size
            moved.append(after[0])
        assert bound.up[0] * unit == pytest.approx(max(moved)), before
