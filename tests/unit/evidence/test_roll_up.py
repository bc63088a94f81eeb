"""Counts of a wider level are sums over the values below it, with the covariance of all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ChannelError, EstimationError, SchemaError

PLACE = sf.Hierarchy(
    levels=("region", "county", "town"),
    tree={f"R{r}": {f"C{r}{k}": [f"t{r}{k}{i}" for i in range(3)] for k in range(2)} for r in range(2)},
    nullable=True,
)
SCHEMA = sf.Schema({"place": PLACE, "sex": sf.Categorical(("F", "M"))})
N = 6000


def table(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.choice(PLACE.size, N, p=rng.dirichlet(np.ones(PLACE.size)))
    return {"place": np.array(PLACE.labels, dtype=object)[codes], "sex": rng.choice(["F", "M"], N)}


CHANNELS = {"subset": c.subset(PLACE.size, 9), "levels": c.tree_levels(PLACE, 9)}


def released(channel: c.Channel, seed: int = 1) -> sf.Release:
    scheme = sf.Scheme(SCHEMA, {"place": channel, "sex": c.binary(0.2, 0.2)})
    return sf.randomize(table(), scheme, rng=sf.experiment(seed))


def truth(level: str) -> np.ndarray:
    return np.bincount(PLACE.into(level)[PLACE.encode(table()["place"])])


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS.keys())
@pytest.mark.parametrize("level", ["region", "county"])
def test_a_level_is_the_sum_of_its_values_with_their_covariance(channel: c.Channel, level: str) -> None:
    ev = sf.evidence(released(channel))
    every, wide = ev.counts("place", quiet=True), ev.counts("place", level=level)
    G = np.eye(PLACE.at(level).size)[PLACE.into(level)]
    assert wide.value == pytest.approx(every.value @ G)
    assert wide.cov == pytest.approx(G.T @ every.cov @ G, abs=1e-6)
    assert wide.variance == pytest.approx(np.diag(wide.cov))
    assert [label for (label,) in wide.labels()] == list(PLACE.at(level).labels)
    low, high = wide.interval(1 - 1e-6)
    assert ((low <= truth(level)) & (truth(level) <= high)).all()


def test_beside_other_attributes_and_by_other_methods() -> None:
    release = released(CHANNELS["levels"])
    both = sf.evidence(release).counts(["sex", "place"], level={"place": "county"})
    assert both.shape == (2, 5)
    assert both.table.sum(axis=0) == pytest.approx(sf.evidence(release).counts("place", level="county").value)
    for method in ("mle", "model", "project"):
        found = sf.evidence(release, method=method).counts("place", level="region")
        assert found.value.sum() == pytest.approx(N)
        assert (np.abs(found.value - truth("region")) < 6 * found.sd + 1).all()


def test_a_level_of_very_many_values_is_covered() -> None:
    rng = np.random.default_rng(4)
    many = sf.Hierarchy(levels=("county", "town"), tree={f"C{k}": [f"t{k} {i}" for i in range(100)] for k in range(30)})
    scheme = sf.Scheme(sf.Schema({"place": many}), {"place": c.subset(3000, 20)})
    codes = rng.choice(3000, 20_000, p=np.repeat(rng.dirichlet(np.ones(30)), 100) / 100)
    release = sf.randomize({"place": np.array(many.values)[codes]}, scheme, rng=sf.experiment(1))
    wide = sf.evidence(release).counts("place", level="county")
    every = sf.evidence(release).counts("place", quiet=True)
    assert wide.value == pytest.approx(every.value.reshape(30, 100).sum(axis=1))
    off = (wide.value - np.bincount(codes // 100, minlength=30)) / wide.sd
    assert 0.5 < float((off**2).mean()) < 2.0
    low, high = wide.interval(1 - 1e-6)
    assert ((low <= np.bincount(codes // 100)) & (np.bincount(codes // 100) <= high)).all()


def test_answers_about_levels_tell_more_of_them() -> None:
    alone, levels = (sf.evidence(released(channel)).counts("place", level="region") for channel in CHANNELS.values())
    assert levels.sd.mean() < 0.8 * alone.sd.mean()
    assert all(channel.gamma <= 9 for channel in CHANNELS.values())


def test_the_exact_gamma_is_that_of_the_matrix() -> None:
    channel = c.tree_levels(PLACE, 3, {"town": 2, "region": 1})
    assert channel.gamma == float(max(channel.weights.max(axis=0).astype(float) / channel.weights.min(axis=0)))
    assert channel.outputs[0] == channel.weights.shape[1]
    assert c.from_dict(channel.to_dict()) == channel


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda ev: ev.counts("place", level="street"), "there is no level 'street'"),
        (lambda ev: ev.counts("sex", level="county"), "none of them is a hierarchy"),
        (lambda ev: ev.counts("sex", level={"sex": "county"}), "'sex' has no levels"),
        (lambda ev: ev.counts("sex", level={"place": "county"}), "which was not asked for"),
    ],
)
def test_an_unknown_level_is_told_in_one_line(ask: object, why: str) -> None:
    with pytest.raises((EstimationError, SchemaError), match=why):
        ask(sf.evidence(released(CHANNELS["subset"])))  # type: ignore[operator]


def test_what_does_not_fit_the_channel_is_refused() -> None:
    with pytest.raises(ChannelError, match="takes the domain of a hierarchy"):
        c.tree_levels(SCHEMA["sex"], 3)
    with pytest.raises(ChannelError, match="there is no level 'street'"):
        c.tree_levels(PLACE, 3, {"street": 1})
    with pytest.raises(ChannelError, match="narrowest level must be among"):
        c.tree_levels(PLACE, 3, {"county": 1})
    described = CHANNELS["levels"].to_dict()
    described["levels"][1]["above"][0] = 99
    with pytest.raises(ChannelError, match="every level must have two values or more"):
        c.from_dict(described)


def test_levels_on_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "r.parquet"
    released(CHANNELS["levels"]).save(target)
    ran = run(f"estimate {target} --columns place --roll-up region")
    assert ran.code == 0
    assert "R0" in ran.out
    assert "t000" not in ran.out
    assert "C01" in run(f"estimate {target} --columns sex --where place=C01 --roll-up place=county").out
    assert (
        "--roll-up: none of the columns has a level 'street'"
        in run(f"estimate {target} --columns place --roll-up street").error
    )
    assert "there is no level" in run(f"estimate {target} --columns place --roll-up place=street").error
    assert "goes with --columns alone" in run(f"estimate {target} --mean sex --roll-up place=county").error
