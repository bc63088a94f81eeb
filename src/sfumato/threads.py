"""One BLAS thread where many small products follow each other: waking a second one costs more than it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
