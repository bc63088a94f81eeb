"""Asking for a model: one at a time, in a process of its own, from the tables that are kept or from the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.released.part import Part
from sfumato.service import own_process
from sfumato.service.models import worker
from sfumato.service.refusals import RefusalError
from sfumato.service.turns import Turns

#: Seconds until nobody waits for a model any more, also on a busy machine, and how many requests may wait their turn.
TIME, WAITING = 180, 8


@dataclass(frozen=True)
class Source:
    """What a model is learned from: tables, a file with rows that is deleted afterwards, and how many answered."""

    tables: tuple[Part, ...]
    rows: Path | None
    answers: int


class Models:
    """The models of a server. While one is learned others wait, so that answers are still taken."""

    def __init__(self, apart: bool = True) -> None:
        self._apart, self._turns = apart, Turns(1, WAITING, seconds=10)

    async def learn(self, who: str, asked: dict[str, Any], find: Callable[[], Source]) -> dict[str, Any]:
        """The model, asked for with the token ``who``; ``find`` looks up what it is learned from."""
        return await self._turns.run(who, lambda: self._learned(asked, find))

    def _learned(self, asked: dict[str, Any], find: Callable[[], Source]) -> dict[str, Any]:
        found = find()
        try:
            given = worker.packed(asked, found.tables, None if found.rows is None else str(found.rows))
            answer = self._ask(given) if self._apart else worker.answered(given)
        finally:
            if found.rows is not None:
                found.rows.unlink(missing_ok=True)
        if "model" not in answer:
            raise RefusalError("not_possible", answer["refused"])
        return {"answers": found.answers, "level": asked["level"], **answer["model"]}

    def _ask(self, given: bytes) -> dict[str, Any]:
        try:
            return own_process.ask("sfumato.service.models.worker", given, TIME)
        except own_process.NoAnswerError as problem:
            said = (
                f"takes longer than {worker.SECONDS} seconds"
                if problem.late
                else "takes more memory than a server gives it"
            )
            raise RefusalError("not_possible", f"this {said}: choose fewer questions") from None
