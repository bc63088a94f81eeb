"""A model fitted to rows that a model drew: what the first learned of any one record is lost among the draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.owner.resample.blend import Blend, Setting, fit
from sfumato.owner.resample.kernel import Array
from sfumato.randomness import Source


def models(classes: Sequence[Array], setting: Setting, src: Source) -> list[Blend]:
    """The classes of one site, ready to be drawn from, relayed where the setting says so.

    A record x shifts the mean of its class by (x - m) / n, and n released rows show that mean up to sd / sqrt(n): where
    n is small an outlier is seen by this alone. So r n drawn rows stand between the records and the release, and the
    model is fitted anew to them: its parameters are blurred by sd / sqrt(r n), which nobody can undo, and which costs a
    classifier as much as having 1 + 1/r times fewer records.
    """
    first = fit(classes, setting)
    if setting.relay >= 1:
        return first
    drawn = [model.draw(max(round(setting.relay * len(X)), 3), src)[0] for model, X in zip(first, classes, strict=True)]
    return [_behind(model, X) for model, X in zip(fit(drawn, setting), classes, strict=True)]


def _behind(model: Blend, X: Array) -> Blend:
    """The relayed model with the records themselves in their cells; lambda is 1, so no row depends on its own."""
    Z = model.white(X)
    return replace(model, Z=Z, own=model.cell(Z), mix=np.ones(len(Z)), sources=np.inf)
