"""What a guess supposes of many values: the largest of many noisy shares is not taken for the commonest value."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.assess import attacks
from sfumato.assess.guess import map_success
from sfumato.assess.shares import estimated_shares, pair_shares, shares_of_codes
from sfumato.evidence.kinds import by_method

QUARTERS = sf.Schema({"date": sf.Date("1990-Q1", "1999-Q4", by="quarter")})
WORDS = sf.Schema({"word": sf.Categorical(tuple(f"w{i:02d}" for i in range(40)))})
WAVES = 1 + 0.5 * np.sin(np.arange(40) / 6) + 0.3 * (np.arange(40) % 4 == 2)
FALLING = 1 / np.arange(2, 42)
HALF = np.append(19.0, np.full(39, 19 / 39))


def gains(schema: sf.Schema, weights: np.ndarray, gamma: float, releases: int = 12) -> tuple[np.ndarray, ...]:
    """What a blind guess and the best one gain: exactly, as estimated, and by the most likely shares (means)."""
    (name,), truth = schema.names, weights / weights.sum()
    scheme = sf.Scheme.for_gamma(schema, gamma)
    codes = np.repeat(np.arange(40), np.random.default_rng(0).multinomial(19_000, truth))
    table = {name: [schema[name].labels[code] for code in codes]}
    told, plain = [], []
    for seed in range(releases):
        source = sf.evidence(sf.randomize(table, scheme, rng=seed))
        for out, shares in (
            (told, estimated_shares(source, (name,))),
            (plain, by_method(source, "mle").counts([name], quiet=True).population().value),
        ):
            out.append((shares.max(), map_success(scheme, shares, attribute=name)))
    exact = np.bincount(codes, minlength=40) / len(codes)
    return np.array([exact.max(), map_success(scheme, exact, attribute=name)]), np.mean(told, 0), np.mean(plain, 0)


@pytest.mark.parametrize(
    ("schema", "weights", "gamma"),
    [
        pytest.param(QUARTERS, WAVES, 3, id="quarters, gamma 3"),
        pytest.param(QUARTERS, WAVES, 9, id="quarters, gamma 9"),
        pytest.param(WORDS, np.ones(40), 3, id="equal shares, gamma 3"),
        pytest.param(WORDS, np.ones(40), 9, id="equal shares, gamma 9"),
    ],
)
def test_the_peaks_of_noise_are_no_common_values(schema: sf.Schema, weights: np.ndarray, gamma: float) -> None:
    """The most likely shares, as a control, promise the adversary much more than he has."""
    exact, told, plain = gains(schema, weights, gamma)
    assert (np.abs(told - exact) < 0.025).all()
    assert (np.abs(told - exact) < np.abs(plain - exact)).all()


@pytest.mark.parametrize("weights", [HALF, FALLING])
@pytest.mark.parametrize("gamma", [3, 9])
def test_a_large_share_stays_where_it_is(weights: np.ndarray, gamma: float) -> None:
    """Drawn to the mean like the others it would be smaller, and the guess would look safer than it is."""
    exact, told, _ = gains(WORDS, weights, gamma)
    assert told == pytest.approx(exact, abs=0.02)


def test_codes_of_a_channel_are_judged_alike() -> None:
    channel = sf.Scheme.for_gamma(WORDS, 3)["word"]
    codes = channel.randomize(np.random.default_rng(1).integers(0, 40, 19_000), rng=2)
    assert shares_of_codes(channel, codes).max() < 0.05


@pytest.fixture(scope="module")
def release() -> sf.Release:
    rng = np.random.default_rng(3)
    place = rng.choice(12, 8000, p=np.linspace(3, 1, 12) / 24)
    kind = np.where(rng.random(8000) < 0.9, place % 4, rng.integers(0, 4, 8000))
    schema = sf.Schema(
        {"place": sf.Categorical(tuple("abcdefghijkl")), "kind": sf.Categorical(tuple("stuv")), **QUARTERS}
    )
    quarters = np.array(QUARTERS["date"].labels)
    table = {
        "place": [schema["place"].labels[i] for i in place],
        "kind": [schema["kind"].labels[i] for i in kind],
        "date": quarters[rng.integers(0, 40, 8000)].tolist(),
    }
    return sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=4)


def test_the_attack_supposes_the_shares_of_the_report(release: sf.Release) -> None:
    report = sf.report(release.scheme, sf.evidence(release))
    for unit in report.facts.units:
        attack = attacks.bayes(release, attribute=unit.names[0])
        assert attack.details["prior"] == pytest.approx(unit.prior)
        assert 1 - attack.error == pytest.approx(unit.measures["guess"])
        assert 1 - attack.nothing == pytest.approx(unit.measures["guess_blind"])


def test_guesses_from_two_answers_begin_with_those_from_one(release: sf.Release) -> None:
    """The two tables of a report told different figures of one attribute."""
    facts = sf.report(release.scheme, sf.evidence(release)).facts
    single = {unit.names[0]: unit.measures for unit in facts.units}
    assert facts.correlated
    for one in facts.correlated:
        assert one.blind == pytest.approx(single[one.attribute]["guess_blind"], abs=1e-6)
        assert one.own == pytest.approx(single[one.attribute]["guess"], abs=1e-6)


def test_dependence_that_noise_explains_is_left_out(release: sf.Release) -> None:
    source = sf.evidence(release)
    margins = estimated_shares(source, ("kind",)), estimated_shares(source, ("date",))
    noisy = by_method(source, "mle").counts(["kind", "date"], quiet=True).population().value.reshape(4, 40)
    told, plain = (
        np.abs(table - np.outer(*margins)).sum()  # independent in truth
        for table in (pair_shares(source, ("kind", "date"), margins), noisy)
    )
    assert told < plain / 2
