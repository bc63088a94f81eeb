"""Association rules from randomized transactions and tables (Ma 2006, section 7.1)."""

from sfumato.learn.rules.baskets import read_baskets
from sfumato.learn.rules.miner import AssociationRules

__all__ = ["AssociationRules", "read_baskets"]
