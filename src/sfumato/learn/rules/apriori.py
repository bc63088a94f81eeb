"""Apriori: frequent item sets level by level, with the subset prune that the paper's listing leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from sfumato.errors import SfumatoWarning, warn
from sfumato.learn.rules.items import Item, Universe

Itemset = tuple[Item, ...]

#: The most sets of one size that are counted.
CANDIDATES = 100_000


def candidates(frequent: Sequence[Itemset], place: dict[Item, int], universe: Universe) -> list[Itemset]:
    """Apriori-gen: joins of sets that share all but their last item, kept if every subset is frequent.

    Items of one attribute exclude each other and are never joined.
    """
    known = set(frequent)
    family = {item: number for number, members in enumerate(universe.families) for item in members}
    by_head: dict[Itemset, list[Item]] = {}
    for items in frequent:
        by_head.setdefault(items[:-1], []).append(items[-1])
    out = []
    for head, tails in by_head.items():
        for one, other in combinations(sorted(tails, key=place.__getitem__), 2):
            if one in family and family.get(other) == family[one]:
                continue
            joined = (*head, one, other)
            if len(head) == 0 or all(joined[:i] + joined[i + 1 :] in known for i in range(len(head))):
                out.append(joined)
    return out


def levels(
    universe: Universe, keep: Callable[[Sequence[Itemset]], Iterable[Itemset]], most: int | None = None
) -> list[Itemset]:
    """All item sets that ``keep`` passes, level by level; ``keep`` sees a whole level at once.

    A level of more than ``CANDIDATES`` sets is not begun: what was found until then is returned, with a warning.
    """
    place = {item: i for i, item in enumerate(universe.items)}
    level: list[Itemset] = [(item,) for item in universe.items]
    out: list[Itemset] = []
    size = 1
    while level and (most is None or size <= most):
        if len(level) > CANDIDATES:
            warn(
                f"{len(level)} sets of {size} items would have to be counted, more than {CANDIDATES}: only sets of up "
                f"to {size - 1} items are reported; raise min_support, or set max_items={size - 1} to agree",
                SfumatoWarning,
                stacklevel=4,
            )
            break
        passed = list(keep(level))
        out += passed
        level = candidates(passed, place, universe)
        size += 1
    return out
