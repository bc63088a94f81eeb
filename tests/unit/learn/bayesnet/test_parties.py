"""Who holds what: columns split, rows split and mixed, with and without a miner, attributes randomized jointly."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import EstimationError
from sfumato.learn import BayesianNetwork
from sfumato.learn.bayesnet.parties import cross_parents, cross_variables
from sfumato.learn.bayesnet.published_networks import gallery

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.UnrecoverableWarning")
NET = gallery("survey")
N = 3000
LINK = bytes(32)
ROWS = NET.sample(N, rng=1).append_column("id", pa.array(np.arange(N)))
CHANNELS = {"A": c.symmetric(3, 0.2), "S": c.symmetric(2, 0.1), "E": c.symmetric(2, 0.15), "T": c.ternary(0.1, 0.1)}
HELD = {"one": ("A", "S"), "two": ("E", "R"), "three": ("O", "T")}


def scheme(names: tuple[str, ...]) -> sf.Scheme:
    return rest_clear(NET.schema_.select(names), {name: CHANNELS[name] for name in names if name in CHANNELS})


def same(left: BayesianNetwork, right: BayesianNetwork) -> None:
    assert left.parents_.keys() == right.parents_.keys()
    for node in left.parents_:
        np.testing.assert_allclose(left.cpt(node).values, right.cpt(node).values, atol=1e-10)
        np.testing.assert_allclose(left.cpt(node).sd(), right.cpt(node).sd(), rtol=1e-7, atol=1e-12)


def pieces(seed: int, rows: pa.Table = ROWS) -> dict[str, sf.Release]:
    rng = np.random.default_rng(seed)
    return {party: sf.randomize(rows, scheme(names), id="id", link_key=LINK, rng=rng) for party, names in HELD.items()}


def joined(parts: dict[str, sf.Release]) -> sf.Release:
    first, *rest = parts.values()
    for other in rest:
        first = first.join(other)
    return first


def test_columns_of_several_parties_join_to_one_table() -> None:
    parts = pieces(2)
    together = joined(parts)
    columns = {name: together.arrow().column(name) for name in NET.schema_.names}
    whole = sf.Release(pa.table(columns), scheme(NET.schema_.names))
    same(
        BayesianNetwork(NET.parents_).fit(sf.evidence(together)), BayesianNetwork(NET.parents_).fit(sf.evidence(whole))
    )


def test_rows_of_several_parties_and_any_mix_add_up() -> None:
    parts = pieces(3)
    whole = joined(parts)
    halves = []
    for start, stop in ((0, 1200), (1200, N)):
        cut = {
            party: sf.Release(part.arrow().slice(start, stop - start), part.scheme, "id", part.parts[0].link)
            for party, part in parts.items()
        }
        halves.append(joined(cut))
    mixed = sf.Release.concat(halves)
    same(BayesianNetwork(NET.parents_).fit(sf.evidence(mixed)), BayesianNetwork(NET.parents_).fit(sf.evidence(whole)))


def test_rows_under_different_schemes_are_combined() -> None:
    raw = sf.Release.raw(ROWS, NET.schema_)
    noisy = sf.randomize(ROWS, scheme(NET.schema_.names), rng=4)
    net = BayesianNetwork(NET.parents_).fit(sf.evidence(sf.Release.concat([raw, noisy])))
    alone = BayesianNetwork(NET.parents_).fit(sf.evidence(noisy))
    assert (net.cpt("E").sd() < alone.cpt("E").sd()).all()
    counts = net.cpt("E").counts
    np.testing.assert_allclose(counts.sum(), 2 * N)


def test_without_a_miner_only_cross_parents_travel_and_the_answer_is_better() -> None:
    assert cross_variables(NET.parents_, HELD) == {"one": (), "two": ("E",), "three": ("O", "T")}
    sent = cross_parents(NET.parents_, HELD)
    assert sent == {("one", "two"): ("A", "S"), ("two", "three"): ("E", "R")}
    rng = np.random.default_rng(5)
    learned = []
    for party, names in HELD.items():
        seen = sf.Release.raw(ROWS, NET.schema_.select(names), id="id", link_key=LINK)
        for (sender, receiver), what in sent.items():
            if receiver == party:
                seen = seen.join(sf.randomize(ROWS, scheme(what), id="id", link_key=LINK, rng=rng))
                assert sender != party
        learned.append(BayesianNetwork(NET.parents_).fit(sf.evidence(seen), nodes=names))
    merged = BayesianNetwork.merge(learned)
    with_miner = BayesianNetwork(NET.parents_).fit(sf.evidence(joined(pieces(5))))
    raw = BayesianNetwork(NET.parents_).fit(sf.evidence(ROWS, NET.schema_))
    np.testing.assert_allclose(merged.cpt("A").values, raw.cpt("A").values)  # a local variable is learned exactly
    assert (merged.cpt("T").sd().mean(), merged.cpt("E").sd().mean()) < (
        with_miner.cpt("T").sd().mean(), with_miner.cpt("E").sd().mean()
    )  # fmt: skip
    assert merged.score(NET) < with_miner.score(NET)


@pytest.mark.parametrize("group", [("E", "R"), ("A", "S"), ("A", "S", "E"), ("E", "T"), ("A", "S", "E", "R", "O", "T")])
def test_attributes_randomized_jointly(group) -> None:
    """Cases b (parents together), c (a node with its parents) and d (a node with strangers) of section 5.3."""
    sizes = NET.schema_.sizes(group)
    joint = rest_clear(NET.schema_, {group: c.symmetric(sizes, 0.2)})
    release = sf.randomize(ROWS, joint, rng=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = sf.evidence(release)
        net = BayesianNetwork(NET.parents_).fit(seen)
        for node, held in NET.parents_.items():
            expected = seen.counts([*held, node])
            np.testing.assert_allclose(net.cpt(node).counts, expected.table, atol=1e-7)
            variance = net.cpt(node).moments(population=False)[2]
            np.testing.assert_allclose(np.maximum(variance, 0).reshape(-1), expected.variance, rtol=1e-7, atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = BayesianNetwork(order=list(NET.schema_.names)).fit(seen)
    assert set(found.parents_) == set(NET.schema_.names)


def test_parties_that_disagree_are_told() -> None:
    with pytest.raises(EstimationError, match="'E' is held by one and by two"):
        cross_parents(NET.parents_, {"one": ("A", "E"), "two": ("E",)})
    with pytest.raises(EstimationError, match="no party holds 'S'"):
        cross_variables(NET.parents_, {"one": ("A",)})
    with pytest.raises(EstimationError, match="which is not in the structure"):
        cross_variables(NET.parents_, {"one": ("Q",)})
    half = BayesianNetwork(NET.parents_).fit(sf.evidence(ROWS, NET.schema_), nodes=["A"])
    for ask in (
        lambda: half.query("A"), lambda: half.sample(3), lambda: half.plot(), lambda: half.to_bif(),
        lambda: half.score(NET), lambda: NET.score(half), lambda: half.predict(ROWS, "A"),
    ):  # fmt: skip
        with pytest.raises(EstimationError, match="holds no probabilities of 'S': merge it with the others'"):
            ask()
    with pytest.raises(EstimationError, match="two parties give the probabilities of 'A'"):
        BayesianNetwork.merge([half, half])
    with pytest.raises(EstimationError, match="no node 'Q'"):
        BayesianNetwork(NET.parents_).fit(sf.evidence(ROWS, NET.schema_), nodes=["Q"])
