"""``python -m benchmarks``: run them all, or those named."""

from __future__ import annotations

from .harness import main

if __name__ == "__main__":
    raise SystemExit(main())
