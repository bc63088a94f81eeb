"""The linking attack: a register of names and quasi-identifiers beside released records (Ma 2006, figure 1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import Recovery
from sfumato.channels.codes import join_codes
from sfumato.errors import SfumatoError
from sfumato.evidence.blocks import Block, blocks
from sfumato.evidence.seen import seen_records
from sfumato.forms import Forms
from sfumato.randomness import numpy_generator
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.scheme import Scheme

Codes = NDArray[np.int64]

_BESIDE = "naming anybody"
_AT_ONCE = 1 << 22  # likelihoods that are held at a time


def link(
    of: Release | Scheme | Forms,
    register: Any,
    own: ArrayLike | None = None,
    *,
    columns: Sequence[str] | None = None,
    rng: np.random.Generator | int | None = None,
) -> Recovery:
    r"""Name the person of a register under whom each released record is most likely.

        Pr(record y belongs to person r)  =  L_r / sum over r' of L_r',     L_r = prod over attributes of P[x_r, y]

    ``register`` is any table with some attributes of the release, which the adversary knows of everybody in it;
    ``columns`` says which, all that they share unless told. ``own`` gives the register's row (from 0) of each released
    record, where it is known: then the share of right links is counted. Otherwise it is the expected one, if everybody
    in the release stands in the register once. Of a scheme or forms alone, the register itself is randomized and
    attacked. Records whose form asks nothing that the register has are named blindly.
    Naming anybody is right once in as many times as the register has rows.
    """
    shared = _shared(of, register, columns)
    codes = of.schema.select(shared).encode(register)
    rows = len(next(iter(codes.values())))
    if not rows:
        raise SfumatoError("the register is empty")
    pieces = []
    if isinstance(of, Release):
        owners, first = None if own is None else _owners(own, len(of), rows), 0
        for part in of.parts:
            mine = None if owners is None else owners[first : first + len(part)]
            first += len(part)
            asked = _asked(part.scheme, shared)
            if not asked:
                pieces.append(_blind(len(part), rows))
                continue
            shown = seen_records(part, asked, distinct=False, inverted=False)
            cells = [_cells(block, codes) for block in shown.blocks]
            pieces.append(_linked(shown.blocks, cells, [np.asarray(c, np.int64) for c in shown.joined], mine))
    else:
        if own is not None:
            raise SfumatoError("own tells whose the released records are, and a scheme has none: give a release")
        generator = numpy_generator(rng)
        forms, weights = ((of,), (1.0,)) if isinstance(of, Scheme) else (of.forms, of.weights)
        given = generator.choice(len(forms), rows, p=np.array(weights) / sum(weights))
        for number, form in enumerate(forms):
            people, asked = np.flatnonzero(given == number), _asked(form, shared)
            if not asked or not len(people):
                pieces.append(_blind(len(people), rows))
                continue
            maps = blocks(form, asked, False)
            cells = [_cells(block, codes) for block in maps]
            answers = [_drawn(block.P, cell[people], generator) for block, cell in zip(maps, cells, strict=True)]
            pieces.append(_linked(maps, cells, answers, people))
    found = tuple(np.concatenate(parts) for parts in zip(*pieces, strict=True))
    guess, right, possible = found
    success = float(right.mean())
    told = {"attributes": ", ".join(shared), "register": rows, "linked": success, "blind": 1 / rows}
    if isinstance(of, Release) and own is None:
        told["condition"] = _condition(len(of), rows)
    if not possible.all():
        told["records_of_nobody_in_the_register"] = float(1 - possible.mean())
    return Recovery("link", guess, 1 - success, 1 - 1 / rows, None, told, _BESIDE)


def _condition(records: int, rows: int) -> str:
    """What the expected share of right links takes for granted, and where that cannot be."""
    said = "everybody in the release stands in the register once"
    return said if rows >= records else f"{said}; here at most {rows:,} of {records:,} do, so fewer links are right"


def _asked(scheme: Scheme, shared: tuple[str, ...]) -> tuple[str, ...]:
    """What a form asks of the attributes that the adversary knows."""
    return tuple(name for name in shared if name in scheme.schema)


def _blind(records: int, rows: int) -> tuple[Codes, Array, NDArray[np.bool_]]:
    """Anybody is as likely as anybody else."""
    return np.zeros(records, dtype=np.int64), np.full(records, 1 / rows), np.ones(records, dtype=bool)


def _shared(of: Release | Scheme | Forms, register: Any, columns: Sequence[str] | None) -> tuple[str, ...]:
    """The attributes that the adversary can compare."""
    present = set(tables.column_names(register))
    schemes = [of] if isinstance(of, Scheme) else [p.scheme for p in of.parts] if isinstance(of, Release) else of.forms
    noisy = {name for scheme in schemes for name in scheme.noises}
    wanted = of.schema.names if columns is None else tuple(columns)
    for name in wanted if columns is not None else ():
        if name not in of.schema or name not in present:
            where = "release" if name not in of.schema else "register"
            raise SfumatoError(f"the {where} has no attribute {name!r}")
    shared = tuple(name for name in wanted if name in present and name not in noisy)
    if not shared:
        raise SfumatoError(
            f"the register shares no attribute with the release, which has {', '.join(of.schema.names)}: "
            f"name its columns alike"
        )
    return shared


def _cells(block: Block, codes: dict[str, Any]) -> Codes:
    """The cell of a block that each person of the register stands in."""
    return join_codes([codes[name].astype(np.int64) for name in block.names], block.sizes).astype(np.int64)


def _drawn(P: Array, cells: Codes, rng: np.random.Generator) -> Codes:
    """An answer of everybody."""
    out = np.zeros(len(cells), dtype=np.int64)
    for cell in np.unique(cells):
        here = cells == cell
        if not P[cell].any():
            raise SfumatoError("the register has a combination of values that the scheme rules out")
        out[here] = rng.choice(P.shape[1], int(here.sum()), p=P[cell] / P[cell].sum())
    return out


def _owners(own: ArrayLike, records: int, rows: int) -> Codes:
    owners = np.asarray(own)
    if owners.shape != (records,) or owners.dtype.kind not in "iu" or owners.min() < 0 or owners.max() >= rows:
        raise SfumatoError(f"own must name a row of the register, 0 to {rows - 1}, for each of {records} records")
    return owners.astype(np.int64)


def _linked(
    maps: Sequence[Block], cells: Sequence[Codes], answers: Sequence[Codes], owners: Codes | None
) -> tuple[Codes, Array, NDArray[np.bool_]]:
    """Of each record the row that is named, the chance that it is right, and whether anybody fits at all.

    People alike in all compared attributes are equally likely: one of them is named.
    """
    kinds, row, kind_of, alike = np.unique(
        np.column_stack(cells), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    records, place = np.unique(np.column_stack(answers), axis=0, return_inverse=True)
    place, kind_of = place.reshape(-1), kind_of.reshape(-1)
    guess, best = np.zeros(len(records), dtype=np.int64), np.zeros(len(records))
    tied, total = np.zeros(len(records)), np.zeros(len(records))
    tops: list[NDArray[np.bool_]] = []
    step = max(1, _AT_ONCE // len(kinds))
    for first in range(0, len(records), step):
        some = records[first : first + step]
        likely = np.ones((len(some), len(kinds)))
        for i, block in enumerate(maps):
            likely *= block.P.T[some[:, i]][:, kinds[:, i]]
        top = likely >= likely.max(axis=1, keepdims=True) * (1 - 1e-12)
        at = slice(first, first + len(some))
        guess[at], best[at] = row[top.argmax(axis=1)], likely.max(axis=1)
        tied[at], total[at] = top @ alike, likely @ alike
        if owners is not None:
            tops.append(top)
    possible = best > 0
    if owners is None:
        right = np.divide(best, total, out=np.zeros_like(best), where=possible)[place]
    else:
        right = (np.concatenate(tops)[place, kind_of[owners]] & possible[place]) / tied[place]
    return guess[place], right, possible[place]
