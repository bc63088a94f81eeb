"""A tree of values, as people write it, brought to one path from the top for every leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import SchemaError

#: From the top to a leaf: a name for each level.
Path = tuple[str, ...]

#: The most levels of a tree, and the most names of all its paths together.
MOST_LEVELS = 32
MOST_NAMES = 1 << 22


def read_levels(levels: Any) -> tuple[str, ...]:
    """The names of the levels, widest first."""
    if isinstance(levels, str) or not isinstance(levels, Sequence) or len(levels) < 2:
        raise SchemaError('levels must name at least two levels, widest first: ["region", "county", "town"]')
    if len(levels) > MOST_LEVELS:
        raise SchemaError(f"there are {len(levels):,} levels, more than {MOST_LEVELS}: leave some out")
    if not all(isinstance(level, str) and level for level in levels) or len(set(levels)) != len(levels):
        raise SchemaError(f"levels must be different names, got {list(levels)} instead")
    return tuple(levels)


def paths_of_tree(levels: tuple[str, ...], tree: Any) -> tuple[Path, ...]:
    """The leaves of nested objects, the last of which are lists: {"North": {"Aland": ["Abo", "Eck"]}}."""
    found: list[Path] = []
    _walk(levels, tree, (), found)
    _check_distinct(levels, found)
    return tuple(found)


def _walk(levels: tuple[str, ...], node: Any, above: Path, found: list[Path]) -> None:
    depth = len(above)
    where = f"below {above[-1]!r}" if above else "at the top"
    if depth == len(levels) - 1:
        if isinstance(node, Mapping):
            raise SchemaError(f"the tree is deeper {where} than its {len(levels)} levels: it may hold itself")
        names = [node] if isinstance(node, str) else node
        if not isinstance(names, Sequence) or not names:
            raise SchemaError(f"{above[-1]!r} is no leaf: it must list its values of level {levels[-1]!r}")
        _check_names(levels, len(found) + len(names))
        found.extend((*above, _name(name, levels[depth])) for name in names)
        return
    if not isinstance(node, Mapping) or not node:
        what = f"the values {where} must lead on to level {levels[depth + 1]!r}"
        raise SchemaError(f"{what}: every branch must reach {levels[-1]!r}")
    for name, below in node.items():
        _walk(levels, below, (*above, _name(name, levels[depth])), found)


def paths_of_parents(levels: tuple[str, ...], parents: Any) -> tuple[Path, ...]:
    """The leaves where each name is given its parent: {"Abo": "Aland", "Aland": "North"}, or pairs of them."""
    pairs = list(parents.items()) if isinstance(parents, Mapping) else parents
    if not isinstance(pairs, Sequence) or isinstance(pairs, str) or not pairs:
        raise SchemaError('parents must give each name its parent: {"Abo": "Aland", "Aland": "North"}')
    above: dict[str, str] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise SchemaError("parents must be pairs of a name and its parent")
        child, parent = (_name(name, "parents") for name in pair)
        if above.setdefault(child, parent) != parent:
            raise SchemaError(f"{child!r} has two parents, {above[child]!r} and {parent!r}: one must go")
    inner = set(above.values())
    leaves = [name for name in above if name not in inner]
    if not leaves:
        raise SchemaError(f"the parents go round in a circle through {next(iter(above))!r}: one must be the top")
    _check_names(levels, len(leaves))
    _check_ends(above)
    found: list[Path] = []
    for leaf in leaves:
        path = [leaf]
        while path[-1] in above and len(path) <= len(levels):
            path.append(above[path[-1]])
        if len(path) != len(levels):
            above_it = f"more than {len(levels) - 1}" if len(path) > len(levels) else str(len(path) - 1)
            raise SchemaError(f"{leaf!r} has {above_it} levels above it, and there are {len(levels) - 1}")
        found.append(tuple(reversed(path)))
    return paths_of_tree(levels, nested(found))  # branch by branch, as a file writes the tree


def _check_ends(above: dict[str, str]) -> None:
    """Raise where some name is its own ancestor."""
    ends: set[str] = set()
    for name in above:
        way: dict[str, None] = {}
        while name in above and name not in ends:
            if name in way:
                raise SchemaError(f"the parents go round in a circle through {name!r}: one must be the top")
            way[name] = None
            name = above[name]
        ends |= set(way)


def _check_names(levels: tuple[str, ...], leaves: int) -> None:
    """Raise before paths are made that would fill the memory."""
    if leaves * len(levels) > MOST_NAMES:
        most = MOST_NAMES // len(levels)
        raise SchemaError(
            f"the tree has more than {most:,} leaves, the most below {len(levels)} levels: use wider ones"
        )


def _check_distinct(levels: tuple[str, ...], paths: Sequence[Path]) -> None:
    """Raise where a name of a level stands in two places."""
    for depth, level in enumerate(levels):
        place: dict[str, Path] = {}
        for path in paths:
            before = place.setdefault(path[depth], path[:depth])
            if before != path[:depth]:
                raise SchemaError(
                    f"{path[depth]!r} of level {level!r} has two parents, {before[-1]!r} and {path[depth - 1]!r}: "
                    f"give it two names, such as {before[-1]} / {path[depth]}"
                )
    twice = next((path for path, times in Counter(paths).items() if times > 1), None)
    if twice is not None:
        raise SchemaError(f"{twice[-1]!r} is listed twice below {twice[-2]!r}")


def _name(name: Any, level: str) -> str:
    if not isinstance(name, str) or not name:
        raise SchemaError(f"the names of level {level!r} must be text, got {type(name).__name__} instead")
    return name


def nested(paths: Sequence[Path]) -> dict[str, Any]:
    """The tree of some paths, as nested objects."""
    out: dict[str, Any] = {}
    for path in paths:
        node = out
        for name in path[:-2]:
            node = node.setdefault(name, {})
        node.setdefault(path[-2], []).append(path[-1])
    return out
