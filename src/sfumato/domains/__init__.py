"""The values one attribute may take: categorical, ordinal, a hierarchy, numeric, dates or free text."""

from sfumato.domains.base import Domain, Tally, warn_moved
from sfumato.domains.categorical import Categorical, Ordinal
from sfumato.domains.dates import Date
from sfumato.domains.document import check_bins, domain_from_dict
from sfumato.domains.hierarchy import Hierarchy
from sfumato.domains.numeric import Numeric
from sfumato.domains.text import Text

__all__ = [
    "Categorical",
    "Date",
    "Domain",
    "Hierarchy",
    "Numeric",
    "Ordinal",
    "Tally",
    "Text",
    "check_bins",
    "domain_from_dict",
    "warn_moved",
]
