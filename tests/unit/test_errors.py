"""Warnings are given through one function, which one thread can silence for itself."""

from __future__ import annotations

import threading
import warnings

import pytest

from sfumato.errors import BiasWarning, ConvergenceWarning, DisclosureWarning, warn, without_warnings


def test_a_thread_is_quiet_alone():
    """Filters of the warnings module hold for all threads: one that leaves them takes another's away."""
    inside, asked = threading.Event(), threading.Event()

    def quiet_thread() -> None:
        with without_warnings():
            inside.set()
            asked.wait(10)
            warn("not given", DisclosureWarning)

    thread = threading.Thread(target=quiet_thread)
    before = list(warnings.filters)
    thread.start()
    inside.wait(10)
    assert list(warnings.filters) == before
    with pytest.warns(DisclosureWarning, match="given here"):
        warn("given here", DisclosureWarning)
    asked.set()
    thread.join(10)
    assert not thread.is_alive()


def test_only_warnings_of_the_kind_are_silent():
    with without_warnings(DisclosureWarning):
        warn("not given", DisclosureWarning)
        with pytest.warns(BiasWarning), without_warnings(ConvergenceWarning):
            warn("given", BiasWarning)
            warn("not given", DisclosureWarning)
    with pytest.warns(DisclosureWarning):
        warn("given again", DisclosureWarning)


def test_warnings_name_the_line_that_called():
    with pytest.warns(DisclosureWarning) as given:
        warn("here", DisclosureWarning)
    assert given[0].filename == __file__
