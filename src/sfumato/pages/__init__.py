"""The shell of every page the product makes: one stylesheet, one look, in light and dark, on a phone and on paper."""

from sfumato.pages.shell import Section, page

__all__ = ["Section", "page"]
