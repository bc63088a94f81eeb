"""Sfumato: mine data that nobody may see in the clear.

Owners randomize their records under a public scheme; miners estimate counts, densities and models from the randomized
records, every number with its uncertainty; privacy officers read beforehand what an adversary could learn.
"""

from sfumato import channels, learn
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, Evidence, evidence
from sfumato.owner import randomize, randomize_file
from sfumato.randomness import new_key
from sfumato.release import Release
from sfumato.schema import Categorical, Numeric, Ordinal, Schema
from sfumato.scheme import Scheme

__version__ = "0.1.0"

__all__ = [
    "Categorical",
    "Estimate",
    "Evidence",
    "Numeric",
    "Ordinal",
    "Release",
    "Schema",
    "Scheme",
    "SfumatoError",
    "channels",
    "evidence",
    "learn",
    "new_key",
    "randomize",
    "randomize_file",
]
