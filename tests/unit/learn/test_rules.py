"""Association rules: exact on clean data, unbiased under every channel, the paper's way as twin, refusals."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from inclusion_exclusion import support_by_inversion, table_from_supports
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError, NegativeCountsWarning, SchemaError, UnrecoverableWarning
from sfumato.learn.rules import AssociationRules, read_baskets
from sfumato.learn.rules.apriori import candidates
from sfumato.learn.rules.items import one_hot, one_hot_table, universe
from sfumato.learn.rules.limits import Nested, quantile, widened
from sfumato.learn.rules.sizes import overlap_and_size, overlap_weights
from sfumato.learn.rules.supports import RecordedSupports

c = sf.channels
ITEMS = ("a", "b", "c", "d", "e")


def baskets(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    base = rng.random(n) < 0.5
    columns = {i: np.where(rng.random(n) < 0.7, base, rng.random(n) < 0.4).astype(int) for i in ITEMS}
    schema = sf.Schema({i: sf.Categorical(("absent", "present")) for i in ITEMS})
    return schema.decode(columns), schema, columns


def brute(columns, least):
    out = {}
    for size in range(1, len(columns) + 1):
        for items in combinations(columns, size):
            support = float(np.mean(np.all([columns[i] == 1 for i in items], axis=0)))
            if support >= least:
                out[frozenset(items)] = support
    return out


def test_clean_baskets_give_all_frequent_sets():
    table, schema, columns = baskets()
    found = AssociationRules(min_support=0.2).fit(sf.evidence(table, schema))
    true = brute(columns, 0.2)
    assert {frozenset(one.items): pytest.approx(one.support) for one in found.itemsets_} == true
    assert all(one.sd == 0 and one.low == one.high == one.support for one in found.itemsets_)


def test_item_sets_and_rules_equal_mlxtend():
    import pandas as pd
    from mlxtend.frequent_patterns import apriori, association_rules

    schema, rows = dd.WISCONSIN, dd.wisconsin()
    codes = schema.encode(rows)
    frame = pd.DataFrame({f"{n}={label}": codes[n] == k for n in schema for k, label in enumerate(schema[n].labels)})
    theirs = apriori(frame, min_support=0.3, use_colnames=True)
    ours = AssociationRules(min_support=0.3, min_confidence=0.8015).fit(sf.evidence(rows, schema))
    assert {frozenset(one.items): round(one.support, 12) for one in ours.itemsets_} == {
        frozenset(items): round(s, 12) for items, s in zip(theirs["itemsets"], theirs["support"], strict=True)
    }
    made = association_rules(theirs, num_itemsets=len(frame), metric="confidence", min_threshold=0.8015)
    want = {
        (frozenset(r.antecedents), frozenset(r.consequents)): (round(r.confidence, 9), round(r.lift, 9))
        for r in made.itertuples()
    }
    got = {
        (frozenset(r.antecedent), frozenset(r.consequent)): (round(r.confidence, 9), round(r.lift, 9))
        for r in ours.rules_
    }
    assert got == want


def schemes(schema):
    return {
        "mask": sf.Scheme(schema, {ITEMS: c.mask(0.2)}),
        "groups": rest_clear(schema, {("a", "c", "e"): c.symmetric((2, 2, 2), 0.3), "b": c.binary(0.1, 0.2)}),
        "select a size": sf.Scheme(schema, {ITEMS: c.select_a_size([0.1, 0.1, 0.2, 0.2, 0.2, 0.2], 0.15)}),
        "general": rest_clear(schema, {("a", "b"): c.matrix(np.full((4, 4), 0.1) + 0.6 * np.eye(4), sizes=(2, 2))}),
    }


@pytest.mark.parametrize("name", ["mask", "groups", "select a size", "general"])
def test_supports_agree_with_the_moment_estimate_of_the_table(name):
    """The closed form is the last cell of P⁻ᵀ Ñ, with its variance, whatever the channel."""
    table, schema, _ = baskets()
    release = sf.randomize(table, schemes(schema)[name], rng=1)
    supports = RecordedSupports(sf.evidence(release), universe(schema, "presence", None))
    by_name = {item.attribute: item for item in supports.universe.items}
    evidence = sf.evidence(release)
    for items in [("a",), ("a", "c"), ("a", "b", "e"), ("b", "c", "d"), ITEMS]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NegativeCountsWarning)
            found = evidence.counts(list(items))
        value, variance = supports.estimate([by_name[i] for i in items])
        assert value == pytest.approx(found.unbiased[-1] / 3000, abs=1e-9)
        if name in ("mask", "groups"):
            assert variance == pytest.approx(found.variance[-1] / 3000**2, rel=1e-6)


def test_closed_form_equals_inclusion_and_exclusion():
    """Proposition 7.4 and its inverse, against the product of linear weights."""
    table, schema, _ = baskets()
    release = sf.randomize(table, schemes(schema)["groups"], rng=2)
    columns = {i: release.arrow().column(i).to_numpy() for i in ITEMS}
    chosen = ("a", "c", "b")
    sup = {
        frozenset(s): float(np.all([columns[i] == 1 for i in s], axis=0).sum()) if s else 3000.0
        for size in range(4)
        for s in combinations(chosen, size)
    }
    scheme = release.scheme
    matrices = [scheme[("a", "c")].matrix, scheme["b"].matrix]
    twin = support_by_inversion(table_from_supports(sup, chosen), matrices) / 3000
    supports = RecordedSupports(sf.evidence(release), universe(schema, "presence", None))
    by_name = {item.attribute: item for item in supports.universe.items}
    assert supports.estimate([by_name[i] for i in chosen])[0] == pytest.approx(twin, abs=1e-12)
    wrong = support_by_inversion(table_from_supports(sup, chosen), [np.eye(4), scheme["b"].matrix]) / 3000
    assert abs(wrong - twin) > 1e-3  # negative control


def test_exclusive_items_halve_the_error():
    rows, schema = dd.wisconsin(), dd.WISCONSIN.select(["clump_thickness", "bare_nuclei", "class"])
    items = one_hot_table(rows, schema)
    names = one_hot(schema).names
    groups = {names[:3]: c.symmetric((2, 2, 2), 0.3), **{n: c.binary(0.3, 0.3) for n in names[3:]}}
    scheme = sf.Scheme(one_hot(schema), groups)
    exact = {frozenset(o.items): o.support for o in AssociationRules(0.01).fit(sf.evidence(rows, schema)).itemsets_}
    errors = {"valid": [], "plain": []}
    for seed in range(12):
        release = sf.randomize(items, scheme, rng=seed)
        for way, exclusive in (("valid", "auto"), ("plain", None)):
            supports = RecordedSupports(sf.evidence(release), universe(one_hot(schema), "presence", exclusive))
            by_name = {item.attribute: item for item in supports.universe.items}
            for key, true in exact.items():
                if len(key) == 3:
                    errors[way].append((supports.estimate([by_name[i] for i in key])[0] - true) ** 2)
    assert np.mean(errors["valid"]) < 0.5 * np.mean(errors["plain"])


def test_candidates_need_all_their_subsets():
    _, schema, _ = baskets()
    everything = universe(schema)
    by_name = {item.attribute: item for item in everything.items}
    place = {item: i for i, item in enumerate(everything.items)}
    a, b, d, e = (by_name[x] for x in "abde")
    joined = candidates([(a, b), (a, d), (b, d), (a, e)], place, everything)
    assert joined == [(a, b, d)]
    values = universe(dd.WISCONSIN.select(["clump_thickness", "class"]))
    place = {item: i for i, item in enumerate(values.items)}
    pairs = candidates([(item,) for item in values.items], place, values)
    assert all(one.attribute != two.attribute for one, two in pairs) and len(pairs) == 6


def test_limits_trade_false_positives_for_false_negatives():
    table, schema, _ = baskets()
    release = sf.randomize(table, schemes(schema)["mask"], rng=3)
    found = {
        by: {one.items for one in AssociationRules(0.25, by=by).fit(release).itemsets_}
        for by in ("lower", "estimate", "upper")
    }
    assert found["lower"] < found["estimate"] < found["upper"]


def test_rules_carry_intervals_that_hold_the_truth():
    table, schema, columns = baskets(n=20_000)
    release = sf.randomize(table, schemes(schema)["groups"], rng=4)
    true = brute(columns, 0.05)
    model = AssociationRules(min_support=0.2, min_confidence=0.3).fit(release)
    held = [
        rule.confidence_low
        <= true[frozenset(rule.antecedent + rule.consequent)] / true[frozenset(rule.antecedent)]
        <= rule.confidence_high
        for rule in model.rules_
    ]
    assert len(held) > 20 and np.mean(held) > 0.8  # rules share their noise, so this is not 95 % of independent draws
    assert all(rule.lift_low <= rule.lift <= rule.lift_high for rule in model.rules_)
    assert model.frame().num_rows == len(model.rules_) and model.frame("itemsets").num_rows == len(model.itemsets_)


def test_rules_about_a_target_conclude_it():
    model = AssociationRules(0.2, 0.6).fit(sf.evidence(dd.wisconsin(), dd.WISCONSIN), target="class")
    assert model.rules_ and all(r.consequent[0].startswith("class=") and len(r.consequent) == 1 for r in model.rules_)


def test_parts_of_a_release_are_weighed_together(tmp_path):
    table, schema, columns = baskets()
    one = sf.randomize(table.slice(0, 1000), schemes(schema)["mask"], rng=1)
    two = sf.randomize(table.slice(1000), schemes(schema)["groups"], rng=2)
    model = AssociationRules(0.25).fit(sf.Release.concat([one, two]))
    true = brute(columns, 0.01)
    for found in model.itemsets_:
        assert abs(found.support - true[frozenset(found.items)]) < 6 * found.sd
    model.plot(tmp_path / "rules.png", most=5)
    assert (tmp_path / "rules.png").stat().st_size > 5000


def test_basket_files_are_read(tmp_path):
    path = tmp_path / "baskets.txt"
    path.write_text("bread, milk\nmilk\n\nbread, butter, milk\n")
    table, schema = read_baskets(path)
    assert schema.names == ("bread", "butter", "milk") and table.num_rows == 3
    found = AssociationRules(0.5).fit(sf.evidence(table, schema))
    assert {one.items for one in found.itemsets_} == {("bread",), ("milk",), ("bread", "milk")}
    with pytest.raises(SchemaError, match="transaction 1 holds an item that is not among the 1 known"):
        read_baskets([["jam"]], items=["bread"])
    with pytest.raises(SchemaError, match="cannot be read"):
        read_baskets(tmp_path / "none.txt")
    with pytest.raises(SchemaError, match="at least one"):
        read_baskets([])


def test_bad_input_is_one_clear_line():
    table, schema, _ = baskets(n=100)
    given = sf.evidence(table, schema)
    for options, words in [
        ({"min_support": 0}, "min_support must lie in"),
        ({"min_support": 1.2}, "min_support must lie in"),
        ({"min_confidence": -1}, "min_confidence must lie in"),
        ({"by": "all"}, "by must be one of"),
        ({"max_items": 0}, "max_items"),
        ({"level": 1}, "level must lie in"),
        ({"items": "things"}, "items must be"),
        ({"exclusive": [["z"]]}, "'z'"),
        ({"exclusive": [["a"], ["a"]]}, "two families"),
    ]:
        with pytest.raises(EstimationError, match=words):
            AssociationRules(**options).fit(given)
    with pytest.raises(EstimationError, match="not fitted"):
        _ = AssociationRules().rules_
    with pytest.raises(EstimationError, match="not in the release"):
        AssociationRules().fit(given, target="z")
    half = rest_clear(schema, {"a": c.matrix([[0.5, 0.5], [0.5, 0.5]])})
    with pytest.raises(EstimationError, match="singular"):
        AssociationRules(0.2).fit(sf.randomize(table, half, rng=0))


def test_select_a_size_gives_what_the_full_inverse_gives_without_its_matrix():
    channel = c.select_a_size([0.1, 0.1, 0.2, 0.2, 0.2, 0.2], 0.15, items=6)
    bits = (np.arange(64)[:, None] >> np.arange(6)[::-1]) & 1
    for k in (1, 2, 3):
        full = np.linalg.solve(channel.matrix, bits[:, :k].all(axis=1).astype(float))
        overlap = bits[:, :k].sum(axis=1)
        assert np.allclose(overlap_weights(channel, k)[bits.sum(axis=1) - overlap, overlap], full, atol=1e-10)
        table = overlap_and_size(channel, k)
        for size in range(k, 7 - k):  # summed over the released size: the errata's (k+1) x (k+1) matrix
            closed = np.array([table[size - held, held].sum(axis=0) for held in range(k + 1)])
            assert np.allclose(closed, channel.overlap_matrix(k, size), atol=1e-12)


def test_select_a_size_over_many_items_covers_the_true_supports():
    rng = np.random.default_rng(5)
    names = tuple(f"i{j:02d}" for j in range(25))
    schema = sf.Schema({name: sf.Categorical(("absent", "present")) for name in names})
    both = rng.random(20_000) < 0.2
    raw = {name: ((rng.random(20_000) < 0.1) | (both & (j < 3))).astype(int) for j, name in enumerate(names)}
    channel = c.select_a_size([0.05] * 8 + [0.0] * 17 + [0.6], 0.1)
    release = sf.randomize(schema.decode(raw), sf.Scheme(schema, {names: channel}), rng=1)
    mined = AssociationRules(min_support=0.15, by="upper").fit(release)
    found = {one.items: one for one in mined.itemsets_}
    true = float(np.mean(raw["i00"] & raw["i01"] & raw["i02"]))
    one = found[("i00", "i01", "i02")]
    assert abs(one.unbiased - true) < 5.5 * one.sd and one.sd < 0.01
    shown = release.arrow()
    as_if_clean = np.mean(np.logical_and.reduce([shown.column(n).to_numpy() == 1 for n in names[:3]]))
    assert abs(as_if_clean - true) > 5.5 * one.sd  # negative control: the channel ignored


def test_select_a_size_that_forgets_sizes_is_refused():
    names = tuple(f"i{j}" for j in range(30))
    schema = sf.Schema({name: sf.Categorical(("absent", "present")) for name in names})
    rows = schema.decode({name: np.arange(50) % 2 for name in names})
    release = sf.randomize(rows, sf.Scheme(schema, {names: c.select_a_size([0.0, 1.0], 0.0)}), rng=1)
    with pytest.raises(EstimationError, match="singular"):
        AssociationRules(0.2).fit(release)


def survey(n=6000, seed=3):
    """Nine answers of three to eight values, most of which say little of each other."""
    rng = np.random.default_rng(seed)
    sizes = {f"q{j}": size for j, size in enumerate((8, 8, 6, 6, 5, 5, 4, 3, 3))}
    kind = rng.integers(0, 3, n)
    codes = {
        name: np.where(rng.random(n) < 0.4, kind % size, rng.choice(size, n, p=rng.dirichlet(np.ones(size) * 3)))
        for name, size in sizes.items()
    }
    schema = sf.Schema({name: sf.Categorical(tuple("abcdefgh"[:size])) for name, size in sizes.items()})
    return schema.decode(codes), schema, codes


@pytest.fixture(scope="module")
def strongly_private():
    table, schema, codes = survey()
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=3), rng=5)
    place = {f"{name}={label}": (name, k) for name in schema for k, label in enumerate(schema[name].labels)}

    def true(items):
        return float(np.mean(np.all([codes[place[i][0]] == place[i][1] for i in items], axis=0)))

    return release, true


def test_what_is_reported_at_strong_privacy_is_true(strongly_private):
    release, true = strongly_private
    mined = AssociationRules(0.05, 0.5).fit(release)
    false = [one for one in mined.itemsets_ if true(one.items) < 0.05]
    assert len(mined.itemsets_) > 20 and len(false) <= 0.1 * len(mined.itemsets_)
    assert all(one.low >= 0.05 for one in mined.itemsets_)
    assert [one.low for one in mined.itemsets_] == sorted((one.low for one in mined.itemsets_), reverse=True)
    points = AssociationRules(0.05, 0.5, by="estimate").fit(release)
    wrong = [one for one in points.itemsets_ if true(one.items) < 0.05]
    assert len(wrong) > 0.2 * len(points.itemsets_)  # negative control: what point estimates report
    assert {one.items for one in mined.itemsets_} < {one.items for one in points.itemsets_}


@pytest.mark.parametrize("by", ["lower", "estimate", "upper"])
def test_no_set_is_above_its_subsets(strongly_private, by):
    release, _ = strongly_private
    mined = AssociationRules(0.05, by=by, max_items=3).fit(release)
    known = {one.items: one for one in mined.itemsets_}
    broken = 0
    for one in mined.itemsets_:
        assert one.low <= one.support <= one.high
        for less in combinations(one.items, len(one.items) - 1) if len(one.items) > 1 else ():
            assert one.support <= known[less].support and one.low <= known[less].low and one.high <= known[less].high
            broken += one.unbiased > known[less].unbiased
    assert broken > 0 or by == "lower"  # the unbiased estimates break the order


def test_rules_are_sorted_by_their_lower_limit_and_reach_it():
    table, schema, _ = baskets(n=20_000)
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=3), rng=4)
    mined = AssociationRules(0.2, 0.6).fit(release)
    low = [rule.confidence_low for rule in mined.rules_]
    assert low and low == sorted(low, reverse=True) and min(low) >= 0.6
    assert all(r.confidence_low <= r.confidence <= r.confidence_high <= 1 for r in mined.rules_)
    points = AssociationRules(0.2, 0.6, by="estimate").fit(release)
    assert len(points.rules_) > len(mined.rules_)


@pytest.mark.parametrize("by", ["lower", "estimate", "upper"])
def test_no_estimate_stands_on_its_own_limit(strongly_private, by):
    release, _ = strongly_private
    mined = AssociationRules(0.05, 0.1, by=by, max_items=2).fit(release)
    assert mined.rules_
    for rule in mined.rules_:
        assert (
            rule.confidence_low < rule.confidence or rule.confidence_low == rule.confidence_high or rule.confidence == 0
        )
        assert rule.confidence < rule.confidence_high or rule.confidence == 1
    assert all(one.low < one.support or one.support == 0 for one in mined.itemsets_ if one.sd and len(one.items) == 1)


@pytest.mark.filterwarnings("ignore::sfumato.errors.UnrecoverableWarning")
def test_the_gamma_it_would_take_does_not_follow_the_noise() -> None:
    """It was computed with the share that a noisy release gave the item: 3.3 to 3.6, and elsewhere 11 to 51."""
    values = np.random.default_rng(2).choice(10, (4, 400), p=[0.2, *[0.8 / 9] * 9])
    schema = sf.Schema({name: sf.Categorical(tuple(range(10))) for name in "abcd"})
    table, scheme = dict(zip(schema, values, strict=True)), sf.Scheme.for_gamma(schema, 2)
    told = set()
    for run in range(4):
        release = sf.randomize(table, scheme, rng=sf.experiment(run))
        told.add(sf.learn.AssociationRules(min_support=0.2).fit(sf.evidence(release)).shortfall_)
    assert len(told) == 1 and "or gamma 4.18 for every attribute" in told.pop()


def test_where_nothing_can_be_told_it_says_what_it_would_take():
    table, schema, _ = survey(n=400)
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=2), rng=1)
    with pytest.warns(UnrecoverableWarning, match=r"records, or gamma"):
        mined = AssociationRules(0.05).fit(release)
    line = mined.shortfall_
    assert line is not None and "\n" not in line and mined.rules_ == []
    records = int(line.rpartition("about ")[2].split(" records")[0].replace(",", ""))
    gamma = float(line.rpartition("gamma ")[2].split(" ")[0])
    assert records > 400 and gamma > 2
    # what it asks for suffices: sets of that size are found with it
    size = int(line.split("no set of ")[1].split(" ")[0])
    for n, bound in ((records, 2), (400, 2 * gamma)):
        many, _, _ = survey(n=n)
        again = sf.randomize(many, sf.Scheme.for_gamma(schema, gamma=bound), rng=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnrecoverableWarning)
            found = AssociationRules(0.05, max_items=size).fit(again)
        assert any(len(one.items) == size for one in found.itemsets_)


def test_confidence_that_cannot_be_told_says_what_it_would_take():
    table, schema, _ = baskets(n=4000)
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=3), rng=1)
    mined = AssociationRules(0.1, 0.75).fit(release)
    with pytest.warns(UnrecoverableWarning, match="no rule is sure to have a confidence of 0.75"):
        assert mined.rules_ == []
    clean = AssociationRules(0.1, 0.9999).fit(sf.evidence(table, schema))
    with pytest.warns(UnrecoverableWarning, match="the largest is estimated at"):
        assert clean.rules_ == []


def test_limits_allow_for_how_many_sets_were_looked_at():
    values = np.linspace(0, 6, 200)  # in standard deviations above what was asked
    z = widened(0.95, 200, lambda at: int((values >= at).sum()))
    reported = int((values >= z).sum())
    assert z == pytest.approx(quantile(0.95, reported / 200)) and z > quantile(0.95)
    assert widened(0.95, 200, lambda at: 200) == pytest.approx(quantile(0.95))
    assert widened(0.95, 200, lambda at: 0) == pytest.approx(quantile(0.95, 1 / 200))
    nested = Nested([("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")])
    assert nested.monotone(np.array([3.0, 1, 5, 2, 0.5, 9, 4])).tolist() == [3, 1, 5, 1, 0.5, 3, 0.5]


def test_the_claim_is_a_share_and_no_promise_for_one_list():
    said = AssociationRules(min_support=0.1, min_confidence=0.6, level=0.9).claim
    assert "at most 0.1 of the reported sets have a support below 0.1" in said and "a confidence below 0.6" in said
    assert "on average" in said and "may hold false ones" in said
    assert "no limit" in AssociationRules(by="estimate").claim


def test_few_records_never_show_less_variance_than_their_channels():
    table, schema, _ = baskets(n=12, seed=1)
    scheme = sf.Scheme(schema, {i: c.binary(0.2, 0.2) for i in ITEMS})
    for presence, kind in ((universe(schema, "presence", None), "bits"), (universe(schema, "values"), "records")):
        named = {(item.attribute, item.code): item for item in presence.items}
        items = [named[name, 1] for name in ITEMS[:3]]
        for seed in range(60):
            supports = RecordedSupports(sf.evidence(sf.randomize(table, scheme, rng=seed)), presence)
            value, variance = supports.estimate(items)
            square = supports.parts[0].least_square(items)
            assert square == pytest.approx(((0.8 * 0.8**2 + 0.2 * 0.2**2) / 0.36) ** 3), kind
            assert variance >= max(value, 0) * (square - 1) / 12 - 1e-12


def test_cells_weighed_in_the_place_of_many_records_say_the_same(monkeypatch):
    """Of ten million records nobody waits for a product over each."""
    from sfumato.learn.rules import supports

    rng = np.random.default_rng(8)
    schema = sf.Schema({name: sf.Categorical(tuple("xyz")) for name in "abc"})
    table = {name: rng.choice(list("xyz"), 2000, p=[0.6, 0.3, 0.1]) for name in "abc"}
    table["c"] = np.where(rng.random(2000) < 0.7, table["a"], table["c"])
    scheme = sf.Scheme(schema, {name: c.symmetric(3, 0.1) for name in "abc"})
    release = sf.randomize(table, scheme, rng=sf.experiment(9))
    plain = AssociationRules(0.05, 0.4).fit(release)
    monkeypatch.setattr(supports, "_MANY", 0)
    asked = []
    own = sf.evidence(release)
    records = own.records
    monkeypatch.setattr(own, "records", lambda *args, **more: asked.append(more["distinct"]) or records(*args, **more))
    weighed = AssociationRules(0.05, 0.4).fit(own)
    assert asked == [True] and len(plain.rules_) == len(weighed.rules_) > 3
    for one, other in zip(plain.rules_, weighed.rules_, strict=True):
        assert (one.antecedent, one.consequent) == (other.antecedent, other.consequent)
        assert one.confidence_low == pytest.approx(other.confidence_low, abs=1e-9)
        assert one.lift == pytest.approx(other.lift, abs=1e-9)


def test_rules_that_conclude_what_most_hold_anyway_tell_nothing_more():
    rng = np.random.default_rng(3)
    common, cause = rng.random(4000) < 0.9, rng.random(4000) < 0.4
    effect = rng.random(4000) < np.where(cause, 0.8, 0.1)
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in ("common", "cause", "effect")})
    held = {"common": common, "cause": cause, "effect": effect}
    table = {name: np.where(column, "yes", "no").tolist() for name, column in held.items()}
    model = AssociationRules(0.1, 0.5).fit(sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(4)))
    told = {(rule.antecedent, rule.consequent): rule.tells_more for rule in model.rules_}
    assert told[("cause",), ("effect",)] and not told[("cause",), ("common",)]


def test_a_frame_of_no_rules_has_the_columns_of_one_with_rules():
    table, schema, _ = baskets()
    source = sf.evidence(table, schema)
    none, some = AssociationRules(0.2, 0.999).fit(source), AssociationRules(0.2, 0.1).fit(source)
    with pytest.warns(UnrecoverableWarning):
        assert not none.rules_ and some.rules_
    none, some = none.frame("polars"), some.frame("polars")
    assert none.schema == some.schema and len(none) == 0
    with pytest.raises(EstimationError, match="not fitted yet"):
        AssociationRules().frame("itemsets")


def test_a_basket_file_is_text_in_utf_8(tmp_path):
    file = tmp_path / "baskets.txt"
    file.write_bytes("\ufeffkäse, brot\nkäse\n".encode())
    assert read_baskets(file)[1] is not None and set(read_baskets(file)[1]) == {"brot", "käse"}
    file.write_bytes("käse, brot\n".encode("latin-1"))
    with pytest.raises(SchemaError, match="it is not text in UTF-8"):
        read_baskets(file)


def test_a_long_value_does_not_push_the_picture_of_rules_aside() -> None:
    """The title was cut off, and the points had a third of the width."""
    from sfumato.learn.rules.measures import Rule
    from sfumato.learn.rules.plot import _WIDTH, label

    value = "How_often_do_you_use_the_internet_at_home_for_work=several times a week or more often than that, in sum"
    lines = label(Rule((value, "b=[20, 30)"), ("c=yes",), *[0.5] * 9)).split("\n")
    assert max(map(len, lines)) <= _WIDTH
    assert " ".join(lines) == f"{value} + b=[20 to 30) ⇒ c=yes"
