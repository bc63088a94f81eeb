"""The report that a privacy officer reads before any data is collected: ``sfumato.report(scheme)``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.assess.precision import check_n
from sfumato.assess.report.cautions import Caution, cautions
from sfumato.assess.report.correlated import pair_names
from sfumato.assess.report.facts import Facts, gather
from sfumato.assess.report.page import TOGETHER, page
from sfumato.assess.report.person import check_rounds
from sfumato.assess.report.plain import plain
from sfumato.assess.report.sentences import bound, grade
from sfumato.assess.report.summary import factor, graded_gamma, record_epsilon, several, verdict
from sfumato.assess.subject import is_noise
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence
from sfumato.forms import Forms
from sfumato.input_checks import check_kind, path_of
from sfumato.owner.ledger import Ledger
from sfumato.pages.display import html_table
from sfumato.printable import many
from sfumato.scheme import Scheme
from sfumato.writing.whole_files import replacing

TITLE = "What does this release disclose?"


@dataclass(frozen=True, eq=False)
class Report:
    """What an adversary learns and what accuracy is left, in words first and numbers beside."""

    facts: Facts
    title: str = TITLE

    @property
    def warnings(self) -> list[Caution]:
        """The warnings that apply, serious ones first."""
        return cautions(self.facts)

    def html(self, path: str | Path | None = None) -> str:
        """One self-contained page; written to ``path`` if one is given."""
        text = page(self.facts, self.title)
        if path is not None:
            with replacing(path_of(SfumatoError, "path", path), overwrite=True) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return text

    def text(self, width: int = 100) -> str:
        """The same as plain text, in lines of at most so many letters."""
        return plain(self.facts, self.title, width)

    def json(self) -> str:
        """Every number, as JSON; infinity is the word "inf"."""
        found = [{"title": c.title, "text": c.text, "serious": c.serious} for c in self.warnings]
        return json.dumps({**self.facts.plain(), "warnings": found}, indent=1, ensure_ascii=False)

    def _repr_html_(self) -> str:
        rows = [
            [unit.title, grade(unit.measures["gamma"]), bound(unit.measures["gamma"])]
            for unit in self.facts.units
            if unit.channel.k > 1
        ]
        rows += [[name, grade(math.inf), bound(math.inf)] for name in self.facts.noise]
        if several(self.facts):
            epsilon = record_epsilon(self.facts)
            rows.append([TOGETHER, grade(graded_gamma(epsilon)), factor(epsilon)])
        return html_table(verdict(self.facts), ["attribute", "protection", "gamma"], rows)

    def __repr__(self) -> str:
        serious = sum(c.serious for c in self.warnings)
        units = many(len(self.facts.units), "attribute or group", "attributes or groups")
        return f"Report({units}, {many(serious, 'serious warning')})"


def report(
    scheme: Scheme | Forms,
    evidence: Evidence | None = None,
    n: int | None = None,
    *,
    prior: Mapping[str, Any] | None = None,
    noise: Mapping[str, Any] | None = None,
    ledger: Any = None,
    rounds: int = 52,
    title: str = TITLE,
) -> Report:
    """Assess a scheme before (or, with evidence, after) data is collected.

    ``prior`` gives the public shares of an attribute's values by its name ("a+b" for a group), as a list or as
    {value: share}; without it, shares estimated from ``evidence`` are used, else every value counts as equally likely.
    "a+b" of two attributes that are answered apart, as a table, tells what both answers betray of either.
    ``noise`` names columns released with additive noise beside the scheme, ``ledger`` (or its path) tells what was
    released before, and ``rounds`` how often people are to be asked in a year.

    >>> import sfumato as sf
    >>> schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    >>> report(sf.Scheme(schema, {"sex": sf.channels.binary(.25, .25)}), n=1000)
    Report(1 attribute or group, 0 serious warnings)
    """
    if not isinstance(scheme, Scheme | Forms):
        raise SfumatoError(f"report takes a scheme or forms, got {type(scheme).__name__} instead")
    if evidence is not None:
        check_kind(SfumatoError, "evidence", evidence, Evidence, "evidence, as sf.evidence(release) makes it")
    for name, named in (("prior", prior), ("noise", noise)):
        check_kind(SfumatoError, name, named, Mapping | None, "given by attributes")
    check_kind(SfumatoError, "ledger", ledger, Ledger | str | Path | None, "a Ledger or the path of one")
    check_kind(SfumatoError, "title", title, str, "text")
    if evidence is not None and n is None:
        n = evidence.n
    if n is not None:
        check_n(n)
    forms = scheme.forms if isinstance(scheme, Forms) else (scheme,)
    known = {"+".join(group.names) for form in forms for group in form.groups} | set(scheme.schema.names)
    for name in prior or {}:
        if name not in known and pair_names(name, scheme.schema.names) is None:
            raise SfumatoError(f"prior names {name!r}, which is not an attribute or group of the scheme")
    for name, density in (noise or {}).items():
        if not is_noise(density):
            raise SfumatoError(f"noise[{name!r}] must be additive noise, got {type(density).__name__} instead")
    if isinstance(ledger, str | Path):
        ledger = Ledger(ledger)
    spent, booked = ({}, None) if ledger is None else (ledger.spent(), ledger.total())
    return Report(gather(scheme, evidence, n, prior or {}, noise or {}, spent, check_rounds(rounds), booked), title)


__all__ = ["Caution", "Facts", "Report", "report"]
