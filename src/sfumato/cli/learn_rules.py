"""sfumato learn rules: association rules from randomized transactions or tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.cli.choices import one_of
from sfumato.errors import SfumatoError
from sfumato.evidence import Evidence, evidence
from sfumato.learn.rules import AssociationRules
from sfumato.printable import many
from sfumato.release import Release

_BY = {"lower": "lower limits", "estimate": "point estimates", "upper": "upper limits"}


def rules(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    support: Annotated[float, typer.Option(help="The least support.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="The least confidence.")] = 0.5,
    target: Annotated[str | None, typer.Option(help="Only rules that conclude this attribute.")] = None,
    by: Annotated[
        str,
        typer.Option(
            help="What must reach them: the lower limit, the estimate, or the upper limit.", autocompletion=one_of(*_BY)
        ),
    ] = "lower",
    point_estimates: Annotated[
        bool, typer.Option("--point-estimates", help="The same as --by estimate: also what may be noise.")
    ] = False,
    items: Annotated[int | None, typer.Option(help="The most items of a set.")] = None,
    any_lift: Annotated[
        bool, typer.Option("--any-lift", help="Also rules that conclude only what most records hold anyway.")
    ] = False,
    show: Annotated[int, typer.Option(min=1, help="How many rules to show.")] = 20,
    columns: learning.Columns = None,
    test: Annotated[Path | None, typer.Option(help="Clean rows: how many frequent sets are right.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the rules (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Find frequent item sets and the rules they make, each number with its interval.

    By default a set or rule is shown when its lower limit reaches the least support and confidence, and the list is
    sorted by that limit. The limits allow for the number of sets looked at: on average at most 5 % of the sets shown,
    and of the rules, are false. One list may hold false ones.

    The lift says how many times likelier the right side is where the left side holds. Rules whose lift may be 1 or less
    tell nothing about the left side: they are counted, not shown, unless --any-lift asks for them.

    Examples:

        sfumato learn rules release.parquet --support .05 --confidence .8

        sfumato learn rules release.parquet --target income --plot rules.svg

        sfumato learn rules release.parquet --any-lift --point-estimates
    """
    release = learning.load(files, columns, target)
    if point_estimates and by not in ("lower", "estimate"):
        raise SfumatoError("--point-estimates means --by estimate: give only one of them")
    model = AssociationRules(support, confidence, "estimate" if point_estimates else by, items)
    with console.progress("sets and rules", None) as advance:
        found = model.fit(learning.named(release, columns, target), target=target, progress=advance).rules_
    wrong = None if test is None else _against(model, learning.named(release, columns, target), test)
    shown = found if any_lift else [rule for rule in found if rule.tells_more]
    if plot is not None and shown:
        model.plot(plot, most=show, rules=shown)
    elif plot is not None:
        console.note(f"there are no rules to draw: {plot} was not written")
    if json:
        console.emit(
            {
                "n": model.n_,
                "by": model.by,
                "looked_at": model.looked_at_,
                "claim": model.claim,
                "shortfall": model.shortfall_,
                "itemsets": [vars(found) for found in model.itemsets_],
                "rules": [vars(rule) for rule in found],
                "against_clean_rows": wrong,
            }
        )
        return
    console.say(
        f"{many(len(model.itemsets_), 'frequent set')} of {model.looked_at_:,} looked at, {many(len(found), 'rule')}, "
        f"{many(model.n_, 'randomized record')}, by {_BY[model.by]}"
    )
    if model.itemsets_:
        console.say(model.claim)
    if shown:
        console.table(
            ["rule", "support", "support low", "confidence", "low", "high", "lift", "lift low"],
            [
                [
                    f"{' + '.join(rule.antecedent)} => {' + '.join(rule.consequent)}",
                    rule.support, rule.support_low, rule.confidence, rule.confidence_low, rule.confidence_high,
                    rule.lift, rule.lift_low,
                ]
                for rule in shown[:show]
            ],
        )  # fmt: skip
    if len(shown) > show:
        console.note(f"the first {show:,} of {len(shown):,} rules: --show shows more, --json all of them")
    hidden = len(found) - len(shown)
    if hidden:
        console.note(
            f"{hidden:,} of {many(len(found), 'rule')} not shown: where the lift may be 1 or less, the conclusion is "
            "only what most records hold anyway; --any-lift shows all"
        )
    if wrong is not None:
        console.say(
            f"against the clean rows: {many(wrong['false_positives'], 'set')} too many, "
            f"{wrong['false_negatives']} missing, of {wrong['frequent']}"
        )


def _against(model: AssociationRules, source: Release | Evidence, test: Path) -> dict[str, int]:
    clean = AssociationRules(**(model.get_params() | {"by": "estimate"})).fit(evidence(test, source.schema))
    true, said = {found.items for found in clean.itemsets_}, {found.items for found in model.itemsets_}
    return {"frequent": len(true), "false_positives": len(said - true), "false_negatives": len(true - said)}
