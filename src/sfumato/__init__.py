"""Sfumato: mine data that nobody may see in the clear.

Owners randomize their records under a public scheme; miners estimate counts, densities and models from the randomized
records, every number with its uncertainty; privacy officers read beforehand what an adversary could learn.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato import channels, datasets, errors
from sfumato.errors import SfumatoError
from sfumato.evidence import Estimate, Evidence, evidence
from sfumato.forms import Forms
from sfumato.owner import Groups, Ledger, mgas, randomize, randomize_file
from sfumato.randomness import experiment
from sfumato.reading.csv_format import CsvFile
from sfumato.release import Release
from sfumato.schema import Categorical, Date, Hierarchy, Numeric, Ordinal, Schema, Text
from sfumato.scheme import Scheme
from sfumato.secrets.keys import new_key, new_link_key

if TYPE_CHECKING:
    from sfumato import design, learn
    from sfumato.assess import accuracy, attacks, privacy
    from sfumato.assess.audit import audit
    from sfumato.assess.report import report
    from sfumato.evidence.counted import counted
    from sfumato.evidence.density import Density, Stop, density
    from sfumato.owner.many_files import randomize_folder
    from sfumato.owner.resample import resample, resample_file
    from sfumato.owner.secure_sum import add_shares, secure_sum, split_counts
    from sfumato.owner.transformer import Randomizer
    from sfumato.reading.spark_session import spark_session
    from sfumato.released.shares import Share

__version__ = "0.1.0"

__all__ = [
    "Categorical",
    "CsvFile",
    "Date",
    "Density",
    "Estimate",
    "Evidence",
    "Forms",
    "Groups",
    "Hierarchy",
    "Ledger",
    "Numeric",
    "Ordinal",
    "Randomizer",
    "Release",
    "Schema",
    "Scheme",
    "SfumatoError",
    "Share",
    "Stop",
    "Text",
    "accuracy",
    "add_shares",
    "attacks",
    "audit",
    "channels",
    "counted",
    "datasets",
    "density",
    "design",
    "errors",
    "evidence",
    "experiment",
    "learn",
    "mgas",
    "new_key",
    "new_link_key",
    "privacy",
    "randomize",
    "randomize_file",
    "randomize_folder",
    "report",
    "resample",
    "resample_file",
    "secure_sum",
    "spark_session",
    "split_counts",
]

#: What is loaded only when it is asked for, so that importing the package stays quick.
_LATER = {
    "Density": "sfumato.evidence.density:Density",
    "Randomizer": "sfumato.owner.transformer:Randomizer",
    "Stop": "sfumato.evidence.density:Stop",
    "Share": "sfumato.released.shares:Share",
    "accuracy": "sfumato.assess.accuracy",
    "add_shares": "sfumato.owner.secure_sum:add_shares",
    "counted": "sfumato.evidence.counted:counted",
    "attacks": "sfumato.assess.attacks",
    "audit": "sfumato.assess.audit:audit",
    "density": "sfumato.evidence.density:density",
    "design": "sfumato.design",
    "learn": "sfumato.learn",
    "privacy": "sfumato.assess.privacy",
    "randomize_folder": "sfumato.owner.many_files:randomize_folder",
    "report": "sfumato.assess.report:report",
    "resample": "sfumato.owner.resample:resample",
    "resample_file": "sfumato.owner.resample:resample_file",
    "secure_sum": "sfumato.owner.secure_sum:secure_sum",
    "spark_session": "sfumato.reading.spark_session:spark_session",
    "split_counts": "sfumato.owner.secure_sum:split_counts",
}


if not TYPE_CHECKING:  # a type checker would take every name for one of these: sf.randomise must not pass

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(_no_attribute(name))
        module, _, attribute = _LATER[name].partition(":")
        found = import_module(module)
        globals()[name] = getattr(found, attribute) if attribute else found
        return globals()[name]


def _no_attribute(name: str) -> str:
    near = get_close_matches(name, __all__, n=1)
    return f"module 'sfumato' has no attribute {name!r}" + (f": did you mean {near[0]!r}?" if near else "")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
