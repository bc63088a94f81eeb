"""No crowd is promised to people whom an answer in the clear may tell from all others."""

from __future__ import annotations

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.report.person import person

SCHEMA = sf.Schema({"zip": sf.Categorical(tuple(map(str, range(1000)))), "ill": sf.Categorical(("no", "yes"))})


def test_what_passes_in_the_clear_takes_the_crowd_away() -> None:
    open_zip = sf.Scheme(SCHEMA, {"ill": c.binary(0.25, 0.25)}, clear=["zip"])
    found = person(open_zip, 100_000, 1)
    assert found.among == found.alone > 1
    alone = person(open_zip.select(["ill"]), 100_000, 1)  # the control: without it there is a crowd
    assert alone.among < 0.1 * alone.alone
