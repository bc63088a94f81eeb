"""Sfumato: mine data that nobody may see in the clear.

Owners randomize their records under a public scheme; miners estimate counts, densities and models from the randomized
records, every number with its uncertainty; privacy officers read beforehand what an adversary could learn.
"""

from sfumato import channels, datasets, learn
from sfumato.assess import accuracy, attacks, privacy
from sfumato.assess.audit import audit
from sfumato.assess.report import report
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, Evidence, evidence
from sfumato.evidence.density import Density, density
from sfumato.owner import mgas, randomize, randomize_file
from sfumato.owner.resample import resample
from sfumato.owner.transformer import Randomizer
from sfumato.randomness import new_key
from sfumato.release import Release
from sfumato.schema import Categorical, Numeric, Ordinal, Schema
from sfumato.scheme import Scheme

__version__ = "0.1.0"

__all__ = [
    "Categorical",
    "Density",
    "Estimate",
    "Evidence",
    "Numeric",
    "Ordinal",
    "Randomizer",
    "Release",
    "Schema",
    "Scheme",
    "SfumatoError",
    "accuracy",
    "attacks",
    "audit",
    "channels",
    "datasets",
    "density",
    "evidence",
    "learn",
    "mgas",
    "new_key",
    "privacy",
    "randomize",
    "randomize_file",
    "report",
    "resample",
]
