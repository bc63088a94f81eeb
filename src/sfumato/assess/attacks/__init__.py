"""Attacks, each the best known against its kind of release: ``sfumato.attacks``.

Every attack returns what it recovered, its error, and the error of knowing nothing.
"""

from sfumato.assess.attacks.additive import average, bayes_estimate, pca, spectral
from sfumato.assess.attacks.link import link
from sfumato.assess.attacks.linkage import linkage
from sfumato.assess.attacks.membership import membership
from sfumato.assess.attacks.norms import NormBound, element_bound, norm_bound
from sfumato.assess.attacks.posterior import bayes, repeated
from sfumato.assess.attacks.recovery import Recovery
from sfumato.assess.attacks.rotation import procrustes, rotation_pca
from sfumato.assess.attacks.track import track

__all__ = [
    "NormBound",
    "Recovery",
    "average",
    "bayes",
    "bayes_estimate",
    "element_bound",
    "link",
    "linkage",
    "membership",
    "norm_bound",
    "pca",
    "procrustes",
    "repeated",
    "rotation_pca",
    "spectral",
    "track",
]
