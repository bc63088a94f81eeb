"""What comes in: numbers, labels and sites, checked once. Every fault is one line that says how to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Index, Labels
from sfumato.errors import DisclosureWarning, SchemaError, SfumatoError, warn
from sfumato.printable import many
from sfumato.randomness import Source, permutation
from sfumato.reading import tables
from sfumato.writing.description import check_raw

if TYPE_CHECKING:
    import pyarrow as pa

#: A number as files write it, with a decimal point or comma.
_NUMBER = r"^\s*[-+]?[0-9]+([.,][0-9]+)?\s*$"


@dataclass(frozen=True)
class Intake:
    """The numeric columns as a matrix, and the label and site of each row."""

    X: Array
    names: tuple[str, ...]
    y: Labels | None
    target: str | None
    site: Labels | None


def take_in(X: Any, y: Any, site_column: str | None = None) -> Intake:
    """A matrix or any table; ``y`` is the label of each row, or the name of the table's label column."""
    if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
        raise SchemaError(f"X has {int(np.ma.getmaskarray(X).sum())} masked values: fill them or leave those rows out")
    if isinstance(X, np.ndarray | list):
        if site_column is not None:
            raise SchemaError(f"{site_column!r} names a column, but X is a matrix without names: give a table instead")
        matrix = _matrix(np.asarray(X))
        names = tuple(f"x{i + 1}" for i in range(matrix.shape[1]))
        return Intake(_finite(matrix, names), names, _labels(y, len(matrix)), None, None)
    return _table(X, y, site_column)


def _matrix(X: NDArray[Any]) -> Array:
    if X.ndim != 2 or not X.size:
        raise SchemaError(f"X must be a table of rows and columns, got an array of shape {X.shape} instead")
    if X.dtype.kind not in "biuf":
        raise SchemaError(
            "X must hold numbers, got text or objects: leave such columns out, and randomize them with channels "
            "(sf.randomize)"
        )
    return X.astype(np.float64, copy=False)


def _table(X: Any, y: Any, site_column: str | None) -> Intake:
    import pyarrow as pa

    whole = X if isinstance(X, pa.Table) else _whole(X)
    twice = len(whole.column_names) - len(set(whole.column_names))
    if twice:
        raise SchemaError(f"{twice} columns of the table have the name of another: rename them, or is there no header?")
    if not whole.num_rows:
        raise SchemaError("the table is empty: there is nothing to resample")
    target = y if isinstance(y, str) else None
    if target is not None and target == site_column:
        raise SchemaError(f"{target!r} is the label column: it cannot name the sites as well")
    for name in (site_column, target):
        if name is not None and name not in whole.column_names:
            raise SchemaError(f"the table has no column {name!r}; {tables.instead(name, whole.column_names)}")
    names = tuple(name for name in whole.column_names if name not in (target, site_column))
    strange = [name for name in names if not _numeric(whole.schema.field(name).type)]
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        gaps = [name for name in names if name not in strange and whole.column(name).null_count]
        also = f"; fill the nulls of {', '.join(gaps[:5])}{' and others' if len(gaps) > 5 else ''}, too" if gaps else ""
        raise SchemaError(
            f"column {strange[0]!r}{more} holds {_held(whole.column(strange[0]))} leave it out "
            f"(table.drop(columns={strange!r}), or --drop {quote(','.join(strange))}), and "
            f"randomize it with a channel of its own (sf.randomize){also}"
        )
    if not names:
        raise SchemaError("no numeric column is left to resample: randomize such a table with channels instead")
    if any(whole.column(name).null_count for name in names):
        raise SchemaError(_gaps(whole, [*names, *(name for name in (target, site_column) if name)]))
    X = np.column_stack([np.asarray(whole.column(name), dtype=np.float64) for name in names])
    labels = _labels(np.asarray(whole.column(target)) if target else y, whole.num_rows)
    site = None if site_column is None else _named(np.asarray(whole.column(site_column)), "sites", "site")
    return Intake(_finite(X, names), names, labels, target, site)


