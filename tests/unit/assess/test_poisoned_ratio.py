"""How far false answers move means and shares of groups: the bound against every answer and every sender, tried one by one."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.assess.poisoned_ratio import poisoned_mean, poisoned_share
from sfumato.errors import SfumatoError

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 60, bins=3)})
SCHEME = sf.Scheme(SCHEMA, {"sex": sf.channels.symmetric(2, 0.2), "age": sf.channels.windows(3, gamma=9)})
SHARE = 0.02


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(3)
    table = {"sex": rng.choice(["F", "M"], 4000, p=[0.7, 0.3]), "age": rng.uniform(0, 60, 4000)}
    return sf.evidence(sf.randomize(table, SCHEME, rng=sf.experiment(4)))


def replaced(found, name, weights):
    """Σ weights · N̂ / n after all false answers were the same one, for every answer, and senders of every kind."""
    names = ["sex", "age"]
    P = np.kron(SCHEME["sex"].matrix, SCHEME["age"].matrix)
    A = np.kron(SCHEME["sex"].inverse.dense(), SCHEME["age"].inverse.dense())
    released = found.released_counts(names) / found.n
    out = []
    for y in range(P.shape[1]):
        for x in range(P.shape[0]):
            counts = released - SHARE * P[x] + SHARE * np.eye(P.shape[1])[y]
            out.append(weights @ (A @ counts))
    return np.array(out)


def test_the_mean_of_a_group_moves_as_far_as_the_worst_answer_of_the_worst_sender(found):
    bound = poisoned_mean(found, SHARE, "age", "sex")
    values = np.tile([10.0, 30.0, 50.0], 2)
    now = found.mean("age", by="sex", smooth=False).value
    for group in (0, 1):
        inside = np.repeat(np.eye(2)[group], 3)
        reached = replaced(found, "age", np.array([values * inside, inside])).T
        ratio = np.clip(reached[0] / reached[1], 0, 60)
        assert bound.up[group] == pytest.approx(ratio.max() - now[group], abs=1e-8)
        assert bound.down[group] == pytest.approx(ratio.min() - now[group], abs=1e-8)
    assert bound.labels == ("F", "M") and "F" in repr(bound) and "<table" in bound._repr_html_()


def test_the_share_of_a_value_in_a_group_is_bounded_in_the_same_way(found):
    down, up = poisoned_share(found, SHARE, {"age": 2}, {"sex": 1})
    inside = np.repeat([0.0, 1.0], 3)
    reached = replaced(found, "age", np.array([inside * np.tile([0.0, 0.0, 1.0], 2), inside])).T
    ratio = np.clip(reached[0] / reached[1], 0, 1)
    table = found.counts(["sex", "age"]).table[1]
    assert up == pytest.approx(ratio.max() - table[2] / table.sum(), abs=1e-8)
    assert down == pytest.approx(ratio.min() - table[2] / table.sum(), abs=1e-8)


def test_shares_of_everybody_have_the_bound_that_the_channel_alone_gives(found):
    known = sf.accuracy.poisoning(SCHEME, SHARE, "sex")
    for code in (0, 1):
        assert poisoned_share(found, SHARE, {"sex": code}) == pytest.approx(
            (known.down[code], known.up[code]), abs=1e-9
        )


def test_shares_of_pairs_have_it_too(found):
    known = sf.accuracy.poisoning(SCHEME, SHARE, ("sex", "age"))
    assert poisoned_share(found, SHARE, {"sex": 1, "age": 2}) == pytest.approx((known.down[5], known.up[5]), abs=1e-9)


def test_a_lie_that_passes_the_channel_moves_a_mean_by_no_more_than_its_share_of_the_range(found):
    bound = poisoned_mean(found, SHARE, "age")
    assert bound.up[0] > SHARE * 40  # what false answers do, who do not let the channel change them
    honest = found.mean("age", smooth=False).value[0]
    lied = (1 - SHARE) * honest + SHARE * 50
    assert lied - honest < bound.up[0]


def test_of_a_group_that_may_be_empty_nothing_is_held(found):
    down, up = poisoned_share(found, 0.6, {"age": 0}, {"sex": 1})
    table = found.counts(["sex", "age"]).table[1]
    now = table[0] / table.sum()
    assert (down, up) == pytest.approx((-now, 1 - now))


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_what_has_no_bound_is_said(found):
    with pytest.raises(SfumatoError, match="no order"):
        poisoned_mean(found, 0.01, "sex")
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=10)})
    noisy = sf.Scheme(schema, {"age": sf.channels.gaussian(5.0)})
    release = sf.randomize({"age": np.arange(50.0)}, noisy, rng=sf.experiment(1))
    with pytest.raises(SfumatoError, match="no bound holds"):
        poisoned_mean(sf.evidence(release), 0.01, "age")
    with pytest.raises(SfumatoError, match="share must lie"):
        poisoned_mean(found, 2, "age")
