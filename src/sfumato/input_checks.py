"""What a caller gives: flags, lists of names, paths, things of one kind. Anything else gets one clear line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.errors import SfumatoError

P = ParamSpec("P")
R = TypeVar("R")
_QUOTED = 60  # characters


def given(value: Any) -> str:
    """What a caller gave, as a message quotes it: what may hold records is named by its kind alone.

    >>> given("no"), given(["a", 3]), given(list(range(100))), given(np.zeros(3))
    ("'no'", "['a', 3]", 'a list of 100', 'ndarray')
    """
    if isinstance(value, list | tuple | dict):
        return repr(value) if len(repr(value)) <= _QUOTED else f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, str | bytes) and len(value) > _QUOTED:
        return f"a text of {len(value):,} characters"
    plain = value is None or isinstance(value, bool | int | float | str | bytes | np.generic)
    return repr(value) if plain else type(value).__name__


def check_flags(wrong: type[SfumatoError], **flags: Any) -> None:
    """Refuse what is neither True nor False: Python takes every word for True, "no" too."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise wrong(f"{name} must be True or False, got {given(value)} instead")


def check_kind(wrong: type[SfumatoError], name: str, value: Any, kind: Any, words: str) -> None:
    """Refuse what is not of a kind, which ``words`` name."""
    if not isinstance(value, kind):
        raise wrong(f"{name} must be {words}, got {given(value)} instead")


def check_word(wrong: type[SfumatoError], name: str, value: Any, words: Sequence[str]) -> None:
    """Refuse what is none of some words."""
    if not isinstance(value, str) or value not in words:
        raise wrong(f"{name} must be one of {', '.join(words)}, got {given(value)} instead")


def check_progress(wrong: type[SfumatoError], progress: Any) -> None:
    """Refuse what cannot be called with a number of steps."""
    if progress is not None:
        check_kind(wrong, "progress", progress, Callable, "a function of a number of steps")


def check_share(wrong: type[SfumatoError], name: str, value: Any) -> None:
    """Refuse what is no number between 0 and 1."""
    if not 0 < check_number(wrong, name, value) < 1:
        raise wrong(f"{name} must lie in (0, 1), got {value} instead")


def check_count(wrong: type[SfumatoError], name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number of at least so many."""
    check_kind(wrong, name, value, int | np.integer, "a whole number")
    if value < least:
        raise wrong(f"{name} must be at least {least}, got {value} instead")


def check_names(wrong: type[SfumatoError], name: str, value: Any, what: str = "attributes") -> tuple[str, ...]:
    """A list of names; one alone is no list.

    >>> check_names(SfumatoError, "columns", ["age", "sex"])
    ('age', 'sex')
    """
    listed = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else None
    if listed is None or not all(isinstance(one, str) for one in listed):
        raise wrong(f"{name} must be a list of {what}, got {given(value)} instead")
    return listed


def path_of(wrong: type[SfumatoError], name: str, value: Any) -> Path:
    """The path of a file or folder."""
    if not isinstance(value, str | PathLike) or not isinstance(fspath(value), str):
        raise wrong(f"{name} must be the path of a file, got {given(value)} instead")
    return Path(value)


def check_numbers(wrong: type[SfumatoError], name: str, value: Any) -> Array:
    """Numbers in a list or an array."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong(f"{name} must hold numbers, got {given(value)} instead") from None


def check_number(wrong: type[SfumatoError], name: str, value: Any) -> float:
    """One number."""
    check_kind(wrong, name, value, int | float | np.number, "a number")
    return float(value)


def check_places(wrong: type[SfumatoError], name: str, value: Any, size: int) -> Index:
    """Places in a list of so many."""
    places = np.asarray(value).reshape(-1) if np.size(value) else np.zeros(0, dtype=np.int64)
    if places.dtype.kind not in "iu" or not ((places >= 0) & (places < size)).all():
        raise wrong(f"{name} must be a list of whole numbers from 0 to {size - 1}, got {given(value)} instead")
    return places.astype(np.int64)


def fitting(wrong: type[SfumatoError], advice: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that says what it takes, where a call does not fit it; ``advice`` is what to do instead."""

    def checked(function: Callable[P, R]) -> Callable[P, R]:
        takes = signature(function)

        @wraps(function)
        def call(*args: P.args, **named: P.kwargs) -> R:
            try:
                takes.bind(*args, **named)
            except TypeError as problem:
                names = ", ".join(name for name in takes.parameters if name != "self")
                raise wrong(f"{function.__name__}: {problem}; it takes {names}{advice}") from None
            return function(*args, **named)

        return call

    return checked
