"""How large a covariance matrix may be."""

from __future__ import annotations

from sfumato.errors import EstimationError

#: The most cells for which the full covariance matrix is formed.
COVARIANCE_CELLS = 1 << 12


def check_covariance(cells: int) -> None:
    """Refuse a covariance matrix that would not fit."""
    if cells > COVARIANCE_CELLS:
        raise EstimationError(
            f"the covariance of {cells} cells would have {cells}^2 entries; use sd, or ask for fewer attributes"
        )
