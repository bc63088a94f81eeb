"""The public names of the assessment, as the design fixes them."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import channels as c

PRIVACY = [
    "gamma",
    "epsilon",
    "rho2",
    "breach",
    "conditional_entropy",
    "mutual_information",
    "privacy_loss",
    "interval_privacy",
    "k_anonymity",
    "effective_sample_size",
    "effective_sample_bound",
    "game_value",
    "no_intrusion",
    "map_success",
    "roc",
]
ACCURACY = [
    "information_loss",
    "kl",
    "conditional_kl",
    "kolmogorov",
    "kuiper",
    "anderson_darling",
    "odds_ratio",
    "deterioration",
    "dapl",
    "total_variation",
    "half_width",
]
ATTACKS = [
    "bayes",
    "spectral",
    "pca",
    "bayes_estimate",
    "procrustes",
    "norm_bound",
    "linkage",
    "membership",
    "repeated",
    "rotation_pca",
]


@pytest.mark.parametrize(("module", "names"), [("privacy", PRIVACY), ("accuracy", ACCURACY), ("attacks", ATTACKS)])
def test_names(module, names):
    found = getattr(sf, module)
    for name in names:
        assert callable(getattr(found, name))
        assert name in found.__all__
        assert getattr(found, name).__doc__


def test_audit_and_report_are_functions_of_the_package():
    scheme = sf.Scheme(sf.Schema({"a": sf.Categorical(("n", "y"))}), {"a": c.binary(0.25, 0.25)})
    assert sf.audit(scheme["a"], trials=1000, rng=1).passed
    assert sf.report(scheme, n=100).text().startswith("What does this release disclose?")


def test_every_measure_takes_a_channel_a_matrix_and_an_attribute_of_a_scheme():
    scheme = sf.Scheme(sf.Schema({"a": sf.Categorical(("n", "y"))}), {"a": c.binary(0.25, 0.25)})
    measures = (
        sf.privacy.gamma, sf.privacy.epsilon, sf.privacy.conditional_entropy, sf.privacy.mutual_information,
        sf.privacy.privacy_loss, sf.privacy.effective_sample_size, sf.privacy.effective_sample_bound,
        sf.privacy.game_value, sf.privacy.map_success,
    )  # fmt: skip
    for measure in measures:
        of_channel = measure(c.binary(0.25, 0.25))
        assert measure([[0.75, 0.25], [0.25, 0.75]]) == pytest.approx(of_channel)
        assert measure(scheme, attribute="a") == pytest.approx(of_channel)
