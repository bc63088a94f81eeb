"""What can go wrong, and what deserves a warning.

Every error is one line that says what, where and how to mend it. Warnings are only for statistics and disclosure.
Messages end up in logs and bug reports, so they name columns, kinds and counts, never a value of the data, unless
``show_values`` asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from sfumato.printable import one_line

#: Kinds of warnings that are not given; set by ``without_warnings``.
_silent: ContextVar[tuple[type[Warning], ...]] = ContextVar("without_warnings", default=())
#: Where warnings are kept instead of given; set by ``kept_warnings``.
_kept: ContextVar[list[SfumatoWarning] | None] = ContextVar("kept_warnings", default=None)
#: Whether errors may quote values; set by ``show_values``, and by the command line for a whole run.
showing: ContextVar[bool] = ContextVar("show_values", default=False)


@contextmanager
def show_values(shown: bool = True) -> Iterator[None]:
    """Let errors quote the values they complain about; what ``--show-values`` does on the command line.

    >>> with show_values():
    ...     quoted("Smith")
    ", got 'Smith'"
    """
    before = showing.set(shown)
    try:
        yield
    finally:
        showing.reset(before)


def showing_values() -> bool:
    """Whether errors may quote values."""
    return showing.get()


def quoted(value: Any) -> str:
    """The end of a message that quotes a value, where values may be shown; nothing otherwise.

    >>> quoted("Smith")
    ''
    """
    if not showing_values():
        return ""
    return f", got {value:g}" if isinstance(value, float) else f", got {value!r}"


def cause(problem: BaseException) -> str:
    """What a failure inside a document is called, without what the document says there.

    >>> cause(KeyError("kind")), cause(ValueError("invalid literal: 'Smith'"))
    ("'kind' is missing", 'ValueError')
    """
    missing = isinstance(problem, KeyError) and problem.args and isinstance(problem.args[0], str)
    return f"{problem.args[0]!r} is missing" if missing else type(problem).__name__ + quoted(str(problem))


class SfumatoError(Exception):
    """The parent of every error that this package raises on purpose. Its message is one printable line."""

    def __init__(self, message: object = "", *rest: object) -> None:
        super().__init__(one_line(str(message)), *rest)


class SchemaError(SfumatoError, ValueError):
    """A value, column or domain that does not fit the schema."""


class OutsideDomainError(SchemaError):
    """Rows whose value is not in its attribute's domain, or is missing where it must not be."""

    #: What the rows hold, by kind of problem.
    KINDS: ClassVar[dict[str, str]] = {
        "value": "a value that is not in its domain",
        "text": "text where a number is expected",
        "below": "a number below the range",
        "above": "a number above the range",
        "range": "a number outside the range",
        "step": "a number between two steps",
        "date": "a date outside the range",
        "no date": "something that is no date",
        "node": "a value of a wider level",
        "long": "a text that is too long",
        "letter": "a text with letters that are not in the alphabet",
    }
    _ONE_RANGE: ClassVar[set[str]] = {"below", "above", "range"}

    def __init__(self, column: str, kind: str, value: object, rows: int, allowed: str) -> None:
        self.column, self.kind, self.rows, self.allowed = column, kind, rows, allowed
        self.value = value if showing_values() else None  # an exception may be logged with all it holds
        if kind == "null":
            line = f"{rows:,} row{'s are' if rows != 1 else ' is'} null; {allowed}"
        else:
            held = f"{rows:,} row{'s hold' if rows != 1 else ' holds'} {self.KINDS.get(kind, self.KINDS['value'])}"
            schema = "leave the step out of the schema" if kind == "step" else "the schema"
            line = f"{held} ({allowed}){quoted(value)}; mend the rows or {schema}"
            if kind in {*self._ONE_RANGE, "date"}:
                line += ', whose "clip" sends them to the nearest end'
            if kind in {"long", "letter"}:
                line += ', whose "clip" cuts them'
        super().__init__(f"column {column!r}: {line}")

    def over(self, found: list[OutsideDomainError]) -> OutsideDomainError:
        """The same for the whole table, of which these problems were found piece by piece."""
        alike = self._ONE_RANGE if self.kind in self._ONE_RANGE else {self.kind}
        same = [problem for problem in found if problem.kind in alike]
        kind = self.kind if {problem.kind for problem in same} <= {self.kind} else "range"
        rows = max(self.rows, sum(problem.rows for problem in same))
        return OutsideDomainError(self.column, kind, self.value, rows, self.allowed)

    def __reduce__(self) -> Any:
        return type(self), (self.column, self.kind, self.value, self.rows, self.allowed)


