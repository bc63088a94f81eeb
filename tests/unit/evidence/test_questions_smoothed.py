"""Estimates of ordered attributes are smoothed by default, their limits are not; the same for joint models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError
from sfumato.evidence.density.smooth import Smooth
from sfumato.evidence.questions.smoothed_groups import heaped
from sfumato.evidence.questions.statistics import PartSums, Sums

K = 40
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 80, bins=K)})


def people(n: int = 4000, heaped: bool = False) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    age = rng.gamma(6, 5, n).clip(0, 79.9)
    if heaped:
        age = np.where(rng.random(n) < 0.8, np.round(age / 10) * 10, age).clip(0, 79.9)
    return {"sex": rng.choice(["F", "M"], n), "age": age}


def asked(age: Any, sex: Any, table: dict[str, np.ndarray], seed: int = 1, **options: Any) -> Any:
    release = sf.randomize(table, sf.Scheme(SCHEMA, {"sex": sex, "age": age}), rng=sf.experiment(seed))
    return sf.evidence(release, **options)


def test_estimates_are_smoothed_and_limits_are_not() -> None:
    """Closer by far to the truth than the unbiased estimates, in every one of five releases."""
    table = people()
    truth = sf.evidence(table, SCHEMA)
    for seed in range(5):
        ev = asked(c.windows(K, 3), c.identity(2), table, seed)
        for ask in (lambda e, **o: e.cdf("age", **o), lambda e, **o: e.cdf("age", by="sex", **o)):
            found, plain, exact = ask(ev), ask(ev, smooth=False), ask(truth).value
            assert np.abs(found.value - exact).mean() < 0.7 * np.abs(plain.value - exact).mean()
            for ends, own in zip(found.interval(), plain.interval(), strict=True):
                np.testing.assert_allclose(ends, own, atol=1e-12)
            np.testing.assert_allclose(found.sd, plain.sd)
            low, high = found.interval()
            assert (low <= found.value).all() and (found.value <= high).all()
            assert (np.diff(found.value[:K]) >= -1e-12).all() or (found.value == np.clip(found.value, low, high)).all()
    assert "smoothed over neighbouring values" in repr(found)
    assert "(smooth=False: neither, True: both)" in repr(found)
    assert "True: both" not in repr(ev.mean("age")), "those of means are never smoothed"
    assert "smoothed" not in repr(plain)


def test_means_and_quantiles_follow_the_same_distribution() -> None:
    ev = asked(c.windows(K, 3), c.identity(2), people())
    curve, low = ev.cdf("age").value, ev.quantile("age", 0.5).value[0]
    assert abs(np.interp(low, np.linspace(0, 80, K + 1), np.append(0, curve)) - 0.5) < 0.02
    shares = np.diff(np.append(0, curve))
    assert abs(ev.mean("age").value[0] - shares @ SCHEMA["age"].midpoints) < 0.6
    difference = ev.mean("age", by="sex").contrast("M", "F")
    plain = ev.mean("age", by="sex", smooth=False).contrast("M", "F")
    assert difference.value != pytest.approx(plain.value)
    np.testing.assert_allclose(difference.interval(), plain.interval())
    ratio, other = (ev.mean("age", by="sex", smooth=s).ratio("M", "F") for s in (None, False))
    np.testing.assert_allclose(ratio.interval(), other.interval())


def test_heaps_that_show_are_not_smoothed_over() -> None:
    """The averaged models follow heaps that the answers tell: their estimates are then as near as the unbiased ones."""
    table = people(20_000, heaped=True)
    ev = asked(c.windows(K, 30), c.identity(2), table)
    found, truth = ev.cdf("age"), sf.evidence(table, SCHEMA).cdf("age").value
    low, high = found.interval()
    assert (low <= found.value).all() and (found.value <= high).all()
    assert np.abs(found.value - truth).mean() < 1.2 * np.abs(ev.cdf("age", smooth=False).value - truth).mean()


def test_a_smoothed_distribution_that_contradicts_the_answers_is_not_taken() -> None:
    running = np.cumsum(np.tile([60.0, 10, 10, 10, 10], 4)) * 10
    sums = Sums((PartSums(4000.0, running, np.diag(running) + np.outer(running, running) / 4000, np.zeros((20, 20))),))
    own = Smooth(np.diff(np.append(0, running)) / running[-1], 4000.0)
    assert not heaped(sums, 20, 20, [own])
    assert heaped(sums, 20, 20, [Smooth(np.full(20, 0.05), 4000.0)])


@pytest.mark.parametrize(
    ("age", "sex", "by"),
    [
        (c.identity(K), c.identity(2), None),  # nothing to smooth
        (c.windows(K, 9), c.symmetric(2, 0.1), "sex"),  # groups that are not known
        (c.average(K, 9), c.identity(2), None),  # means alone are told
    ],
)
def test_what_cannot_be_smoothed_is_unbiased(age: Any, sex: Any, by: str | None) -> None:
    ev = asked(age, sex, people())
    found, plain = ev.mean("age", by=by), ev.mean("age", by=by, smooth=False)
    np.testing.assert_array_equal(found.value, plain.value)
    assert found.closer is None


def test_few_values_are_told_one_by_one() -> None:
    schema = sf.Schema({"grade": sf.Ordinal(tuple(range(9)))})
    rows = {"grade": np.random.default_rng(0).integers(0, 9, 2000)}
    ev = sf.evidence(sf.randomize(rows, sf.Scheme(schema, {"grade": c.windows(9, 9)}), rng=sf.experiment(1)))
    assert ev.cdf("grade").closer is None and ev.cdf("grade", smooth=True).notes


def test_parts_under_different_channels_are_smoothed_together() -> None:
    schema = sf.Schema({"age": sf.Numeric(0, 80, bins=K, nullable=True)})
    rows = people()["age"]
    parts = [
        sf.randomize({"age": rows[half]}, sf.Scheme(schema, {"age": ch}), rng=sf.experiment(i))
        for i, (half, ch) in enumerate(
            [(slice(0, 2000), c.windows(K, 3, nullable=True)), (slice(2000, None), c.symmetric(K + 1, 0.4))]
        )
    ]
    found = sf.evidence(sf.Release.concat(parts)).quantile("age", [0.25, 0.5, 0.75])
    assert found.closer is not None
    np.testing.assert_allclose(found.value, np.quantile(rows, [0.25, 0.5, 0.75]), atol=4)
    assert found.population().value == pytest.approx(found.value, abs=2)


def test_any_ordered_attribute_has_a_density() -> None:
    table = people()
    found = asked(c.windows(K, 9), c.identity(2), table).density("age")
    true = np.histogram(table["age"], np.linspace(0, 80, K + 1), density=True)[0]
    assert found.edges.size == K + 1 and found.mass.sum() == pytest.approx(1)
    assert abs(found.mean - table["age"].mean()) < 2
    low, high = found.band(0.9)
    assert ((low <= true) & (true <= high)).mean() > 0.7
    assert np.abs(found.height - true).sum() * 2 < 0.35
    assert found.to_dict()["band"]["level"] == 0.9 and found.rank == K
    assert "windows" in repr(found)


def test_a_density_is_drawn(tmp_path: Any) -> None:
    asked(c.windows(K, 9), c.identity(2), people()).density("age").plot(tmp_path / "d.svg")
    assert (tmp_path / "d.svg").read_text().count("<path") > 3


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda ev: ev.density("sex"), "'sex' has no order, so that it has no density"),
        (lambda ev: ev.density("age", bins=5), "bins belongs to densities under additive noise"),
        (lambda ev: ev.density("age").null_space(), "null space is that of additive noise"),
    ],
)
def test_refusals(call: Any, line: str) -> None:
    with pytest.raises(EstimationError, match=line):
        call(asked(c.windows(K, 9), c.identity(2), people(500)))


def test_a_model_gives_estimates_within_the_unbiased_limits() -> None:
    """The model's own covariance does not tell what shrinkage moves: a difference was held in two of five releases."""
    table = people(1500)
    table["age"] = np.where(table["sex"] == "M", table["age"] + 8, table["age"]).clip(0, 79.9)
    schema = sf.Schema({"sex": SCHEMA["sex"], "age": sf.Numeric(0, 80, bins=8)})
    scheme = sf.Scheme(schema, {"sex": c.symmetric(2, 0.25), "age": c.windows(8, 4)})
    release = sf.randomize(table, scheme, rng=sf.experiment(3))
    model, plain = sf.evidence(release, method="model"), sf.evidence(release)
    for ask in (
        lambda e: e.mean("age", by="sex", smooth=False),
        lambda e: e.mean("age", by="sex", smooth=False).contrast("M", "F"),
        lambda e: e.quantile("age", [0.25, 0.5], smooth=False),
    ):
        found, unbiased = ask(model), ask(plain)
        assert not np.allclose(found.value, unbiased.value)
        np.testing.assert_allclose(found.interval(), unbiased.interval(), atol=1e-9)
    assert "the estimate is the joint model's" in repr(model.mean("age"))