def _held(column: pa.ChunkedArray) -> str:
    """What a column holds that cannot be resampled as it is, and what can be done beside leaving it out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        numbers = int(pc.sum(pc.match_substring_regex(column, _NUMBER)).as_py() or 0)
        words = len(column) - column.null_count - numbers
        if numbers > words:
            return f"numbers, but in {many(words, 'row')} something else: mend what stands there, or"
    return f"{column.type}, not numbers:"


def _gaps(whole: pa.Table, names: Sequence[str]) -> str:
    """All columns that hold nulls, in one line."""
    first, *others = [(name, whole.column(name).null_count) for name in names if whole.column(name).null_count]
    more = "".join(f", {name!r} {count:,}" for name, count in others[:5]) + (" and others" if len(others) > 5 else "")
    held = f"column {first[0]!r} holds {many(first[1], 'null')}{more}"
    return f"{held}: fill them, leave those rows out, or do without the column (--drop): new rows are whole"


def _whole(X: Any) -> pa.Table:
    import pyarrow as pa
    from narwhals.exceptions import DuplicateError

    check_raw(X)
    try:
        found = list(tables.batches(X))
    except DuplicateError:
        raise SchemaError("the table has columns of the same name: rename them") from None
    if not found:
        raise SchemaError("the table is empty: there is nothing to resample")
    return pa.Table.from_batches(found)


def _numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


#: Beyond this squares overflow.
_LARGEST = 1e150


def _finite(X: Array, names: Sequence[str]) -> Array:
    if max(X.max(), -X.min()) < _LARGEST:  # NaN fails, too; only a fault pays for finding the column
        return X
    wrong = ~np.isfinite(X)
    bad = np.flatnonzero(wrong.any(axis=0))
    if len(bad):
        raise SchemaError(
            f"column {names[bad[0]]!r} holds {int(wrong[:, bad[0]].sum())} values that are NaN or infinite: fill them "
            f"or leave those rows out"
        )
    huge = int(np.abs(X).max(axis=0).argmax())
    raise SchemaError(f"column {names[huge]!r} holds values beyond {_LARGEST:g}, whose squares overflow: rescale it")


def _labels(y: Any, n: int) -> Labels | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n:
        raise SchemaError(f"y must be one label for each of the {n} rows, got shape {labels.shape} instead")
    return _named(labels, "y", "label")


def _named(labels: Labels, name: str, what: str) -> Labels:
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise SchemaError(f"{name} holds NaN: every row needs a {what}")
    if labels.dtype.kind == "O":
        if any(isinstance(label, dict | list | np.ndarray) for label in labels):
            raise SchemaError(f"{name} holds lists or records: every row needs one {what}, a text or a number")
        if any(label is None or label != label for label in labels):
            raise SchemaError(f"{name} holds nulls: every row needs a {what}")
        kinds = sorted({type(label).__name__ for label in labels})
        if len(kinds) > 1:
            raise SchemaError(f"{name} mixes {' and '.join(kinds)}: give every {what} the same type")
    return labels


def site_of(sites: Any, n: int, src: Source) -> Labels:
    """The site of each row: a random even split for a number, the caller's own for an array."""
    if isinstance(sites, int | np.integer) and not isinstance(sites, bool):
        if not 1 <= sites <= n:
            raise SfumatoError(f"sites must lie between 1 and the {n} rows, got {sites} instead")
        if sites == 1:
            return np.broadcast_to(np.int64(0), n)
        out = np.empty(n, dtype=np.int64)
        out[permutation(src, n)] = np.arange(n) % int(sites)
        return out
    labels = np.asarray(sites)
    if labels.ndim != 1 or len(labels) != n:
        raise SfumatoError(f"sites must be a number or one site for each of the {n} rows, got shape {labels.shape}")
    return _named(labels, "sites", "site")


def groups(y: Labels | None, site: Labels, per_class: bool) -> list[tuple[Any, Any, Index]]:
    """(site, class, rows) of every group that is resampled by itself; the class is None where labels are pooled."""
    found: list[tuple[Any, Any, Index]] = []
    for place, here in _places(site):
        if y is None or not per_class:
            found.append((place, None, here))
            continue
        kinds = y if len(here) == len(y) else y[here]
        found += [(place, label, here[kinds == label]) for label in np.unique(kinds)]
    return found


def refuse_one_row(where: str, alike: int, pooling: bool) -> None:
    """A density of one row is that row; ``pooling`` says whether classes could be pooled instead."""
    classes = "Pool the classes (per_class=False; --pooled with --bandwidth)" if pooling else "Merge it with another"
    ways = f"{classes}, pool sites, or leave the row out"
    one_of = "" if alike == 1 else f" (one of {alike})"
    raise SfumatoError(f"{where}{one_of} has one row: its density would be that row. {ways}")


def _places(site: Labels) -> list[tuple[Any, Index]]:
    if not site.strides[0]:  # one site for all, as site_of writes it
        return [(site[0], np.arange(len(site)))]
    return [(place, np.flatnonzero(site == place)) for place in np.unique(site)]


#: Records of a large group that are looked at for copies.
LOOKED = 1 << 14


def check_groups(groups: Sequence[tuple[Array, int, str]], bounded: bool = False) -> None:
    """Warn of what makes density estimates meaningless: few rows, or copies. Of each: some rows, how many, a name."""
    copies = []
    for X, n, where in groups:
        _check_size(n, X.shape[1], where, bounded)
        distinct = len(np.unique(X, axis=0))
        if distinct < len(X) - len(X) // 20:
            copies.append((distinct / len(X), f"{where} has only {distinct} distinct rows in {len(X)}"))
    if copies:
        others = "the other has" if len(groups) == 2 else f"{len(copies) - 1} of the {len(groups) - 1} others have"
        also = f", and {others} copies too" if len(copies) > 1 else ""
        said = ", and rows of one person count as many; channels" if bounded else "; channels"
        _warn(f"{min(copies)[1]}{also}: copies have no density{said} suit such data better")


def _check_size(n: int, d: int, where: str, bounded: bool) -> None:
    if n <= d:
        _warn(f"{where} has {many(n, 'row')} for {many(d, 'column')}: too few to tell its density, or to hide in")
    elif bounded and n < FEW:
        said = "an average over the table says little of so few; pool sites or leave them out"
        _warn(f"{where} has {many(n, 'row')}: {said}")


#: A class with fewer rows is too small for a bound that is an average.
FEW = 20


def _warn(text: str) -> None:
    warn(text, DisclosureWarning, stacklevel=4)
