"""``python -m benchmarks.peers``: every comparison in one run, as a table, JSON or Markdown."""

from __future__ import annotations

import argparse
import json
import platform
from itertools import chain

from rich.console import Console

from . import others, shares
from .installed import versions
from .rows import lines, markdown


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="one mechanism a peer, few repetitions")
    parser.add_argument("--json", action="store_true", help="machine output")
    parser.add_argument("--markdown", action="store_true", help="as a Markdown table")
    options = parser.parse_args(arguments)
    quiet, rows = Console(stderr=True), []
    with quiet.status("measuring; the first run installs each peer"):
        for row in chain(shares.compare(options.fast), others.compare(options.fast)):
            rows.append(row)
            quiet.print(f"{row.task}: {row.peer}", style="dim", highlight=False)
    if options.json:
        about = {"python": platform.python_version(), "peers": versions()}
        print(json.dumps({**about, "rows": [row.as_dict() for row in rows]}, indent=2))
    elif options.markdown:
        print(markdown(rows))
    else:
        Console(highlight=False).print(*lines(rows), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
