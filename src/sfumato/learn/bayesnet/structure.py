"""The graph alone: parents of every node, checked before anything is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import EstimationError
from sfumato.learn.bayesnet.bif import read_bif
from sfumato.reading.json_documents import DocumentError, read_json

Parents = dict[str, tuple[str, ...]]


def check_parents(parents: Mapping[str, Sequence[str]], names: Sequence[str]) -> Parents:
    """Parents of every named attribute, or one line that says what is wrong with them.

    >>> check_parents({"a": [], "b": ["a"]}, ["a", "b"])
    {'a': (), 'b': ('a',)}
    """
    known = set(names)
    if not isinstance(parents, Mapping):
        raise EstimationError(f"parents must look like {{'child': ['parent', ...], ...}}, got {parents!r} instead")
    for node, held in parents.items():
        if isinstance(held, str) or not isinstance(held, Iterable):
            raise EstimationError(f"the parents of {node!r} must be a list of names, got {held!r} instead")
        for name in (node, *held):
            if not isinstance(name, str) or name not in known:
                raise EstimationError(f"the structure names {name!r}, which is no attribute; there are {_some(names)}")
        if node in held or len(set(held)) != len(held):
            raise EstimationError(f"the parents of {node!r} must be distinct other nodes, got {', '.join(held)}")
    missing = [name for name in names if name not in parents]
    if missing:
        raise EstimationError(f"the structure does not say what the parents of {_some(missing)} are; give [] for none")
    out = {name: tuple(parents[name]) for name in names}
    topological(out)
    return out


def topological(parents: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The nodes with every parent before its children.

    >>> topological({"b": ("a",), "a": ()})
    ('a', 'b')
    """
    left = {node: set(held) for node, held in parents.items()}
    children: dict[str, list[str]] = {}
    for node, held in left.items():
        for parent in held:
            children.setdefault(parent, []).append(node)
    place = {node: i for i, node in enumerate(left)}
    out: list[str] = []
    free = [node for node, held in left.items() if not held]
    while free:
        out += free
        freed: list[str] = []
        for parent in free:
            del left[parent]
            for child in children.get(parent, []):
                left[child].discard(parent)
                if not left[child]:
                    freed.append(child)
        free = sorted(freed, key=place.__getitem__)
    if left:
        raise EstimationError(f"the structure is cyclic: {' -> '.join(_cycle(left))}")
    return tuple(out)


def check_order(order: Sequence[str], names: Sequence[str] | None = None) -> tuple[str, ...]:
    """An order of all attributes: those it does not name follow, as in the schema. Without names, only a check."""
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise EstimationError(f"order must be a list of names, got {order!r} instead")
    order = tuple(order)
    twice = [name for name, times in Counter(order).items() if times > 1]
    if twice:
        raise EstimationError(f"the order names {twice[0]!r} twice")
    names = order if names is None else names
    unknown = [name for name in order if name not in names]
    if unknown:
        raise EstimationError(f"the order names {unknown[0]!r}, which is no attribute; there are {_some(names)}")
    return (*order, *(name for name in names if name not in order))


def skeleton(parents: Mapping[str, Sequence[str]]) -> set[frozenset[str]]:
    """The links, whatever their direction."""
    return {frozenset((node, parent)) for node, held in parents.items() for parent in held}


def wrong_links(found: Mapping[str, Sequence[str]], true: Mapping[str, Sequence[str]]) -> tuple[int, int]:
    """How many links are extra and how many are missing."""
    ours, theirs = skeleton(found), skeleton(true)
    return len(ours - theirs), len(theirs - ours)


def read_text(path: str | Path) -> str:
    """What a text file says."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise EstimationError(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError:  # not UTF-8, or a path with a zero in it
        raise EstimationError(f"{path}: is not text") from None


def read_structure(path: str | Path) -> Parents:
    """The structure in a BIF file or in a JSON file like {"child": ["parent", ...], ...}."""
    path, text = Path(path), read_text(path)
    if not text.strip():
        raise EstimationError(f"{path}: is empty")
    if path.suffix.lower() == ".bif" or text.split()[0] == "network":
        return read_bif(text, str(path)).parents
    try:
        document: Any = read_json(text, "it", lambda pairs: _distinct(pairs, path))
    except DocumentError as problem:
        raise EstimationError(f"{path}: is neither BIF nor JSON: {problem}") from None
    good = isinstance(document, dict) and all(
        isinstance(held, list) and all(isinstance(name, str) for name in held) for held in document.values()
    )
    if not good:
        raise EstimationError(f'{path}: must look like {{"child": ["parent", ...], ...}}')
    return {node: tuple(held) for node, held in document.items()}


def _distinct(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise EstimationError(f"{path}: gives the parents of {twice!r} twice")
    return out


def _cycle(left: Mapping[str, set[str]]) -> list[str]:
    node, path = next(iter(left)), dict[str, None]()
    while node not in path:
        path[node] = None
        node = min(parent for parent in left[node] if parent in left)
    walked = list(path)
    return [*walked[walked.index(node) :], node][::-1]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
