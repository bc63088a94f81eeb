"""Turns: who has to come back is told whose requests are in the way."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sfumato.service.refusals import RefusalError
from sfumato.service.turns import Turns


def _refused(asking, who):
    """Why ``who`` is refused while the tokens of ``asking`` wait for an answer."""

    async def asked():
        turns, go = Turns(1, 4, seconds=7), threading.Event()
        waiting = [asyncio.create_task(turns.run(one, lambda: go.wait(20))) for one in asking]
        await asyncio.sleep(0)
        with pytest.raises(RefusalError) as refused:
            await turns.run(who, lambda: None)
        go.set()
        await asyncio.gather(*waiting)
        await turns.run(who, lambda: None)  # now it is answered
        return refused.value

    return asyncio.run(asked())


def test_ones_own_requests_are_not_called_others():
    refused = _refused(["a", "a"], "a")
    assert str(refused) == "2 requests with this token are being answered: ask again in a moment"
    assert (refused.code, refused.details) == ("busy", {"seconds": 7})


def test_others_are_called_so():
    assert str(_refused(["a", "a", "b", "b"], "c")) == "others are being answered: ask again in a moment"
