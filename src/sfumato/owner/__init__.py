"""What happens where the raw data is: randomize, discretize, and keep account."""

from sfumato.owner.randomize import randomize, randomize_file

__all__ = ["randomize", "randomize_file"]
