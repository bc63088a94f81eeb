"""What can go wrong, and what deserves a warning.

Every error is one line that says what, where and how to mend it. Warnings are only for statistics and disclosure.
"""

from __future__ import annotations


class SfumatoError(Exception):
    """The parent of every error that this package raises on purpose."""


class SchemaError(SfumatoError, ValueError):
    """A value, column or domain that does not fit the schema."""


class OutsideDomainError(SchemaError):
    """Rows whose value is not in its attribute's domain, or is missing where it must not be."""

    def __init__(self, column: str, kind: str, value: object, rows: int, allowed: str) -> None:
        self.column, self.kind, self.value, self.rows, self.allowed = column, kind, value, rows, allowed
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        if kind == "null":
            line = f"{rows} row{'s are' if rows != 1 else ' is'} null; {allowed}"
        else:
            held = f"{rows} row{'s hold' if rows != 1 else ' holds'} such values"
            line = f"value {shown} is not in its domain ({allowed}); {held}; mend the rows or the schema"
        super().__init__(f"column {column!r}: {line}")

    def counted(self, rows: int) -> OutsideDomainError:
        """The same for the whole table."""
        return OutsideDomainError(self.column, self.kind, self.value, rows, self.allowed)


class ChannelError(SfumatoError, ValueError):
    """A channel that cannot be built, inverted or applied as asked."""


class SchemeError(SfumatoError, ValueError):
    """A scheme that does not fit its schema, or a scheme document that cannot be read."""


class ReleaseError(SfumatoError, ValueError):
    """A release that cannot be read, written, joined or concatenated."""


class EstimationError(SfumatoError, ValueError):
    """An estimate that the data or the request does not allow."""


class MissingPartError(SfumatoError, ImportError):
    """An optional package that the request needs and that is not installed."""

    @classmethod
    def named(cls, what: str, package: str, extra: str) -> MissingPartError:
        """The one line: what needs which package, and the extra of ours that brings it."""
        return cls(f'{what} needs {package}, which is not installed: pip install "sfumato[{extra}]"')


class SfumatoWarning(UserWarning):
    """The parent of every warning that this package gives."""


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
