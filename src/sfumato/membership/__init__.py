"""Who was in the table? One attack by an attacker who knows how the release was made; owner and assess both use it."""

from sfumato.membership.features import FEATURES, loneliest
from sfumato.membership.risk import ERRORS, Risk
from sfumato.membership.shadow import SHADOWS, Filtered, Method, Progress, Shadows, auc, shadow_risk

__all__ = [
    "ERRORS",
    "FEATURES",
    "SHADOWS",
    "Filtered",
    "Method",
    "Progress",
    "Risk",
    "Shadows",
    "auc",
    "loneliest",
    "shadow_risk",
]
