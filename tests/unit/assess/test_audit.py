"""The audit passes every shipped channel and catches every planted fault."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from gallery import CHANNELS, rest_clear
from sfumato import channels as c
from sfumato.assess.audit import audit, audit_scheme
from sfumato.errors import SfumatoError
from sfumato.owner.request import answered_rows

SMALL = {name: channel for name, channel in CHANNELS.items() if channel.k <= 64}
CHANNEL = c.symmetric(4, gamma=3)  # keeps one half of the values
SCHEMA = sf.Schema(
    {"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("p", "q", "r")), "c": sf.Numeric(0, 8, bins=8)}
)
SCHEME = sf.Scheme(SCHEMA, {"a": c.binary(0.25, 0.25), "b": c.symmetric(3, gamma=2), "c": c.windows(8, 3)})


@pytest.mark.parametrize("name", SMALL)
def test_every_shipped_channel_passes(name):
    found = audit(SMALL[name], trials=100_000, rng=np.random.default_rng(20))
    assert found.passed, str(found)
    assert found.lower <= found.claimed
    assert found.lower > 1


def test_the_certificate_comes_near_the_truth():
    found = audit(c.binary(0.25, 0.25), trials=100_000, rng=1)
    assert 2.85 < found.lower <= 3
    assert audit(c.identity(3), trials=100_000, rng=1).lower > 5000


class Faulty:
    """Randomizers that claim to be CHANNEL and are not."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def wrong_keep(self, codes):
        """Keeps .55 instead of .5: ten per cent too often."""
        moved = (codes + self.rng.integers(1, 4, codes.size)) % 4
        return np.where(self.rng.random(codes.size) < 0.55, codes, moved)

    def timid(self, codes):
        """Keeps .45: more private than claimed, but every estimate is biased."""
        moved = (codes + self.rng.integers(1, 4, codes.size)) % 4
        return np.where(self.rng.random(codes.size) < 0.45, codes, moved)

    def biased(self, codes):
        """Replaces by the next value twice as often as by the others."""
        step = self.rng.choice([1, 2, 3], codes.size, p=[0.5, 0.25, 0.25])
        return np.where(self.rng.random(codes.size) < 0.5, codes, (codes + step) % 4)

    def corner(self, codes):
        """Forgets to randomize one in twenty of the records with the last value."""
        out = CHANNEL.randomize(codes, self.rng).astype(np.int64)
        leak = (codes == 3) & (self.rng.random(codes.size) < 0.05)
        return np.where(leak, 3, out)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("fault", ["wrong_keep", "biased", "corner", "timid"])
def test_planted_faults_are_caught(fault, seed):
    found = audit(getattr(Faulty(seed), fault), against=CHANNEL, trials=100_000)
    assert not found.passed, str(found)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_faults_that_disclose_more_are_caught_without_the_matrix(seed):
    for fault in ("wrong_keep", "biased"):
        found = audit(getattr(Faulty(seed), fault), claimed=3.0, inputs=4, trials=100_000)
        assert found.fit is None
        assert found.private is False, str(found)
    timid = audit(Faulty(seed).timid, claimed=3.0, inputs=4, trials=100_000)
    assert timid.passed  # it keeps its promise of privacy


def test_a_corner_that_is_always_passed_on_breaks_the_promise():
    rng = np.random.default_rng(4)
    joint = c.symmetric((2, 2, 2), 0.3)

    def leaking(rows):
        out = joint.randomize(rows, rng).astype(np.int64)
        return np.where((rows == 1).all(axis=1)[:, None], rows, out)

    found = audit(leaking, against=joint, trials=100_000)
    assert found.private is False
    assert 7 in found.pair
    honest = audit(lambda rows: joint.randomize(rows, rng).astype(np.int64), against=joint, trials=100_000)
    assert honest.passed


def test_a_skipped_column_is_caught():
    rng = np.random.default_rng(5)

    def skipping(table):
        release = answered_rows(SCHEMA.decode(table), SCHEME, rng)
        out = {name: release.column(name).to_numpy() for name in SCHEME.columns}
        out["b"] = table["b"]
        return out

    found = {result.name: result for result in audit_scheme(SCHEME, skipping, trials=100_000, rng=6)}
    assert not found["b"].passed
    assert found["b"].private is False
    assert found["a"].passed
    assert found["c"].passed


def test_the_owners_own_randomizer_passes():
    assert all(result.passed for result in audit_scheme(SCHEME, trials=20_000, rng=7))
    assert all(result.passed for result in audit_scheme(SCHEME.select(["a"]), trials=2000, alpha=1e-6))
    ages = sf.Schema({"age": sf.Numeric(20, 40, bins=10, step=1)})
    assert all(result.passed for result in audit_scheme(sf.Scheme.for_gamma(ages, 5), trials=2000, rng=7))


def test_a_group_with_impossible_combinations():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": sf.Categorical(("yes", "no")), "a": SCHEMA["a"]})
    valid = c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.3)
    scheme = sf.Scheme(schema, {("sex", "pregnant"): valid, "a": c.binary(0.2, 0.2)})
    assert all(result.passed for result in audit_scheme(scheme, trials=20_000, rng=8))


