"""What a resampled file says of itself: how it was made, how many rows of each class, what was measured or proved.

The setting is public: whoever judges the release must know it, and hiding it would protect nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import ReleaseError
from sfumato.membership import Method, Risk
from sfumato.owner.resample.model import FORMS
from sfumato.owner.resample.plan import Plan, repeat
from sfumato.owner.resample.request import Key, Request
from sfumato.owner.resample.setting import Setting
from sfumato.reading import tables
from sfumato.reading.json_documents import read_json
from sfumato.reading.parquet_file import parquet_notes
from sfumato.writing.described_file import KEY, RESAMPLED, sidecar

VERSION = 2
#: As many as are shown: rounded twice, a number differs from itself.
DIGITS = 3


def proportions(rows: Mapping[Key, int], sites: bool) -> list[dict[str, Any]]:
    """Rows of each class at each site."""
    return [
        {
            **({"site": plain(place)} if sites else {}),
            **({"class": plain(label)} if label is not None else {}),
            "rows": n,
        }
        for (place, label), n in rows.items()
    ]


def describe(
    plan: Plan, counts: list[dict[str, Any]], names: Sequence[str] = (), target: str | None = None
) -> dict[str, Any]:
    """Method and setting, proportions, asked against measured risk of each site, and what is proved."""
    request, proof = plan.request, plan.request.guarantee
    out: dict[str, Any] = {"format": RESAMPLED, "version": VERSION, "method": request.words, "target": target}
    if proof is not None and plan.ranges is not None:
        ranges = dict(zip(names, plan.ranges.tolist(), strict=True))
        out["proved"] = {
            "epsilon": proof.epsilon,
            "delta": proof.delta,
            "auc": round(proof.auc, DIGITS),
            "ranges": ranges,
        }
    elif plan.settings:
        out["settings"] = [
            {"site": plain(place), "form": one.form.name, "strength": one.strength}
            for place, one in plan.settings.items()
        ]
    else:
        out["kernel"] = {"bandwidth": request.multiplier, "shrink": request.shrink, "per_class": request.per_class}
    return {**out, "proportions": counts, "risk": [risk_entry(place, one) for place, one in plan.risk.items()]}


def risk_entry(place: Any, one: Risk) -> dict[str, Any]:
    """What the shadow attack reached at one site, rounded."""
    return {
        "site": plain(place),
        "asked": one.asked,
        "measured": round(one.auc, DIGITS),
        "error": round(one.error, DIGITS),
        "outliers_asked": one.outliers_asked,
        "outliers": round(one.outliers, DIGITS),
        "outliers_error": round(one.outliers_error, DIGITS),
        "held": one.held if one.asked is not None else None,
    }


def method_of(about: Mapping[str, Any], names: Sequence[str]) -> Method:
    """The way in which a described file was made, to draw shadow releases with: one site at a time."""
    try:
        if about["format"] != RESAMPLED or about["version"] != VERSION:
            raise ReleaseError(f"this file is a {about['format']} of version {about['version']}, not a resampled table")
        rows = sum(int(entry["rows"]) for entry in about["proportions"])
        if len({entry.get("site") for entry in about["proportions"]}) > 1:
            raise ReleaseError("several sites released these rows, each by itself: attack their files one by one")
        if "proved" in about:
            said = about["proved"]
            ranges = np.array([said["ranges"][name] for name in names], dtype=np.float64)
            request = Request.check("scott", False, True, None, None, said["epsilon"], said["delta"], ranges)
            return repeat(request, None, ranges, rows)
        if "settings" in about:
            said = about["settings"][0]
            form = next(form for form in FORMS if form.name == said["form"])
            return Setting(form, float(said["strength"])).of_rows(rows)
        said = about["kernel"]
        request = Request.check(said["bandwidth"], said["shrink"], said["per_class"], None, None, None, None, None)
        return repeat(request, None, None, rows)
    except (KeyError, TypeError, ValueError, IndexError, StopIteration):
        raise ReleaseError("the description of this file does not say how it was resampled: write it again") from None


def read_description(path: str | Path) -> dict[str, Any]:
    """What a file of ``sfumato resample`` says of itself."""
    missing = ReleaseError(f"{path} does not say how it was made: only files of sfumato resample do")
    beside = sidecar(Path(path))
    try:
        if tables.suffix(path) in tables.CSV:
            text = beside.read_bytes() if beside.exists() else None
        else:
            text = parquet_notes(path).get(KEY)
    except OSError:
        raise ReleaseError(f"{path} cannot be read as a table") from None
    if text is None:
        raise missing
    about = read_json(text, f"the description of {path}")
    if not isinstance(about, dict) or about.get("format") != RESAMPLED:
        raise missing
    return about


def plain(value: Any) -> Any:
    """A label or a site as JSON can say it: dates, decimals and the like as text."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | int | float | bool) else str(value)