def test_running_shares_that_are_kept_within_their_limits_do_not_fall():
    from sfumato.evidence.questions.answer import Answer

    class Limits:
        def value(self, sums):
            return np.array([0.5, 1.02, 0.99, 1.0])

        def limits(self, sums, covariance, level):
            return np.array([0.4, 0.97, 0.9, 1.0]), np.ones(4)

    class Sums:
        n = 100.0

        def finite(self):
            return np.zeros(4), np.zeros((4, 4))

    names = {"up_to": [1, 2, 3, 4]}
    found = Answer(Sums(), Limits(), "", names, running="up_to", closer=np.array([0.5, 0.95, 0.96, 1.0]))
    assert found.value == pytest.approx([0.5, 0.97, 0.97, 1.0])  # without care .97 and then .96


def test_running_shares_say_whether_they_hold_the_end_of_a_bin() -> None:
    """Prices heap at 100 000 and 200 000; "up to" these they are more than below them, which is what a bin tells."""
    price = np.repeat([60_000, 100_000, 150_000, 200_000, 250_000], 200)
    bins = sf.Numeric(edges=(0, 100_000, 200_000, 300_000))
    truth = sf.evidence({"price": price}, sf.Schema({"price": bins})).cdf("price")
    ends = truth.frame()["below"].to_pylist()
    assert truth.value.tolist() == [float(np.mean(price < end)) for end in ends] == [0.2, 0.6, 1.0]
    whole = sf.evidence({"price": price}, sf.Schema({"price": replace(bins, step=1)})).cdf("price")
    ends = whole.frame()["up_to"].to_pylist()
    assert whole.value.tolist() == [float(np.mean(price <= end)) for end in ends] == [0.2, 0.6, 1.0]
    scheme = sf.Scheme.for_gamma(sf.Schema({"price": bins}), 9)
    release = sf.evidence(sf.randomize({"price": price}, scheme, rng=sf.experiment(3)))
    for smooth in (None, False, True):
        assert release.cdf("price", smooth=smooth).frame()["below"].to_pylist() == [1e5, 2e5, 3e5]


