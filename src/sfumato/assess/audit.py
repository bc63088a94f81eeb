"""Audit: treat a randomizer as a black box and certify, from its answers alone, how much it discloses at least.

Half of the trials choose the event that betrays most, the other half certify it, so that looking costs no confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.assess.blackbox import Randomizer, asker, tally
from sfumato.assess.certificate import Counts, best_event, fit, limit
from sfumato.assess.subject import channel_of
from sfumato.channels import Channel
from sfumato.channels.codes import split_codes
from sfumato.channels.valid import ValidSymmetric
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_kind, given
from sfumato.owner.request import answered_rows
from sfumato.printable import printable
from sfumato.randomness import numpy_generator, source
from sfumato.scheme import Scheme

_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class Audit:
    """The verdict. ``lower`` is certified: the true gamma is at least this, with confidence 1 - alpha.

    alpha is the risk of blaming an honest randomizer; where there is a published matrix, half of it goes to each test.

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
        return None if self.fit is None else self.fit >= self.alpha / 2

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the randomizer."""
        return self.private is not False and self.faithful is not False

    def __str__(self) -> str:
        if self.lower > 1:
            says = f"{self.name}: gamma is at least {self.lower:.4g} (confidence {1 - self.alpha:.6g})"
        else:
            says = f"{self.name}: nothing was certified about gamma, which takes more than {self.trials:,} trials"
        if self.claimed is not None:
            says += f", claimed {self.claimed:.6g}: {'consistent' if self.private else 'VIOLATED'}"
        if self.fit is not None:
            verdict = "follow" if self.faithful else "DO NOT FOLLOW"
            says += f"; answers {verdict} the published matrix (p = {self.fit:.2g})"
        return printable(says)


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

        gamma >= low(Pr(S | x)) / high(Pr(S | x')),     Clopper-Pearson limits that share alpha, on held-out trials

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
    if published is not None and outputs is not None and math.prod(answers) != published.m:
        raise SfumatoError(f"outputs must be the {published.m} answers of the channel, got {given(outputs)} instead")
    trials = _whole(trials)
    _check(claimed, trials, alpha, sizes, answers)
    risk = alpha if published is None else alpha / 2  # the other half is for the fit
    ask = asker(of, sizes, answers, rng)
    possible = _possible(published, math.prod(sizes))
    choose = tally(ask, possible, answers, trials // 2)
    certify = tally(ask, possible, answers, trials - trials // 2)
    x, other, event = best_event(choose, risk)
    inside = certify[:, event].sum(axis=1)
    half = int(certify[x].sum())
    low = limit(inside[x], half, risk / 2, upper=False)
    high = limit(inside[other], half, risk / 2, upper=True)
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
    own ``randomize``. A column that is passed on unchanged, against the scheme, shows here. The groups share alpha, the
    risk of blaming an honest randomizer for any of them.
    """
    generator = numpy_generator(rng)
    release = randomizer or _owner(scheme, None if rng is None else generator)
    out = []
    questions = list(_questions(scheme))
    share = alpha / max(len(questions), 1)
    for names, columns, channel in questions:

        def ask(codes: Any, names: Any = names, columns: Any = columns) -> Any:
            rows = len(codes)
            table = {n: generator.integers(0, d.size, rows) for n, d in scheme.schema.items()}
            table |= _valid_others(scheme, names, rows, generator)
            table |= dict(zip(names, codes.reshape(rows, -1).T, strict=True))
            answers = release(table)
            try:
                return np.column_stack([np.asarray(answers[column]) for column in columns])
            except (KeyError, ValueError) as problem:
                raise SfumatoError(f"the randomizer must return the columns {columns}: {problem}") from None

        found = audit(ask, against=channel, trials=trials, alpha=share, name=" + ".join(names))
        out.append(found)
    return out


def _questions(scheme: Scheme) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], Channel]]:
    """What is randomized together: attributes, released columns and channel; channels side by side one by one."""
    for group in scheme.groups:
        if group.channel.continuous:
            continue  # it promises no gamma that could be broken
        if not group.channel.listed:
            raise SfumatoError(f"{group.names[0]!r} is free text, with too many values to audit: leave it out")
        for names, channel in group.channel.factors(group.names):
            if channel.k > 1:
                yield names, tuple(channel.columns(names)), channel


def _valid_others(scheme: Scheme, own: tuple[str, ...], rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Random values for the other groups, only such as their channels allow."""
    out: dict[str, Any] = {}
    for group in scheme.groups:
        channel = group.channel
        if group.names != own and isinstance(channel, ValidSymmetric):
            drawn = split_codes(rng.choice(channel.cells, rows), channel.sizes)
            out |= dict(zip(group.names, drawn, strict=True))
    return out


def _owner(scheme: Scheme, rng: np.random.Generator | None) -> Randomizer:
    def release(table: Any) -> Any:
        rows = answered_rows(scheme.schema.decode(table), scheme, source(rng))
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


def _possible(published: Channel | None, k: int) -> Counts:
    """The inputs that are asked: all, but for combinations that the channel rules out."""
    if isinstance(published, ValidSymmetric) and published.bound_sizes is not None:
        return np.sort(published.cells)
    return np.arange(k)


def _sizes(given: int | Sequence[int] | None, known: tuple[int, ...] | None, what: str) -> tuple[int, ...]:
    if given is None:
        if known is None:
            raise SfumatoError(f"an audited function needs {what}=, how many values it takes, or against= a channel")
        return known
    sizes = tuple(given) if isinstance(given, Sequence) else (given,)
    if not sizes or not all(isinstance(size, int | np.integer) and size >= 1 for size in sizes):
        raise SfumatoError(f"{what} must be whole numbers of values of at least 1, got {given!r} instead")
    return sizes


def _whole(trials: Any) -> int:
    if isinstance(trials, bool) or not isinstance(trials, int | float | np.number) or not float(trials).is_integer():
        raise SfumatoError(f"trials must be a whole number, got {trials!r} instead")
    return int(trials)


def _check(claimed: float | None, trials: int, alpha: float, sizes: tuple[int, ...], answers: tuple[int, ...]) -> None:
    for name, value in (("claimed", 1.0 if claimed is None else claimed), ("alpha", alpha)):
        check_kind(SfumatoError, name, value, (int, float, np.number), "a number")
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