class ChannelError(SfumatoError, ValueError):
    """A channel that cannot be built, inverted or applied as asked."""


class SchemeError(SfumatoError, ValueError):
    """A scheme that does not fit its schema, or a scheme document that cannot be read."""


class ReleaseError(SfumatoError, ValueError):
    """A release that cannot be read, written, joined or concatenated."""


class EstimationError(SfumatoError, ValueError):
    """An estimate that the data or the request does not allow."""


class NotAskedError(EstimationError):
    """A table of attributes that no form asks together."""


class NoRowsError(EstimationError):
    """A release without rows."""

    def __init__(self, message: object = "the release holds no rows: there is nothing to estimate") -> None:
        super().__init__(message)


class MissingTableError(EstimationError):
    """A table of counts that a site did not share."""


class MissingPartError(SfumatoError, ImportError):
    """An optional package that the request needs and that is not installed."""

    @classmethod
    def named(cls, what: str, package: str, extra: str) -> MissingPartError:
        """The one line: what needs which package, and the extra of ours that brings it."""
        return cls(f'{what} needs {package}, which is not installed: pip install "sfumato[{extra}]"')


class SfumatoWarning(UserWarning):
    """The parent of every warning that this package gives. Its message is one printable line."""

    def __init__(self, message: object = "", *rest: object) -> None:
        super().__init__(one_line(str(message)), *rest)


class DisclosureWarning(SfumatoWarning):
    """Something that tells more about the data than the scheme promises."""


class OutsideDomainWarning(SfumatoWarning):
    """Values outside their domain that went to "other" or to the nearest end, as the domain asks."""


class SingularChannelWarning(SfumatoWarning):
    """A channel whose output says little or nothing about some inputs."""


class NegativeCountsWarning(SfumatoWarning):
    """Estimated counts that fell below zero, as unbiased estimates of small counts do."""


class BiasWarning(SfumatoWarning):
    """An estimate that was asked for and is biased, where a better one is at hand."""


class ConvergenceWarning(SfumatoWarning):
    """An iteration that was stopped before it reached its optimum."""


class UnrecoverableWarning(SfumatoWarning):
    """A setting in which the data cannot decide what was asked."""


class NothingForetoldWarning(UnrecoverableWarning):
    """A target of which the data show nothing that foretells it."""


def warn(message: str, category: type[SfumatoWarning], stacklevel: int = 1) -> None:
    """Give a warning, unless ``without_warnings`` or ``kept_warnings`` holds.

    ``stacklevel`` is that of ``warnings.warn``.
    """
    if issubclass(category, _silent.get()):
        return
    kept = _kept.get()
    if kept is None:
        warnings.warn(message, category, stacklevel=stacklevel + 1)
    else:
        kept.append(category(message))


@contextmanager
def without_warnings(category: type[SfumatoWarning] = SfumatoWarning) -> Iterator[None]:
    """Give no such warnings, in this thread alone: ``warnings.catch_warnings`` would meddle with all threads.

    >>> with without_warnings():
    ...     warn("nobody reads this", DisclosureWarning)
    """
    before = _silent.set((*_silent.get(), category))
    try:
        yield
    finally:
        _silent.reset(before)


@contextmanager
def kept_warnings() -> Iterator[list[SfumatoWarning]]:
    """Keep all warnings of this thread, for who writes them elsewhere.

    >>> with kept_warnings() as kept:
    ...     warn("this goes on a page", UnrecoverableWarning)
    >>> [str(one) for one in kept]
    ['this goes on a page']
    """
    kept: list[SfumatoWarning] = []
    before = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(before)
