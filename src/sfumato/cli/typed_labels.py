"""Values of an attribute as somebody types them, or pastes what a command has printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sfumato.domains import Domain
from sfumato.errors import SfumatoError
from sfumato.printable import label_text, plain_bins, printable, readable_bins
from sfumato.reading.name_lists import listed

_SHOWN = 12  # values that an error names
_COMMA = "\x00"
#: A bin as its label is written; its comma ends nothing.
_BIN = re.compile(r"\[[^\[\],]*,[^\[\],)]*[\])]")


def listed_labels(text: str) -> list[str]:
    """Values between commas, bins among them as they are printed or as their labels are.

    >>> listed_labels("[0, 5000), [5000 to 20,000]=.6,b")
    ['[0, 5000)', '[5000, 20000]=.6', 'b']
    """
    whole = _BIN.sub(lambda found: found[0].replace(",", _COMMA), plain_bins(text))
    return [part.replace(_COMMA, ",") for part in listed(whole)]


class TypedLabels:
    """The labels of an attribute under every text that stands for them.

    >>> from sfumato.domains import Numeric
    >>> gdp = TypedLabels(Numeric(edges=(0, 5000, 20000), nullable=True))
    >>> gdp.meant("[5000 to 20,000]"), gdp.meant("[0, 5000)"), gdp.meant("7000"), gdp.meant("no answer")
    ('[5000, 20000]', '[0, 5000)', '[5000, 20000]', None)
    >>> TypedLabels(Numeric(0, 20, bins=2, step=5)).meant("7")
    '[0, 10)'
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        own = [(label_text(label), label) for label in domain.labels]
        shown = [(printed, label) for text, label in own for printed in (printable(text), " ".join(text.split()))]
        gone = [("", label) for label in domain.labels if label is None]
        self._texts = dict(reversed([*own, *gone, *shown]))  # the first of equal ones counts

    def written(self, text: str) -> bool:
        """Whether the text is that of a label, as it stands or as it is printed."""
        return text in self._texts or plain_bins(text) in self._texts

    def meant(self, text: str) -> Any:
        """The label that a text means: the label itself, "no answer" or nothing for the missing one, a number in a bin.

        A text that means none is an error that names some that do.
        """
        for written in (text, plain_bins(text)):
            if written in self._texts:
                return self._texts[written]
        with suppress(ValueError):
            wanted = float(text)
            for label in self._domain.labels:
                if isinstance(label, int | float) and not isinstance(label, bool) and label == wanted:
                    return label
        if text and self._domain.kind in ("numeric", "date"):
            with suppress(SfumatoError, ValueError):
                return self._domain.labels[self._domain.code(text)]
        raise SfumatoError(f"no value {text!r}; it has {some_labels(self._domain.labels)}")


def some_labels(labels: Sequence[Any]) -> str:
    """The first of them, as they are printed."""
    shown = ", ".join(readable_bins(label_text(label)) for label in labels[:_SHOWN])
    return shown + ", ..." * (len(labels) > _SHOWN)
