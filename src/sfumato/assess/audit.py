"""Audit: treat a randomizer as a black box and certify, from its answers alone, how much it discloses at least.

Half of the trials choose the event that betrays most, the other half certify it, so that looking costs no confidence.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.assess.certificate import Counts, best_event, fit, limit
from sfumato.assess.subject import channel_of
from sfumato.channels import Channel
from sfumato.channels.base import join_codes, split_codes
from sfumato.errors import SfumatoError
from sfumato.scheme import Scheme

Randomizer = Callable[[Any], Any]

_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Audit:
    """The verdict. ``lower`` is certified: the true gamma is at least this, with confidence 1 - alpha.

    ``fit`` is the p-value of the answers against the published matrix, where there is one: a randomizer that is *more*
    private than claimed breaks no promise of privacy, but every estimate made with that matrix is biased.
    """

    lower: float
    claimed: float | None
    fit: float | None
    alpha: float
    trials: int
    pair: tuple[int, int]  # the inputs that the event tells apart
    event: tuple[int, ...]  # the answers that make up the event
    name: str = "randomizer"

    @property
    def private(self) -> bool | None:
        """Whether the claimed gamma survives."""
        return None if self.claimed is None else self.lower <= self.claimed * (1 + 1e-12)

    @property
    def faithful(self) -> bool | None:
        """Whether the answers follow the published matrix."""
        return None if self.fit is None else self.fit >= self.alpha

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the randomizer."""
        return self.private is not False and self.faithful is not False

    def __str__(self) -> str:
        says = f"{self.name}: gamma is at least {self.lower:.4g} (confidence {1 - self.alpha:.4g})"
        if self.claimed is not None:
            says += f", claimed {self.claimed:.6g}: {'consistent' if self.private else 'VIOLATED'}"
        if self.fit is not None:
            verdict = "follow" if self.faithful else "DO NOT FOLLOW"
            says += f"; answers {verdict} the published matrix (p = {self.fit:.2g})"
        return says


