"""What engines complain of, in our words."""

from __future__ import annotations

import pytest

from sfumato.errors import SfumatoError
from sfumato.reading.problems import without_values


def test_a_full_disk_is_no_damage_of_the_table() -> None:
    """Spark says so among the lines of a trace, below what it was doing."""
    trace = "An error occurred while calling o61.parquet.\n\tat java.io\nCaused by: java.io.IOException: {}"
    with (
        pytest.raises(SfumatoError, match="Spark cannot write the table: the disk is full"),
        without_values("Spark cannot write the table"),
    ):
        raise RuntimeError(trace.format("No space left on device"))
    with pytest.raises(SfumatoError, match="it is damaged"), without_values("Spark cannot write the table"):
        raise RuntimeError(trace.format("Smith"))
