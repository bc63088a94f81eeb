"""How large a channel or a scheme may be. Checked on its numbers, before anything is built from them."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.errors import ChannelError

#: The most attributes that one channel treats together.
MOST_ITEMS = 100_000
#: The most attributes that select-a-size treats together: its gamma is a search over pairs of sizes.
MOST_CHOSEN = 1_000
#: The most combinations of values that one joint matrix or symmetric channel tells apart.
MOST_COMBINATIONS = 1 << 64
#: The most entries of the different matrices of a whole scheme: 512 MB of integers.
MOST_CELLS = 1 << 26


def check_items(items: int, most: int = MOST_ITEMS) -> None:
    """Raise where a channel would treat more attributes together than it can."""
    if items > most:
        raise ChannelError(f"a channel treats at most {most} attributes together, got {_shown(items)}: split the group")


def count_combinations(sizes: Sequence[int]) -> int:
    """How many combinations attributes of these sizes have; raise where codes of 64 bits cannot tell them apart."""
    check_items(len(sizes))
    out = 1
    for size in sizes:
        out *= size
        if out > MOST_COMBINATIONS:
            raise ChannelError("the attributes have more than 2^64 combinations: split the group")
    return out


def check_cells(cells: int) -> None:
    """Raise where the matrices of a scheme would not fit into memory."""
    if cells > MOST_CELLS:
        raise ChannelError(
            f"the channels need matrices of {_shown(cells)} entries in all, more than {MOST_CELLS}: use fewer values, "
            f"wider bins, the same gamma for attributes alike, or several schemes"
        )


def _shown(count: int) -> str:
    """A count of any length; one of thousands of digits has no text in Python."""
    return str(count) if count < 10**18 else "more than 10^18"
