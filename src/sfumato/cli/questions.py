"""sfumato estimate --mean, --median, --quantiles, --cdf, --correlation: what analysts ask, in a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.cli import console
from sfumato.cli.option_names import in_options
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.plot import MOST_DRAWN
from sfumato.evidence.questions.rows import Rows
from sfumato.printable import level_text, many
from sfumato.reading.name_lists import listed
from sfumato.writing.data_frames import free_name


@dataclass(frozen=True)
class Question:
    """One question, as the options put it."""

    mean: str | None = None
    median: str | None = None
    quantiles: str | None = None
    cdf: str | None = None
    correlation: str | None = None
    by: str | None = None
    smooth: bool | None = None

    @property
    def asked(self) -> bool:
        return any((self.mean, self.median, self.quantiles, self.cdf, self.correlation))

    def check(self, columns: str | None) -> None:
        """Refuse options that do not go together."""
        kinds = {"--mean": self.mean, "--cdf": self.cdf, "--correlation": self.correlation}
        given = [option for option, value in kinds.items() if value]
        given += ["--quantiles" if self.quantiles else "--median"] * bool(self.quantiles or self.median)
        named = {**kinds, "--median": self.median, "--quantiles": self.quantiles, "--by": self.by}
        for option, value in named.items():
            if value is not None and not listed(value):
                raise SfumatoError(f"{option} names nothing")
        if len(given) > 1:
            raise SfumatoError(f"{given[0]} and {given[1]} are two questions: ask one at a time")
        if not given and not columns:
            raise SfumatoError("say what to estimate: --columns sex,grade for counts, --mean income, --median income")
        if not given and self.by:
            raise SfumatoError("--by goes with --mean, --median, --quantiles, --cdf or --correlation")
        if self.smooth is not None and (not given or self.correlation):
            raise SfumatoError("--smooth and --no-smooth go with --mean, --median, --quantiles or --cdf")
        if columns and given and (given[0] != "--quantiles" or self.median):
            raise SfumatoError(f"{given[0]} names its own attribute: leave --columns out, or give --by")

    def answer(self, ev: Evidence, columns: str | None, where: dict[str, Any]) -> Rows:
        by = listed(self.by, ev.schema) if self.by else None
        for option, name in (("--mean", self.mean), ("--median", self.median), ("--cdf", self.cdf)):
            if name and name not in ev.schema and len(listed(name)) > 1:
                raise SfumatoError(f"{option} takes one attribute, got {name} instead: ask for one after the other")
        if self.mean:
            return ev.mean(self.mean, by, where, smooth=self.smooth)
        if self.cdf:
            return ev.cdf(self.cdf, by, where, smooth=self.smooth)
        if self.correlation:
            names = listed(self.correlation, ev.schema)
            if len(names) != 2:
                raise SfumatoError(f"--correlation takes two attributes, age,income, got {self.correlation!r} instead")
            return ev.correlation(names[0], names[1], by, where)
        if self.quantiles is None:
            return ev.quantile(self.median or "", 0.5, by, where, smooth=self.smooth)
        names = listed(self.median or columns or "", ev.schema)
        if len(names) != 1:
            raise SfumatoError("--quantiles needs the attribute: --quantiles .25,.5,.75 --columns income")
        return ev.quantile(names[0], _numbers(self.quantiles), by, where, smooth=self.smooth)


def answer(found: Rows, level: float, rows: int, plot: Path | None, json: bool, where: dict[str, Any]) -> None:
    """Print the answer, or write it as JSON, and draw it where asked."""
    frame = found.frame(level)
    if plot is not None:
        if found.running is None and len(found.value) > MOST_DRAWN:
            raise SfumatoError(f"--plot: {len(found.value)} rows cannot be read in a picture; ask for {MOST_DRAWN}")
        found.plot(plot, level=level)
    if json:
        told = {"question": found.title, "n": found.n, "level": level, "population": found.population_kind}
        held = {"where": where} if where else {}
        flag = free_name("known", frame.column_names)
        known = [bool(one) for one in ~found.open(level)]
        every = [{**row, flag: one} for row, one in zip(frame.to_pylist(), known, strict=True)]
        console.emit({**told, **held, "rows": every, "notes": list(found.notes)})
        return
    about = "the population" if found.of_population else "this table"
    console.say(f"{found.title}; of {about}, {many(found.n, 'randomized record')}, intervals {level_text(level)}")
    console.table(*found.in_words(level, rows))
    if frame.num_rows > rows:
        console.note(f"the first {rows:,} of {frame.num_rows:,} rows: --rows shows more, --json all of them")
    for note in found.notes:
        console.note(in_options(note))


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise SfumatoError(f"--quantiles takes numbers in (0, 1), .25,.5,.75, got {text!r} instead") from None