def test_smoothed_limits_of_a_quantile_reach_over_whole_bins() -> None:
    """Numbers that heap at the lower end of every bin: half of the smoothed limits of quartiles missed the truth."""
    schema, held = sf.Schema({"x": sf.Numeric(0, 100, bins=20)}), np.zeros(3)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = np.clip(np.round(rng.normal(50, 18, 3000) / 5) * 5, 0, 99.9)
        ev = sf.evidence(sf.randomize({"x": x}, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(seed)))
        found = ev.quantile("x", [0.25, 0.5, 0.75], smooth=True)
        low, high = found.interval()
        truth = np.quantile(x, [0.25, 0.5, 0.75])
        held += (low <= truth) & (truth <= high)
        assert (low % 5 == 0).all() and (high % 5 == 0).all()
    assert (held >= 7).all() and any("whole bins" in note for note in found.notes)


def test_a_mean_that_cannot_be_smoothed_says_so_where_it_is_asked_for() -> None:
    rng = np.random.default_rng(3)
    rows = {"few": rng.integers(0, 5, 900), "many": rng.integers(0, 20, 900), "group": rng.integers(0, 2, 900)}
    schema = sf.Schema({name: sf.Ordinal(tuple(range(int(codes.max()) + 1))) for name, codes in rows.items()})
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, 6), rng=sf.experiment(1))
    ev, model = sf.evidence(release), sf.evidence(release, method="model")
    silent = [ev.mean("few", smooth=True), ev.mean("many", by="group", smooth=True), model.mean("many", smooth=True)]
    assert all(any("nothing is smoothed" in note for note in found.notes) for found in silent)
    others = [ev.mean("few"), ev.mean("few", smooth=False), ev.mean("many", smooth=True), model.mean("many")]
    assert not any("nothing is smoothed" in note for found in others for note in found.notes)
