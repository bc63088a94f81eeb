"""Parts of different precision: the shares of the population weigh them by how much they tell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.evidence.blocks import blocks
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.pooled import pooled, precision_weights
from sfumato.evidence.seen import Seen

K = 4
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
SCHEMA = sf.Schema({"a": sf.Categorical(tuple("wxyz"))})
SCHEMES = [sf.Scheme(SCHEMA, {"a": c.symmetric(K, p)}) for p in (0.65, 0.02)]


def drawn(rng: np.random.Generator, sizes: tuple[int, int] = (9000, 1000)) -> Estimate:
    pieces = []
    for scheme, n in zip(SCHEMES, sizes, strict=True):
        q = SHARES @ scheme["a"].matrix
        pieces.append(Seen(("a",), blocks(scheme, ("a",)), rng.multinomial(n, q).astype(float), scheme=scheme))
    return Estimate(SCHEMA, np.sum([piece.centre for piece in pieces], axis=0), tuple(pieces), "moment")


def test_precise_part_counts_more_and_the_error_falls() -> None:
    rng = np.random.default_rng(1)
    errors = {"records": [], "precision": [], "alone": []}
    inside, claimed = [], []
    for _ in range(400):
        found = drawn(rng)
        shares = {
            "records": found.value / found.n,
            "precision": found.population().value,
            "alone": found.seen[1].centre / 1000,
        }
        for name, value in shares.items():
            errors[name].append(((value - SHARES) ** 2).sum())
        low, high = found.population().interval()
        inside.append((low <= SHARES) & (high >= SHARES))
        claimed.append(found.population().variance.sum())
    mean = {name: float(np.mean(values)) for name, values in errors.items()}
    assert mean["precision"] < mean["alone"] < mean["records"] / 3
    assert np.mean(claimed) == pytest.approx(mean["precision"], rel=0.15)
    assert 0.92 < np.mean(inside) < 0.98


def test_parts_alike_count_by_their_records() -> None:
    scheme = SCHEMES[0]
    pieces = [Seen(("a",), blocks(scheme, ("a",)), np.full(K, n), scheme=scheme) for n in (100.0, 300.0)]
    assert precision_weights(pieces) == pytest.approx([0.25, 0.75])


def test_release_of_two_parts_says_how_many_records() -> None:
    rows = pa.table({"a": list("wwxyz") * 100})
    parts = [sf.randomize(rows, scheme, rng=sf.experiment(i)) for i, scheme in enumerate(SCHEMES)]
    ev = sf.evidence(sf.Release.concat(parts))
    found = ev.counts("a", quiet=True)
    whole = found.population()
    assert whole.n == 1000 and whole.value.sum() == pytest.approx(1)
    assert whole.population() is whole
    assert whole.covariance(np.ones(K), np.ones(K)) == pytest.approx(0, abs=1e-12)
    assert np.diag(whole.cov) == pytest.approx(whole.variance)
    assert whole.contrast("w", "z").sd[0] > 0
    assert "1,000 records" in repr(whole)
    for method in ("mle", "project"):
        moved = sf.evidence(sf.Release.concat(parts), method=method).counts("a").population()
        assert moved.value.sum() == pytest.approx(1) and (moved.value >= 0).all()
        assert moved.unbiased == pytest.approx(pooled(found.seen, found.method).value, abs=0.05)
