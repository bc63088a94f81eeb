"""Findings that print as a table, with a title, on a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sfumato.pages.display import html_table, text_table
from sfumato.printable import printable


class ShownTable(ABC):
    """Prints its title and its rows."""

    @property
    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        """The heads of the columns, the rows, and how many rows are left out."""

    def __repr__(self) -> str:
        return f"{printable(self._title)}\n{text_table(*self._shown())}"

    def _repr_html_(self) -> str:
        return html_table(self._title, *self._shown())
