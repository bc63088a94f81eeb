"""Frequent texts are found and counted; those named beforehand are counted; everything else is refused in one line."""

from __future__ import annotations

from math import e
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError, SchemeError

WORDS = ["cab", "abcdefabcd", "fed", "deadbeef", "bad", "face", "abba", "cafe"]
DOMAIN = sf.Text(10, "abcdef", nullable=True)
N = 40_000


def table(n: int = N, seed: int = 1) -> dict[str, list[str | None]]:
    """A few frequent words, one in twelve without an answer, and a tail of rare ones."""
    rng = np.random.default_rng(seed)
    rare = ["".join(rng.choice(list("abcdef"), 9)) for _ in range(2000)]
    shares = np.array([0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03])
    drawn = rng.choice(len(shares) + 2, n, p=[*shares, 0.09, 1 - 0.09 - shares.sum()])
    return {"why": [(*WORDS, None, rare[i % 2000])[place] for i, place in enumerate(drawn)]}


def scheme(gamma: float = e**4) -> sf.Scheme:
    return sf.Scheme(sf.Schema({"why": DOMAIN}), {"why": c.prefixes(DOMAIN, gamma, cells=1 << 14)})


@pytest.fixture(scope="module")
def release() -> sf.Release:
    return sf.randomize(table(), scheme(), rng=sf.experiment(2))


def truth(values: list[str | None]) -> np.ndarray:
    held = table()["why"]
    return np.array([held.count(value) for value in values])


def test_frequent_texts_are_found_with_intervals_that_hold(release: sf.Release) -> None:
    top = sf.evidence(release).top("why", 20)
    found = [value for (value,) in top.labels()]
    assert set(found) == {*WORDS, None}
    low, high = top.interval()
    assert ((low <= truth(found)) & (truth(found) <= high)).all()
    assert (np.diff(top.value) <= 0).all()
    assert top.together > 1
    alone = (high - low)[0] / np.diff(sf.evidence(release).listed("why", found[:1]).interval(), axis=0)[0, 0]
    assert alone > 1.5  # they hold together, and come from fewer people


def test_only_so_many_are_told(release: sf.Release) -> None:
    top = sf.evidence(release).top("why", 2)
    assert [value for (value,) in top.labels()] == ["cab", "abcdefabcd"]
    assert top.population().value == pytest.approx(top.value / N)
    assert "together" in repr(top)


def test_named_texts_are_counted(release: sf.Release) -> None:
    named: list[str | None] = ["bad", "cafe", "feed", None]
    found = sf.evidence(release).listed("why", named)
    assert [value for (value,) in found.labels()] == named
    assert (np.abs(found.value - truth(named)) < 5 * found.sd).all()
    low, high = found.contrast("bad", "feed").interval()
    assert low[0] <= truth(["bad"])[0] - truth(["feed"])[0] <= high[0]


def test_nobody_is_found_where_nothing_is_frequent() -> None:
    rng = np.random.default_rng(5)
    rare = {"why": ["".join(rng.choice(list("abcdef"), 10)) for _ in range(N)]}
    with pytest.raises(EstimationError, match="no text of 'why' is frequent enough to be found"):
        sf.evidence(sf.randomize(rare, scheme(), rng=sf.experiment(1))).top("why")


def test_short_texts_are_all_tried() -> None:
    domain = sf.Text(3, "0123456789")
    rng = np.random.default_rng(7)
    codes = rng.choice(["007", "12", "999", "42"], 20_000, p=[0.6, 0.2, 0.15, 0.05])
    one = sf.Scheme.for_gamma(sf.Schema({"code": domain}), 9)
    top = sf.evidence(sf.randomize({"code": codes}, one, rng=sf.experiment(3))).top("code", 5)
    assert [value for (value,) in top.labels()] == ["007", "12", "999", "42"]
    assert top.together == domain.size


def test_two_sites_count_together(release: sf.Release) -> None:
    other = sf.randomize(table(seed=9), scheme(), rng=sf.experiment(4))
    both = sf.evidence(sf.Release.concat([release, other])).top("why", 1)
    assert both.n == 2 * N
    assert both.value[0] == pytest.approx(2 * truth(["cab"])[0], rel=0.1)
    unlike = sf.randomize(table(2000), scheme(3), rng=sf.experiment(4))
    with pytest.raises(EstimationError, match="same channel in every part"):
        sf.evidence(sf.Release.concat([release, unlike])).top("why")


def test_keyed_answers_repeat_in_memory_and_in_files(tmp_path: Path) -> None:
    key, people = sf.new_key(), {**table(300), "id": list(range(300))}
    first = sf.randomize(people, scheme(), key, "id").arrow().sort_by("id")
    target = tmp_path / "r.parquet"
    second = sf.randomize_file(people, target, scheme(), key, "id").arrow().sort_by("id")
    assert first.column("why").to_pylist() == second.column("why").to_pylist()
    people["why"][0] = "fade"
    changed = sf.randomize(people, scheme(), key, "id").arrow().sort_by("id")
    differ = sum(
        a != b for a, b in zip(first.column("why").to_pylist(), changed.column("why").to_pylist(), strict=True)
    )
    assert differ == 1


def test_text_is_asked_for_by_its_top_values_only(release: sf.Release) -> None:
    ev = sf.evidence(release)
    with pytest.raises(SchemeError, match="ask for its top values"):
        ev.counts("why")
    with pytest.raises(EstimationError, match="at least one value"):
        ev.listed("why", [])
    with pytest.raises(EstimationError, match="most must be a whole number"):
        ev.top("why", 0)
    with pytest.raises(sf.SfumatoError, match="too long"):
        ev.listed("why", ["abcdefabcdef"])


def test_text_on_the_command_line(tmp_path: Path, release: sf.Release) -> None:
    target = tmp_path / "r.parquet"
    release.save(target)
    asked = f"estimate {target} --columns why"
    assert "say how many to find, --top 10" in run(asked).error
    ran = run(f"{asked} --top 3 --plot {tmp_path / 'top.svg'}")
    assert ran.code == 0
    assert ran.out.index("cab") < ran.out.index("abcdefabcd") < ran.out.index("fed ")
    assert "nine times in ten" in ran.out + ran.error
    assert (tmp_path / "top.svg").exists()
    assert '"together"' in run(f"{asked} --top 3 --json").out
    assert run(f"{asked} --values cab,feed").code == 0
    assert "goes with" in run(f"{asked} --top 3 --false 0.1").error.replace("go with", "goes with")
    assert "letters: set" in run(f"inspect {target} --rows 2").out
    assert "texts" in run(f"inspect {target}").out
