"""Memory that a learner frees and asks for again a thousand times."""

from __future__ import annotations

import ctypes
import sys

# of glibc's malloc.h
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 512 << 20
_OWN_PAGES = 64 << 20


def keep_freed_memory() -> None:
    """Let the C library keep what is freed, up to half a gigabyte, instead of giving it back to the system.

    Fitting a joint model makes tables of a few megabytes over and over. Given back each time, their pages have to be
    found and cleared again, which took more than half of the whole fit. Larger arrays are still given back at once.
    Where the C library is another one than glibc nothing happens.
    """
    if sys.platform != "linux":
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _OWN_PAGES)
        set_option(_M_TRIM_THRESHOLD, _KEPT)
