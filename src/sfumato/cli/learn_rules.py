"""sfumato learn rules: association rules from randomized transactions or tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.learn.rules import AssociationRules
from sfumato.release import Release


def rules(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    support: Annotated[float, typer.Option(help="The least support.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="The least confidence.")] = 0.5,
    target: Annotated[str | None, typer.Option(help="Only rules that conclude this attribute.")] = None,
    report: Annotated[str, typer.Option(help="point, few_false_positives or few_false_negatives.")] = "point",
    items: Annotated[int | None, typer.Option(help="The most items of a set.")] = None,
    show: Annotated[int, typer.Option(help="How many rules to show.")] = 20,
    test: Annotated[Path | None, typer.Option(help="Clean rows: how many frequent sets are right.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the rules (.svg, .png or .pdf).")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Find frequent item sets and the rules they make, each number with its interval.

    Examples:

        sfumato learn rules release.parquet --support .05 --confidence .8

        sfumato learn rules release.parquet --target income --report few_false_positives --plot rules.svg
    """
    release = learning.load(files)
    model = AssociationRules(support, confidence, report, items).fit(release, target=target)
    wrong = None if test is None else _against(model, release, test)
    if plot is not None:
        model.plot(plot, most=show)
    if json:
        console.emit(
            {
                "n": model.n_,
                "itemsets": [vars(found) for found in model.itemsets_],
                "rules": [vars(rule) for rule in model.rules_],
                "against_clean_rows": wrong,
            }
        )
        return
    console.say(f"{len(model.itemsets_)} frequent sets, {len(model.rules_)} rules, {model.n_:,} randomized records")
    console.table(
        ["rule", "support", "confidence", "low", "high", "lift"],
        [
            [
                f"{' + '.join(rule.antecedent)} => {' + '.join(rule.consequent)}",
                rule.support, rule.confidence, rule.confidence_low, rule.confidence_high, rule.lift,
            ]
            for rule in model.rules_[:show]
        ],
    )  # fmt: skip
    if wrong is not None:
        console.say(
            f"against the clean rows: {wrong['false_positives']} sets too many, {wrong['false_negatives']} missing, "
            f"of {wrong['frequent']}"
        )


def _against(model: AssociationRules, release: Release, test: Path) -> dict[str, int]:
    from sfumato.evidence import evidence

    clean = AssociationRules(**(model.get_params() | {"report": "point"})).fit(evidence(test, release.schema))
    true, said = {found.items for found in clean.itemsets_}, {found.items for found in model.itemsets_}
    return {"frequent": len(true), "false_positives": len(said - true), "false_negatives": len(true - said)}
