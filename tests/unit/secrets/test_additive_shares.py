"""Additive shares: exact sums, uniform shares, and what a coalition of sites learns, counted out in full."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DisclosureWarning, ReleaseError
from sfumato.secrets.additive_shares import MODULUS, added, additive_shares, residues, sum_of_tables


class Script:
    """A source whose words are written down beforehand."""

    def __init__(self, words) -> None:
        self.words = list(words)

    def fill(self, buffer) -> None:
        view = buffer.view(np.uint64)
        for i in range(len(view)):
            view[i] = self.words.pop(0)


def test_shares_of_three_to_seven_sites_add_up_to_the_sum_of_their_tables() -> None:
    rng = np.random.default_rng(1)
    for sites in range(3, 8):
        tables = [rng.integers(0, 10**9, (4, 5)) for _ in range(sites)]
        for modulus in (MODULUS, 10**12 + 39, 1 << 63):
            np.testing.assert_array_equal(sum_of_tables(tables, modulus), np.sum(tables, axis=0))


def test_residues_are_exactly_uniform() -> None:
    """Words beyond the last whole multiple are drawn again: without that, small residues come more often."""
    last = (1 << 64) - 1
    assert residues(Script([last, 7]), 3, 1).tolist() == [1]  # 2^64 = 1 modulo 3: the last word is beyond
    assert residues(Script([last - 1]), 3, 1).tolist() == [2]
    assert residues(Script([last, last - 1, 9]), 7, 1).tolist() == [2]  # 2^64 = 2 modulo 7: the last two are
    assert residues(Script([last]), 1 << 62, 1).tolist() == [(1 << 62) - 1]  # none is
    drawn = residues(sf.randomness.SecureSource(), 6, 60_000)
    assert np.abs(np.bincount(drawn, minlength=6) - 10_000).max() < 6 * np.sqrt(10_000)


def views(secrets: tuple[int, int], honest: tuple[int, int], sites: int, modulus: int, among: int = 0) -> Counter:
    """What all sites but two see, over all draws of those two: their shares for the others, and every sum shown.

    The others hold nothing, and their draws are theirs to choose: all 0. ``among`` takes draws below it alone.
    """
    draws = list(product(range(among or modulus), repeat=sites - 1))
    first, second = (
        np.stack([additive_shares([u], sites, modulus, Script(draw))[:, 0] for draw in draws]) for u in secrets
    )
    pairs = np.stack([np.repeat(first, len(draws), axis=0), np.tile(second, (len(draws), 1))])
    shown = added(pairs, modulus)
    others = [site for site in range(sites) if site not in honest]
    return Counter(map(tuple, np.hstack([pairs[0][:, others], pairs[1][:, others], shown]).tolist()))


@pytest.mark.parametrize(("sites", "modulus"), [(3, 7), (4, 5)])
def test_a_coalition_of_all_but_two_learns_the_sum_of_the_two_and_nothing_else(sites, modulus) -> None:
    """Over all draws: two pairs of secrets with one sum give the same views equally often, others never the same."""
    most = (modulus - 1) // sites  # the sum must stay below the modulus
    secrets = list(product(range(most + 1), repeat=2))
    for honest in combinations(range(sites), 2):
        found = {pair: views(pair, honest, sites, modulus) for pair in secrets}
        for one, other in product(secrets, repeat=2):
            same = sum(one) == sum(other)
            assert (found[one] == found[other]) is same
            if not same:
                assert not found[one].keys() & found[other].keys()


def test_shares_that_are_not_uniform_tell_the_two_apart() -> None:
    """The negative control: the same sites with draws from less than half of the residues."""
    assert views((0, 1), (0, 1), 3, 7) == views((1, 0), (0, 1), 3, 7)
    assert views((0, 1), (0, 1), 3, 7, among=3) != views((1, 0), (0, 1), 3, 7, among=3)


def test_the_ring_of_sites_gives_a_neighbour_away() -> None:
    """Another control: in the ring of Ma (2006) the sites before and after one tell its value."""
    modulus = 5

    def seen(first: int, second: int) -> Counter:
        """Site 3 works with site 1, who drew R: it sees what site 2 passed on."""
        return Counter((r, (r + 0 + first) % modulus, (r + first + second) % modulus) for r in range(modulus))

    assert seen(1, 2) != seen(2, 1)  # of the same sum, and told apart


def test_any_shares_but_one_are_uniform_whatever_the_table() -> None:
    modulus = 4
    for left_out in range(3):
        seen = {
            value: Counter(
                tuple(np.delete(additive_shares([value], 3, modulus, Script(draw)).reshape(-1), left_out).tolist())
                for draw in product(range(modulus), repeat=2)
            )
            for value in (0, 1)
        }
        assert seen[0] == seen[1] and set(seen[0].values()) == {1} and len(seen[0]) == modulus**2


def test_bad_requests_get_one_line() -> None:
    for tables, said in (
        ([[1], [2]], "at least three sites"),
        ([[1], [2], [3, 4]], "one shape"),
        ([[1], [2], [-3]], "not be negative"),
        ([[1], [2], [0.5]], "whole numbers"),
        ([["a"], [2], [3]], "whole numbers"),
    ):
        with pytest.raises(ReleaseError, match=said):
            sum_of_tables(tables)
    with pytest.raises(ReleaseError, match="larger modulus"):
        sum_of_tables([[40], [40], [40]], 100)
    for modulus in (1, 1 << 64, 2.5, True):
        with pytest.raises(ReleaseError, match="modulus must be"):
            additive_shares([1], 3, modulus)
    with pytest.warns(DisclosureWarning, match="predictable shares"):
        additive_shares([1], 3, rng=1)
