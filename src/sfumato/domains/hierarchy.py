"""Values that form a tree: regions, their counties, and the towns of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Index
from sfumato.domains.base import first_of
from sfumato.domains.categorical import Categorical
from sfumato.domains.tree import Path, nested, paths_of_parents, paths_of_tree, read_levels
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.input_checks import given

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Hierarchy(Categorical):
    """The leaves of a tree, whose counts add up to those of the levels above.

    ``levels`` are the names of the levels, widest first. The tree is nested objects that end in lists, or ``parents``
    gives each name its parent. With ``level`` the values are those of a wider level; what the data write of narrower
    ones is read as the value it belongs to.

    >>> place = Hierarchy(levels=("region", "town"), tree={"North": ["Abo", "Eck"], "South": ["Ulm"]})
    >>> place.values, place.at("region").values, place.into("region")
    (('Abo', 'Eck', 'Ulm'), ('North', 'South'), array([0, 0, 1]))
    >>> wide = Hierarchy(levels=place.levels, tree=place.tree, level="region")
    >>> wide.encode(["Ulm", "North", "Eck"])
    array([1, 0, 0], dtype=uint8)
    """

    values: tuple[Any, ...] = field(init=False)
    nullable: bool = False
    other: Any = field(init=False, default=None)
    levels: tuple[str, ...] = field(kw_only=True, compare=False)
    tree: Mapping[str, Any] | None = field(kw_only=True, default=None, compare=False, repr=False)
    parents: Any = field(kw_only=True, default=None, compare=False, repr=False)
    level: str | None = field(kw_only=True, default=None, compare=False)
    paths: tuple[Path, ...] = field(init=False, repr=False)  # to the values
    above: tuple[str, ...] = field(init=False, repr=False)  # the levels down to that of the values

    kind = "hierarchy"

    def __post_init__(self) -> None:
        levels = read_levels(self.levels)
        if (self.tree is None) == (self.parents is None):
            raise SchemaError("give either tree or parents, and not both")
        paths = paths_of_tree(levels, self.tree) if self.parents is None else paths_of_parents(levels, self.parents)
        depth = len(levels) if self.level is None else place_of_level(levels, self.level) + 1
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "tree", nested(paths))
        object.__setattr__(self, "parents", None)
        kept = tuple(dict.fromkeys(path[:depth] for path in paths))
        object.__setattr__(self, "paths", kept)
        object.__setattr__(self, "above", levels[:depth])
        object.__setattr__(self, "values", tuple(path[-1] for path in kept))
        super().__post_init__()
        read = _values_above(paths, depth, set(self.values))
        object.__setattr__(self, "spellings", {**read, **self.spellings})
        object.__setattr__(self, "_own_spellings", {k: v for k, v in self.spellings.items() if k not in read})

    def at(self, level: str) -> Categorical:
        """The values of a level, as a domain of their own: a hierarchy again where there are wider levels."""
        depth = place_of_level(self.above, level) + 1
        kept = tuple(dict.fromkeys(path[:depth] for path in self.paths))
        if depth == 1:
            return Categorical(tuple(path[0] for path in kept), self.nullable)
        return Hierarchy(self.nullable, levels=self.above[:depth], tree=nested(kept))

    def into(self, level: str) -> Index:
        """For every value the code of the one above it at a level; "no answer" stays what it is."""
        depth = place_of_level(self.above, level) + 1
        codes = {path: code for code, path in enumerate(dict.fromkeys(path[:depth] for path in self.paths))}
        out = [codes[path[:depth]] for path in self.paths]
        return np.array([*out, len(codes)] if self.nullable else out, dtype=np.int64)

    @cached_property
    def _wider(self) -> dict[str, str]:
        return {name: level for path in self.paths for name, level in zip(path[:-1], self.above, strict=False)}

    def _place_outside(self, codes: pa.Array, where: pa.Array, column: pa.Array, name: str) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        first = str(first_of(column.filter(where)))
        if first in self._wider:
            strays = pc.is_in(column.cast(pa.string()), value_set=pa.array([*self._wider]))
            rows, wider = int(pc.sum(pc.and_(where, strays)).as_py()), self._wider[first]
            raise OutsideDomainError(name, "node", first, rows, f"a {wider}, where a {self.above[-1]} is expected")
        return super()._place_outside(codes, where, column, name)

    def meaning(self) -> dict[str, Any]:
        if len(self.above) == 1:
            return Categorical(self.values, self.nullable).meaning()
        # in a list: codes follow the order of the paths, and objects that differ only in their order are equal
        paths = [list(path) for path in self.paths]
        return {"kind": self.kind, "levels": list(self.above), "paths": paths, "nullable": self.nullable}

    def to_dict(self) -> dict[str, Any]:
        whole = {"kind": self.kind, "levels": list(self.levels), "tree": self.tree, "nullable": self.nullable}
        return {**whole, **({} if self.level is None else {"level": self.level}), **self._written()}

    def _written(self) -> dict[str, Any]:
        own = self.__dict__["_own_spellings"]
        out = {key: value for key, value in super()._written().items() if key != "spellings"}
        return {**out, **({"spellings": own} if own else {})}


def _values_above(paths: Sequence[Path], depth: int, values: set[str]) -> dict[str, str]:
    """For every name below the level of the values, the value that it belongs to; a value's own name means itself."""
    out: dict[str, str] = {}
    for path in paths:
        value = path[depth - 1]
        for name in path[depth:]:
            if name not in values and out.setdefault(name, value) != value:
                raise SchemaError(
                    f"{name!r} lies below {out[name]!r} on one level and below {value!r} on another: give it two "
                    f"names, such as {value} / {name}"
                )
    return out


def place_of_level(levels: tuple[str, ...], level: Any) -> int:
    """The place of a level among its names."""
    if not isinstance(level, str) or level not in levels:
        raise SchemaError(f"there is no level {given(level)}; the levels are {', '.join(levels)}")
    return levels.index(level)
