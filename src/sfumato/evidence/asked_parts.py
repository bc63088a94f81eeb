"""Which parts of a release asked which attributes."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.errors import NoRowsError, NotAskedError
from sfumato.evidence.counting import all_together
from sfumato.printable import many
from sfumato.release import Release
from sfumato.released.part import Part


def asked_together(release: Release, names: Sequence[str]) -> bool:
    """Whether some form asks all of these attributes."""
    return any(all(name in part.scheme.schema for name in names) for part in release.parts)


def largest_asked(release: Release, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The largest sets of these attributes that some form asks together."""
    found = {tuple(name for name in names if name in part.scheme.schema): None for part in release.parts if len(part)}
    return [one for one in found if one and not any(set(one) < set(other) for other in found)]


def no_answers(release: Release, names: Sequence[str]) -> NoRowsError:
    """The error where no record was asked all of these attributes, though a form asks them."""
    if not len(release):
        return NoRowsError()
    return NoRowsError(f"none of {many(len(release), 'record')} was asked {all_together(names)}: collect more of them")


def asking(release: Release, names: Sequence[str]) -> tuple[Part, ...]:
    """The parts in which all of these attributes were asked."""
    found = tuple(part for part in release.parts if all(name in part.scheme.schema for name in names))
    if not found:
        raise NotAskedError(
            f"no form asks {all_together(names)}: their table cannot be estimated by itself; "
            f'a model of all forms (method="model") answers for it, or design forms that ask them'
        )
    return found
