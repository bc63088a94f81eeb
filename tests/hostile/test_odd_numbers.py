"""Numbers at the ends of what doubles hold, and releases without rows: an answer or one line, never a silent nonsense."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError, SchemaError


@pytest.mark.parametrize("limits", [(0, 1e300), (-1e120, 0), (-1e-300, 1e-300), (0, 1e-80)])
@pytest.mark.parametrize("kind", ["bins", "points"])
def test_limits_whose_squares_are_no_numbers_are_refused(limits: tuple[float, float], kind: str) -> None:
    """Their means had no limits, and regressions on them standard errors of 0."""
    with pytest.raises(SchemaError, match="change the unit"):
        sf.Numeric(*limits, **{kind: 3})
    with pytest.raises(SchemaError, match="change the unit"):
        sf.Numeric(edges=(*limits[:1], sum(limits) / 2, *limits[1:]))


@pytest.mark.parametrize("limits", [(-1e50, 1e50), (0, 1e-40)])
def test_what_is_allowed_has_finite_answers(limits: tuple[float, float]) -> None:
    schema = sf.Schema({"a": sf.Numeric(*limits, bins=3), "b": sf.Ordinal((0, 1, 2))})
    scheme = sf.Scheme(schema, {"a": c.symmetric(3, gamma=9), "b": c.symmetric(3, gamma=9)})
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 3, 2000) for name in ("a", "b")}
    evidence = sf.evidence(sf.Release(pa.table(rows), scheme))
    for answer in (evidence.mean("a"), evidence.mean("a", by="b"), evidence.correlation("a", "b")):
        assert np.isfinite(answer.interval()).all() and (answer.sd > 0).all()
    assert (sf.learn.Regression(family="gaussian").fit(evidence, target="b", names=["a"]).cov_.diagonal() > 0).all()


def test_a_release_without_rows_is_said_to_be_empty() -> None:
    scheme = sf.Scheme(sf.Schema({"a": sf.Categorical(("x", "y"))}), {"a": c.symmetric(2, gamma=3)})
    empty = sf.Release(pa.table({"a": pa.array([], pa.uint8())}), scheme)
    with pytest.raises(EstimationError, match="no answers"):
        sf.accuracy.robust(empty, 0.05, attribute="a")
