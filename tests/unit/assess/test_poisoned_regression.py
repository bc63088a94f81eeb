"""How far false answers move coefficients: the bound against regressions that are fitted again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.assess.poisoned_regression import poisoned_coefficients
from sfumato.errors import SfumatoError
from sfumato.evidence.counted import counted

SCHEMA = sf.Schema(
    {"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 60, bins=3), "ill": sf.Ordinal(("no", "some", "yes"))}
)
SCHEME = sf.Scheme(
    SCHEMA,
    {"sex": sf.channels.symmetric(2, 0.1), "age": sf.channels.symmetric(3, 0.1), "ill": sf.channels.symmetric(3, 0.1)},
)
SHARE = 0.002


@pytest.fixture(scope="module")
def release():
    rng = np.random.default_rng(3)
    sex, age = rng.integers(0, 2, 20000), rng.uniform(0, 60, 20000)
    ill = np.clip((age / 30 + 0.6 * sex + rng.normal(0, 0.8, 20000)).astype(int), 0, 2)
    table = {"sex": np.array(["F", "M"])[sex], "age": age, "ill": np.array(["no", "some", "yes"])[ill]}
    return counted(sf.randomize(table, SCHEME, rng=sf.experiment(4)), [["sex", "age", "ill"]])


CASES = [("gaussian", "age", None), ("logistic", "ill", "yes"), ("ordinal", "ill", None)]


@pytest.mark.parametrize("family, target, event", CASES)
def test_coefficients_move_as_far_as_when_they_are_fitted_to_the_false_answers(release, family, target, event):
    model = sf.learn.Regression(family, event=event)
    ev = sf.evidence(release)
    before = model.fit(ev, target=target).coef_
    down, up = poisoned_coefficients(ev, SHARE, model)
    (part,) = release.parts
    ((columns, counts),) = part.tables.items()
    P = np.kron(np.kron(*(SCHEME[name].matrix for name in columns[:2])), SCHEME[columns[2]].matrix)

    def moved(y, x):
        """Fitted again, when the false answers are all y and their senders all hold x."""
        false = np.rint(1000 * (counts - SHARE * part.records * (P[x] - np.eye(len(counts))[y]))).astype(np.int64)
        again = replace(part, rows={columns: false}, records=int(false.sum()))
        return sf.learn.Regression(family, event=event).fit(sf.Release.of([again]), target=target).coef_ - before

    answers = np.array([moved(y, 0) for y in range(len(counts))])
    senders = np.array([moved(0, x) for x in range(len(counts))]) - moved(0, 0)  # to first order both add up
    assert up == pytest.approx(answers.max(axis=0) + senders.max(axis=0), rel=0.05)
    assert down == pytest.approx(answers.min(axis=0) + senders.min(axis=0), rel=0.05)


def test_what_has_no_bound_is_said(release):
    model = sf.learn.Regression("logistic", through="model", event="yes").fit(release, target="ill")
    with pytest.raises(SfumatoError, match="not told"):
        poisoned_coefficients(sf.evidence(release), SHARE, model)
