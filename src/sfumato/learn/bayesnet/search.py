"""Finding parents: K2 under an order, a hill-climb without one, and the best tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf

import numpy as np

from sfumato.errors import SfumatoWarning, warn
from sfumato.evidence.independence import all_pairs
from sfumato.evidence.kinds import asked_by_part
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.spanning_tree import spanning_tree
from sfumato.learn.bayesnet.scores import StructureScore
from sfumato.learn.bayesnet.structure import Parents, check_order
from sfumato.printable import many

Progress = Callable[[str], None]

#: The most parents of a node where no bound is given.
PARENTS = 3
#: With so few attributes a climb costs little, and many orders to decide ties in are tried.
FEW = 12
#: With more attributes than this a climb links an attribute only to those with the strongest evidence for a dependence
#: between the two, this many: else the families to judge grow as the square of the attributes with every step.
MANY = 40
STRONGEST = 12
#: A gain below this is rounding.
NOTHING = 1e-6

_SETS = "set of parents was", "sets of parents were"


def find(
    score: StructureScore,
    order: Sequence[str] | None,
    max_parents: int | None,
    how: str,
    progress: Progress | None = None,
) -> Parents:
    """The structure, by the search that the request asks for.

    A bound on the parents must fit; without one there are at most ``PARENTS``, and only families whose tables fit.
    """
    names = score.source.schema.names
    if how == "tree":
        return chow_liu(score.source, names)
    checked = None if order is None else check_order(order, names)
    if max_parents is not None:
        score.check_bound(names, min(max_parents, len(names) - 1))
    most = PARENTS if max_parents is None else max_parents
    found = hill_climb(score, names, most, progress) if checked is None else k2(score, checked, most, progress)
    if score.unasked:
        most = max(map(len, asked_by_part(score.source)))
        warn(
            f"no form asks more than {most} attributes together, so that no node has more than "
            f"{many(most - 1, 'parent')}: {many(len(score.unasked), *_SETS)} not considered",
            SfumatoWarning,
            stacklevel=3,
        )
    if score.left_out:
        (node, parents), cells = max(score.left_out.items(), key=lambda item: item[1])
        needed = score.needed(node, sorted(parents)) / 1e9
        pairs = sorted({" and ".join(sorted([one, *given])) for one, given in score.left_out if len(given) == 1})
        unseen = f"; whether these hang together was not looked at: {'; '.join(pairs)}" if pairs else ""
        warn(
            f"{many(len(score.left_out), *_SETS)} not considered, because their tables would have more than "
            f"{score.most_cells} cells, or their tests take more than {score.memory / 2e9:.2g} GB (the largest: {node} "
            f"given {', '.join(sorted(parents))}, {cells} cells, {needed:.2g} GB): make attributes coarser to have "
            f"them considered, or allow more memory{unseen}",
            SfumatoWarning,
            stacklevel=3,
        )
    if score.not_counted:
        first = score.not_counted[0]
        warn(
            f"{many(len(set(score.not_counted)), 'set of attributes was', 'sets of attributes were')} not considered, "
            f"because no table of counts holds them together, as {', '.join(first)}: ask the sites for it "
            f"(sfumato counts --table {','.join(first)})",
            SfumatoWarning,
            stacklevel=3,
        )
    return {name: found[name] for name in names}


def k2(score: StructureScore, order: Sequence[str], max_parents: int, progress: Progress | None = None) -> Parents:
    """Parents of each node among those before it, one at a time while the score gains (Cooper and Herskovits 1992).

    Under a score that prunes, a parent that a later one explains away is taken out again.
    """
    if max_parents and len(order) > 1:
        score.source.expect_many()
    out: Parents = {}
    for i, node in enumerate(order):
        out[node] = score.ordered(_parents(score, node, order[:i], max_parents))
        if progress is not None:
            progress(node)
    return out


def _parents(score: StructureScore, node: str, before: Sequence[str], most: int) -> list[str]:
    held: list[str] = []
    seen = {frozenset(held)}
    while len(held) < most:
        fitting = [z for z in before if z not in held and score.fits(node, (*held, z))]
        gains = {z: score.gain(node, z, held) for z in fitting}
        best = max(gains, key=lambda z: gains[z], default=None)
        if best is None or not gains[best] > NOTHING:
            break
        held.append(best)
        if score.prunes:
            _prune(score, node, held)
        if frozenset(held) in seen:
            break
        seen.add(frozenset(held))
    return held


def _prune(score: StructureScore, node: str, held: list[str]) -> None:
    """Take out, the weakest first, what the other parents explain."""
    while len(held) > 1:
        gains = {z: score.gain(node, z, [other for other in held if other != z]) for z in held}
        worst = min(gains, key=lambda z: gains[z])
        if gains[worst] > 0:
            return
        held.remove(worst)


def hill_climb(
    score: StructureScore,
    names: Sequence[str],
    max_parents: int,
    progress: Progress | None = None,
    tolerance: float = 1e-4,
) -> Parents:
    """From no edges, the best of adding, removing or reversing one edge, until nothing gains.

    Many scores cannot tell a -> b from b -> a, and which of the two comes first decides where the climb ends. So it is
    made several times, with different orders to decide such ties, and the best end is kept. Where there are more than
    MANY attributes, each is linked only to those that depend on it most clearly.
    """
    score.source.expect_many()
    score.progress = progress
    near = _neighbours(score, names)
    ends = [_climb(score, ranked, max_parents, tolerance, near) for ranked in _orders(tuple(names))]
    score.progress = None
    best = max(ends, key=lambda held: sum(score.local(node, tuple(parents)) for node, parents in held.items()))
    return {name: score.ordered(tuple(best[name])) for name in names}


def _orders(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The names and the names backward, begun anywhere, and mixed by (i + 1) k modulo 97; of many names only a few."""
    few = len(names) <= FEW
    turned = [names[at:] + names[:at] for at in (range(len(names)) if few else (0, len(names) // 2))]
    mixed = [np.argsort(np.arange(1, len(names) + 1) * k % 97) for k in range(4, 96, 3)] if few else []
    out = [order for one in turned for order in (one, one[::-1])]
    return list(dict.fromkeys((*out, *(tuple(names[i] for i in places) for places in mixed))))


def _neighbours(score: StructureScore, names: Sequence[str]) -> Neighbours:
    """The attributes that each may be linked to (Friedman, Nachman and Pe'er 1999): all, unless there are many."""
    if len(names) <= MANY:
        return {name: set(names) - {name} for name in names}
    link: dict[str, dict[str, float]] = {name: {} for name in names}
    for (one, other), test in all_pairs(score.source, names).items():
        if test.evidence > 0:
            link[one][other] = link[other][one] = test.evidence
    near: Neighbours = {name: set() for name in names}
    for name, found in link.items():
        for other in sorted(found, key=lambda one: found[one], reverse=True)[:STRONGEST]:
            near[name].add(other)
            near[other].add(name)
    return near


Neighbours = dict[str, set[str]]
Move = tuple[str, str, str]  # what, parent, child


def _climb(
    score: StructureScore, names: tuple[str, ...], max_parents: int, tolerance: float, near: Neighbours
) -> dict[str, set[str]]:
    held: dict[str, set[str]] = {name: set() for name in names}
    while True:
        moves = list(_moves(score, held, names, max_parents, near))
        best = _best(moves, tolerance)
        if best is None:  # turning an edge may cost nothing and open a way
            level = [tried for gain, tried in moves if tried[0] == "reverse" and abs(gain) < NOTHING]
            turned = (_changed(held, move) for move in level)
            onward = (other for other in turned if _best(_moves(score, other, names, max_parents, near), tolerance))
            held, old = next(onward, held), held
            if held is old:
                return held
            continue
        held = _changed(held, best)


def _best(moves: Iterable[tuple[float, Move]], tolerance: float) -> Move | None:
    """The move that gains most, the first of those that gain the same."""
    best, found = tolerance, None
    for gain, move in moves:
        if gain > best + (1e-9 * abs(best) if found is not None else 0.0):
            best, found = gain, move
    return found


def _changed(held: dict[str, set[str]], move: Move) -> dict[str, set[str]]:
    what, parent, child = move
    out = {node: set(parents) for node, parents in held.items()}
    if what == "add":
        out[child].add(parent)
    else:
        out[child].remove(parent)
        if what == "reverse":
            out[parent].add(child)
    return out


def _moves(
    score: StructureScore, held: dict[str, set[str]], names: tuple[str, ...], max_parents: int, near: Neighbours
) -> Iterator[tuple[float, Move]]:
    """Every legal change of one edge with what it gains, parents that come early in the names first."""
    places = {name: place for place, name in enumerate(names)}
    above = _ancestors(held)
    now = {name: score.local(name, tuple(held[name])) for name in names}
    for parent in names:
        for child in sorted(near[parent], key=lambda name: places[name]):
            if parent in held[child] or child in above[parent]:
                continue
            if len(held[child]) < max_parents and score.fits(child, (*held[child], parent)):
                yield score.local(child, (*held[child], parent)) - now[child], ("add", parent, child)
    for child in names:
        for parent in sorted(held[child]):
            less = score.local(child, tuple(held[child] - {parent})) - now[child]
            yield less, ("remove", parent, child)
            room = len(held[parent]) < max_parents and score.fits(parent, (*held[parent], child))
            if room and not _reaches_otherwise(held, parent, child):
                more = score.local(parent, (*held[parent], child)) - now[parent]
                yield less + more, ("reverse", parent, child)


def chow_liu(source: Evidence, names: Sequence[str], root: str | None = None) -> Parents:
    """The tree with the strongest links (Chow and Liu 1968), links weighed by the evidence for them."""
    link = {frozenset(pair): test.evidence for pair, test in all_pairs(source, names).items()}
    start = root or names[0]
    nodes = [start, *(name for name in names if name != start)]
    found = spanning_tree(nodes, lambda one, other: link.get(frozenset((one, other)), -inf))
    parent = {child: up for up, child in found if frozenset((up, child)) in link}
    return {name: (parent[name],) if name in parent else () for name in names}


def _ancestors(held: dict[str, set[str]]) -> dict[str, set[str]]:
    out: dict[str, set[str]] = {}

    def visit(node: str) -> set[str]:
        if node not in out:
            out[node] = set().union(*(visit(parent) | {parent} for parent in held[node]))
        return out[node]

    for node in held:
        visit(node)
    return out


def _reaches_otherwise(held: dict[str, set[str]], parent: str, child: str) -> bool:
    """Whether child is reached from parent by another way than their edge: then turning the edge makes a cycle."""
    stack = [other for other in held[child] if other != parent]
    seen = set(stack)
    while stack:
        node = stack.pop()
        if node == parent:
            return True
        fresh = held[node] - seen
        seen |= fresh
        stack.extend(fresh)
    return False
