"""What happens where the raw data is: randomize, discretize, and keep account."""

from sfumato.owner.discretize import Groups, mgas
from sfumato.owner.ledger import Ledger
from sfumato.owner.randomize import randomize, randomize_file

__all__ = ["Groups", "Ledger", "mgas", "randomize", "randomize_file"]