def test_channels_side_by_side_are_audited_one_by_one():
    names = tuple(f"item{i}" for i in range(30))
    schema = sf.Schema({name: sf.Categorical(("n", "y")) for name in names} | {"one": sf.Categorical(("only",))})
    scheme = rest_clear(schema, {names: c.mask(0.3)})
    found = audit_scheme(scheme, trials=2000, rng=11, alpha=1e-6)
    assert [result.name for result in found] == list(names)
    assert all(result.passed for result in found)


def test_a_command(tmp_path):
    program = tmp_path / "flip.py"
    program.write_text(
        "import random, sys\n"
        "r = random.Random(5)\n"
        "for line in sys.stdin: print(int(line) if r.random() < 0.75 else 1 - int(line))\n"
    )
    found = audit([sys.executable, str(program)], against=c.binary(0.25, 0.25), trials=20_000)
    assert found.passed
    strict = audit([sys.executable, str(program)], claimed=2.0, inputs=2, trials=20_000)
    assert strict.private is False


def test_words():
    text = str(audit(Faulty(1).wrong_keep, against=CHANNEL, trials=50_000))
    assert "VIOLATED" in text
    assert "DO NOT FOLLOW" in text


class TestBadInput:
    @pytest.mark.parametrize(
        ("function", "says"),
        [
            (lambda codes: codes[:-1], "one answer for each of"),
            (lambda codes: codes + 9, "answered 12, which is not among the known answers 0 to 3"),
            (lambda codes: codes - 1, "answered -1, which is not among the known answers 0 to 3"),
            (lambda codes: codes.astype(float), "whole-number codes, got float64"),
            (lambda codes: None, "one answer for each of"),
            (lambda codes: [[1], [1, 2]], "equally many codes for every record"),
        ],
    )
    def test_answers(self, function, says):
        with pytest.raises(SfumatoError, match=says) as caught:
            audit(function, against=CHANNEL, trials=1000)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("wrong", "says"),
        [
            ({"inputs": None}, "needs inputs="),
            ({"trials": 10}, "trials must be at least 100"),
            ({"trials": 1000.5}, "trials must be a whole number, got 1000.5"),
            ({"alpha": 0.9}, r"alpha must lie in \(0, 0.5\)"),
            ({"claimed": 0.5}, "claimed must be a gamma of at least 1"),
            ({"inputs": 1}, "at least two inputs"),
            ({"inputs": (4096, 4096)}, "too many to audit at once"),
        ],
    )
    def test_settings(self, wrong, says):
        with pytest.raises(SfumatoError, match=says):
            audit(lambda codes: codes, **{"claimed": 3.0, "inputs": 4, "trials": 1000, **wrong})

    def test_things_that_are_no_randomizer(self):
        with pytest.raises(SfumatoError, match="takes a channel, a function or a command"):
            audit(5, claimed=2.0, inputs=2)
        with pytest.raises(SfumatoError, match="a scheme has many channels"):
            audit(SCHEME)

    def test_commands_that_fail(self):
        with pytest.raises(SfumatoError, match="failed"):
            audit(["no-such-program"], inputs=2, claimed=2.0, trials=1000)
        with pytest.raises(SfumatoError, match="one answer per line"):
            audit([sys.executable, "-c", "print('hello')"], inputs=2, claimed=2.0, trials=1000)
        with pytest.raises(SfumatoError, match="one answer per line"):
            audit([sys.executable, "-c", "print('9' * 20)"], inputs=2, claimed=2.0, trials=1000)
        with pytest.raises(SfumatoError, match="wrote no text"):
            program = "import sys; sys.stdout.buffer.write(bytes([255, 254]))"
            audit([sys.executable, "-c", program], inputs=2, claimed=2.0, trials=1000)
        with pytest.raises(SfumatoError, match="at least one word"):
            audit([], inputs=2, claimed=2.0, trials=1000)

    def test_a_randomizer_that_forgets_a_column(self):
        with pytest.raises(SfumatoError, match="must return the columns"):
            audit_scheme(SCHEME, lambda table: {}, trials=1000)


def test_nothing_is_claimed_without_a_claim():
    found = audit(lambda codes: codes, inputs=3, trials=1000)
    assert found.private is None
    assert found.passed
    assert found.lower > 50
    assert math.isfinite(found.lower)


def test_a_large_domain_passes_too():
    assert audit(CHANNELS["symmetric-large"], trials=2000, rng=9).passed


def test_groups_and_tests_share_the_risk():
    bit = sf.Categorical(("no", "yes"))
    scheme = sf.Scheme(sf.Schema(dict.fromkeys("abcd", bit)), {name: c.symmetric(2, 0.3) for name in "abcd"})
    found = audit_scheme(scheme, trials=1e3, alpha=0.04, rng=1)
    assert [result.alpha for result in found] == [0.01] * 4
    # the risk of the fit is half of what a group may take
    borderline = replace(found[0], fit=0.0075)
    assert borderline.faithful
    assert not replace(found[0], fit=0.0045).faithful


def test_an_audit_without_power_says_so():
    found = audit(c.symmetric(2, gamma=1.01), trials=200, rng=1)
    assert found.lower == 1
    assert "nothing was certified" in str(found)
    assert "gamma is at least" in str(audit(c.symmetric(2, gamma=9), trials=2000, rng=1))
