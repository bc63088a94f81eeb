"""One BLAS thread for many small products: on 300 by 90 matrices OpenBLAS loses up to ten times by waking others."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

Setter = Callable[[int], None]
Getter = Callable[[], int]
PREFIXES, SUFFIXES = ("scipy_", ""), ("64_", "")


@functools.cache
def pools() -> tuple[tuple[Getter, Setter], ...]:
    """Get and set of the number of threads, for each OpenBLAS that the numpy and scipy wheels carry."""
    import scipy

    found: list[tuple[Getter, Setter]] = []
    for package in (np, scipy):
        home = Path(str(package.__file__)).parent
        places = (home.parent / f"{home.name}.libs", home / ".dylibs")
        for file in (f for place in places if place.is_dir() for f in place.glob("*openblas*")):
            with contextlib.suppress(OSError):
                library = ctypes.CDLL(str(file))
                for name in (f"{p}openblas_%s_num_threads{s}" for p in PREFIXES for s in SUFFIXES):
                    getter, setter = (
                        getattr(library, name % "get", None),
                        getattr(library, name % "set", None),
                    )
                    if getter is not None and setter is not None:
                        found.append((getter, setter))
                        break
    return tuple(found)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Within the block BLAS runs on the calling thread alone; where no OpenBLAS is found nothing changes."""
    before = [(getter(), setter) for getter, setter in pools()]
    for _, setter in before:
        setter(1)
    try:
        yield
    finally:
        for count, setter in before:
            setter(count)
