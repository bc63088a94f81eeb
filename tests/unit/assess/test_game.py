"""The game of Zhang et al. (2004), section 5: Example 1 to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.assess import privacy
from sfumato.errors import SfumatoError

R1 = [[0.7, 0.3], [0.3, 0.7]]
R2 = [[1.0, 0.0], [0.99, 0.01]]


def test_advertising_a_wrong_guess_is_free():
    assert privacy.game_value(R1) == pytest.approx(-0.7, abs=1e-12)
    assert privacy.game_value(R2) == pytest.approx(-0.505, abs=1e-12)


def test_investment_a_wrong_guess_costs_five_times():
    assert privacy.game_value(R1, loss=5) == 0
    assert privacy.game_value(R2, loss=5) == pytest.approx(-0.005, abs=1e-12)
    assert privacy.game(R1, loss=5).guesses == (None, None)
    assert privacy.game(R2, loss=5).guesses == (None, 1)
    assert privacy.game(R2, loss=5).intrudes
    assert not privacy.game(R1, loss=5).intrudes


def test_the_crossing():
    assert privacy.crossing(R1, R2) == pytest.approx(0.695 / 0.3, abs=1e-9)
    assert privacy.crossing(R1, R2) == pytest.approx(2.31667, abs=1e-5)
    assert privacy.crossing(R1, [[0.6, 0.4], [0.4, 0.6]]) is None


def test_a_full_payoff_matrix():
    # only a true 1 that is guessed pays: the adversary of the advertisement wants buyers
    payoff = [[0.0, -1.0], [0.0, 3.0]]
    found = privacy.game(R1, payoff=payoff)
    assert found.guesses == (1, 1)
    assert found.value == pytest.approx(-(0.5 * 3 - 0.5 * 1))
    never = privacy.game(R1, payoff=[[0.0, -9.0], [0.0, 3.0]])
    assert never.guesses == (None, None)


def test_payoff_may_offer_more_guesses_than_values():
    # a third guess hedges between the two
    found = privacy.game(R1, payoff=[[1.0, -1.0, 0.6], [-1.0, 1.0, 0.6]])
    assert found.guesses == (2, 2)
    assert found.value == pytest.approx(-0.6)


def test_best_reply_against_brute_force():
    rng = np.random.default_rng(8)
    for _ in range(50):
        P, prior = rng.dirichlet(np.ones(4), size=3), rng.dirichlet(np.ones(3))
        payoff = rng.normal(size=(3, 3))
        gain = sum(
            max(0.0, *((prior * P[:, y] * payoff[:, g]).sum() for g in range(3))) for y in range(4)
        )  # fmt: skip
        assert privacy.game_value(P, prior, payoff=payoff) == pytest.approx(-gain, abs=1e-12)


def test_curve_falls_to_zero_as_guesses_grow_dearer():
    values = privacy.game_curve(R1, np.linspace(0, 4, 41))
    assert (np.diff(values) >= -1e-12).all()
    assert values[0] == pytest.approx(-0.7)
    assert values[-1] == 0
    assert values[np.linspace(0, 4, 41) < 7 / 3 - 1e-9].max() < 0


def test_theorem_2_as_a_question_and_as_a_bound():
    assert privacy.gamma_for_no_intrusion(0.5, 0.2) == pytest.approx(5)
    assert privacy.no_intrusion(R1, 0.5, 0.2)
    assert not privacy.no_intrusion(R2, 0.5, 0.2)


@pytest.mark.parametrize("sigma", [0, -1, float("nan")])
def test_sigma_must_be_positive(sigma):
    with pytest.raises(SfumatoError, match="sigma must be positive, got"):
        privacy.no_intrusion(R1, 0.5, sigma)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"benefit": 0}, "benefit must be positive and finite, got 0"),
        ({"loss": -1}, "loss must be a finite number of at least 0, got -1"),
        ({"payoff": [[1.0, 2.0]]}, "payoff must have a row for each of the 2 true values"),
        ({"payoff": [[1.0, np.nan], [0.0, 1.0]]}, "payoff must hold finite numbers, got nan instead"),
        ({"payoff": "abc"}, "payoff must be a table of numbers"),
        ({"payoff": [[1.0, 0.0], [0.0, 1.0]], "loss": 5}, "give it, or benefit and loss, but not both"),
        ({"benefit": "1"}, "benefit must be a number, got '1' instead"),
        ({"prior": ["a", "b"]}, "prior must hold numbers"),
    ],
)
def test_bad_settings_are_one_clear_line(wrong, says):
    with pytest.raises(SfumatoError, match=says) as caught:
        privacy.game_value(R1, **wrong)
    assert "\n" not in str(caught.value)


def test_p_max_must_be_a_probability():
    with pytest.raises(SfumatoError, match=r"p_max must lie in \(0, 1\], got 1.5"):
        privacy.no_intrusion(R1, 1.5, 1)


def test_p_max_cannot_be_below_an_even_share():
    with pytest.raises(SfumatoError, match="p_max must be at least 1/2, got 0.1"):
        privacy.no_intrusion(R1, 0.1, 1)
    assert privacy.no_intrusion(R1, 0.5, 0.2)
    with pytest.raises(SfumatoError, match="sigma must be a number, got 'x' instead"):
        privacy.no_intrusion(R1, 0.5, "x")


def test_small_stakes_count_too():
    assert privacy.game_value(R1, benefit=1e-20) == pytest.approx(1e-20 * privacy.game_value(R1), rel=1e-12)


def test_rounding_is_no_crossing():
    eighths = [[[1 / 8, 7 / 8], [2 / 8, 6 / 8]], [[2 / 8, 6 / 8], [3 / 8, 5 / 8]]]
    assert privacy.crossing(*eighths) == 0
    assert privacy.crossing(R1, R1) == 0
    assert privacy.crossing([[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.1, 0.9]]) is None  # the first is always better


def test_a_crossing_needs_the_same_values():
    with pytest.raises(SfumatoError, match="the same true values, got 2 and 3 of them"):
        privacy.crossing(R1, np.eye(3))