def audit(
    of: Any,
    claimed: float | None = None,
    *,
    against: Any = None,
    inputs: int | Sequence[int] | None = None,
    outputs: int | Sequence[int] | None = None,
    trials: int = 100_000,
    alpha: float = 1e-3,
    rng: np.random.Generator | int | None = None,
    name: str | None = None,
) -> Audit:
    r"""Certify a lower bound on the realised gamma of a channel, a function or a command.

        gamma >= low(Pr(S | x)) / high(Pr(S | x')),     Clopper-Pearson limits at alpha / 2 each, on held-out trials

    A function takes an array of codes and returns one answer for each; give ``inputs`` (and ``outputs`` where they
    differ), or ``against``, the channel it claims to be. Sizes such as (2, 3) mean a row of codes per record. A command
    (a list of words) reads a record per line and writes an answer per line. Every input is asked ``trials`` times.

    >>> from sfumato.channels import symmetric
    >>> audit(symmetric(4, gamma=3), trials=20_000, rng=1).passed
    True
    """
    published = _published(of, against)
    sizes = _sizes(inputs, published.sizes if published else None, "inputs")
    answers = _sizes(outputs, published.outputs if published else sizes, "outputs")
    if claimed is None and published is not None:
        claimed = published.gamma
    _check(claimed, trials, alpha, sizes, answers)
    ask = _asker(of, sizes, answers, rng)
    possible = _possible(published, math.prod(sizes))
    choose = _tally(ask, possible, sizes, answers, trials // 2)
    certify = _tally(ask, possible, sizes, answers, trials - trials // 2)
    x, other, event = best_event(choose, alpha)
    inside = certify[:, event].sum(axis=1)
    half = int(certify[x].sum())
    low = limit(inside[x], half, alpha / 2, upper=False)
    high = limit(inside[other], half, alpha / 2, upper=True)
    p_value = None if published is None else fit(published.matrix[possible], choose + certify)
    pair = (int(possible[x]), int(possible[other]))
    label = name or (str(of) if isinstance(of, Channel) else str(getattr(of, "__name__", "randomizer")))
    found = max(float(low / high), 1.0)
    return Audit(found, claimed, p_value, alpha, trials, pair, tuple(map(int, event)), label)


def audit_scheme(
    scheme: Scheme,
    randomizer: Randomizer | None = None,
    *,
    trials: int = 100_000,
    alpha: float = 1e-3,
    rng: np.random.Generator | int | None = None,
) -> list[Audit]:
    """Audit every group of a scheme through the whole randomizer, the other attributes holding random values.

    ``randomizer`` takes a table of codes (a dict of columns) and returns the released columns; by default the owner's
    own ``randomize``. A column that is passed on unchanged, against the scheme, shows here.
    """
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)
    release = randomizer or _owner(scheme, generator)
    out = []
    for group in scheme.groups:

        def ask(columns: Any, group: Any = group) -> Any:
            rows = len(columns)
            table = {n: generator.integers(0, d.size, rows) for n, d in scheme.schema.items()}
            table |= _valid_others(scheme, group, rows, generator)
            table |= {n: columns[:, i] for i, n in enumerate(group.names)}
            answers = release(table)
            try:
                return np.column_stack([np.asarray(answers[column]) for column in group.columns])
            except (KeyError, ValueError) as problem:
                raise SfumatoError(f"the randomizer must return the columns {group.columns}: {problem}") from None

        channel = group.channel
        seed = generator.integers(1 << 31)
        found = audit(ask, against=channel, trials=trials, alpha=alpha, rng=int(seed), name=" + ".join(group.names))
        out.append(found)
    return out


def _valid_others(scheme: Scheme, own: Any, rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random values for the other groups, only such as their channels allow."""
    out: dict[str, Any] = {}
    for group in scheme.groups:
        cells = getattr(group.channel, "cells", None)
        if group is own or cells is None or not len(cells):
            continue
        drawn = split_codes(rng.choice(cells, rows), group.channel.sizes)
        out |= dict(zip(group.names, drawn, strict=True))
    return out


def _owner(scheme: Scheme, rng: np.random.Generator) -> Randomizer:
    from sfumato.owner import randomize

    def release(table: Any) -> Any:
        rows = randomize(scheme.schema.decode(table), scheme, rng=rng).arrow()
        return {column: rows.column(column).to_numpy() for column in scheme.columns}

    return release


def _published(of: Any, against: Any) -> Channel | None:
    if against is not None:
        return channel_of(against)
    if isinstance(of, Channel):
        return of
    if isinstance(of, Scheme):
        raise SfumatoError("a scheme has many channels: use audit_scheme, or audit one of its groups' channels")
    return None


def _asker(of: Any, sizes: tuple[int, ...], answers: tuple[int, ...], rng: Any) -> Callable[[Counts], Counts]:
    """One function from flat true codes to flat released codes, whatever is audited."""
    generator = rng if isinstance(rng, np.random.Generator) else None if rng is None else np.random.default_rng(rng)
    if isinstance(of, Channel):
        return lambda codes: of.randomize(codes, generator).astype(np.int64)
    if isinstance(of, list | tuple) and all(isinstance(word, str) for word in of):
        call: Randomizer = _command(list(of))
    elif callable(of):
        call = of
    else:
        raise SfumatoError(
            f"audit takes a channel, a function or a command as a list of words, got {type(of).__name__}"
        )

    def ask(codes: Counts) -> Counts:
        columns = np.column_stack(split_codes(codes, sizes)).astype(np.int64)
        got = np.asarray(call(columns if len(sizes) > 1 or len(answers) > 1 else codes))
        return _flat(got, len(codes), answers)

    return ask


def _flat(got: Any, rows: int, answers: tuple[int, ...]) -> Counts:
    got = got[:, 0] if got.ndim == 2 and got.shape[1] == 1 and len(answers) == 1 else got
    expected = (rows,) if len(answers) == 1 else (rows, len(answers))
    if got.shape != expected:
        raise SfumatoError(
            f"the randomizer must give one answer for each of {rows} records, shape {expected}, got {got.shape} instead"
        )
    if got.dtype.kind not in "iub":
        raise SfumatoError(f"the randomizer must answer with whole-number codes, got {got.dtype} instead")
    columns = [got] if got.ndim == 1 else list(got.T)
    for column, size in zip(columns, answers, strict=True):
        if column.min() < 0 or column.max() >= size:
            odd = int(column.min()) if column.min() < 0 else int(column.max())
            raise SfumatoError(f"the randomizer answered {odd}, which is not among the known answers 0 to {size - 1}")
    return join_codes([column.astype(np.int64) for column in columns], answers).astype(np.int64)


def _command(words: list[str]) -> Randomizer:
    def call(codes: Any) -> Any:
        rows = codes[:, None] if codes.ndim == 1 else codes
        text = "\n".join(" ".join(map(str, row)) for row in rows.tolist()) + "\n"
        try:
            done = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            raise SfumatoError(f"the command {words[0]!r} failed: {problem}") from None
        try:
            answers = [[int(part) for part in line.replace(",", " ").split()] for line in done.stdout.splitlines()]
            out = np.array(answers, dtype=np.int64)
        except ValueError:
            raise SfumatoError(
                f"the command {words[0]!r} must write one answer per line, as whole-number codes"
            ) from None
        return out[:, 0] if out.ndim == 2 and out.shape[1] == 1 else out

    return call


def _possible(published: Channel | None, k: int) -> Counts:
    cells = getattr(published, "cells", None)
    return np.arange(k) if cells is None or not len(cells) else np.sort(np.asarray(cells, dtype=np.int64))


def _tally(
    ask: Callable[[Counts], Counts], inputs: Counts, sizes: tuple[int, ...], answers: tuple[int, ...], trials: int
) -> Counts:
    """How often each input gave each answer."""
    m = math.prod(answers)
    out = np.zeros((len(inputs), m), dtype=np.int64)
    batch = max(1, (1 << 20) // trials)
    for start in range(0, len(inputs), batch):
        some = inputs[start : start + batch]
        # inputs take turns, so that a randomizer with a memory is not asked the same thing in one long run
        codes = np.tile(some, trials)
        got = ask(codes)
        cell = np.tile(np.arange(len(some)), trials) * m + got
        out[start : start + len(some)] = np.bincount(cell, minlength=len(some) * m).reshape(len(some), m)
    return out


def _sizes(given: int | Sequence[int] | None, known: tuple[int, ...] | None, what: str) -> tuple[int, ...]:
    if given is None:
        if known is None:
            raise SfumatoError(f"an audited function needs {what}=, how many values it takes, or against= a channel")
        return known
    sizes = tuple(int(size) for size in given) if isinstance(given, Sequence) else (int(given),)
    if not sizes or min(sizes) < 1:
        raise SfumatoError(f"{what} must be numbers of values of at least 1, got {given!r} instead")
    return sizes


def _check(claimed: float | None, trials: int, alpha: float, sizes: tuple[int, ...], answers: tuple[int, ...]) -> None:
    if claimed is not None and not claimed >= 1:
        raise SfumatoError(f"claimed must be a gamma of at least 1, got {claimed} instead")
    if trials < 100:
        raise SfumatoError(f"trials must be at least 100 for each input, got {trials} instead")
    if not 0 < alpha < 0.5:
        raise SfumatoError(f"alpha must lie in (0, 0.5), got {alpha} instead")
    if math.prod(sizes) < 2:
        raise SfumatoError("an audit needs at least two inputs to tell apart, got 1")
    if math.prod(sizes) * math.prod(answers) > _MOST_CELLS:
        raise SfumatoError(
            f"{math.prod(sizes)} inputs by {math.prod(answers)} answers are too many to audit at once: "
            f"audit groups of attributes one by one"
        )
