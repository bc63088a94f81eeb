"""Asking a randomizer that we cannot look into: a channel, a function of codes, or a program."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.assess.certificate import Counts
from sfumato.channels import Channel
from sfumato.channels.codes import join_codes, split_codes
from sfumato.errors import SfumatoError
from sfumato.randomness import numpy_generator

Randomizer = Callable[[Any], Any]


def asker(of: Any, sizes: tuple[int, ...], answers: tuple[int, ...], rng: Any) -> Callable[[Counts], Counts]:
    """One function from flat true codes to flat released codes, whatever is audited."""
    generator = None if rng is None else numpy_generator(rng)
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
        said = call(columns if len(sizes) > 1 or len(answers) > 1 else codes)
        try:
            got = np.asarray(said)
        except ValueError:
            raise SfumatoError("the randomizer must give equally many codes for every record") from None
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
    if not words:
        raise SfumatoError("the command must have at least one word, the program to run")

    def call(codes: Any) -> Any:
        rows = codes[:, None] if codes.ndim == 1 else codes
        text = "\n".join(" ".join(map(str, row)) for row in rows.tolist()) + "\n"
        try:
            done = subprocess.run(words, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            raise SfumatoError(f"the command {words[0]!r} failed: {problem}") from None
        except UnicodeDecodeError:
            raise SfumatoError(f"the command {words[0]!r} must write whole-number codes, and wrote no text") from None
        try:
            answers = [[int(part) for part in line.replace(",", " ").split()] for line in done.stdout.splitlines()]
            out = np.array(answers, dtype=np.int64)
        except (ValueError, OverflowError):
            raise SfumatoError(
                f"the command {words[0]!r} must write one answer per line, as whole-number codes"
            ) from None
        return out[:, 0] if out.ndim == 2 and out.shape[1] == 1 else out

    return call


def tally(ask: Callable[[Counts], Counts], inputs: Counts, answers: tuple[int, ...], trials: int) -> Counts:
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
