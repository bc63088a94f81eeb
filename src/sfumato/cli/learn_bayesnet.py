"""sfumato learn bayesnet: a Bayesian network from one or more releases."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, isnan, prod
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console, learning
from sfumato.cli.choices import one_of
from sfumato.errors import SfumatoError
from sfumato.evidence.kinds import as_evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.edges import edge_rows, words_of_p_values, words_of_tests
from sfumato.learn.bayesnet.parameters import PRIORS
from sfumato.learn.bayesnet.scores import SCORES
from sfumato.learn.bayesnet.structure import read_structure
from sfumato.pages.display import settled
from sfumato.printable import many
from sfumato.reading.name_lists import listed

#: What is printed unasked: links, rows of one table, rows of all tables.
MOST_LINKS = 40
MOST_ROWS = 24
MOST_IN_ALL = 120


def bayesnet(
    files: Annotated[list[Path], typer.Argument(help="One or more releases; several are taken as different records.")],
    columns: learning.Columns = None,
    structure: Annotated[Path | None, typer.Option(help="A structure to fill (.bif, or .json of parents).")] = None,
    order: Annotated[
        str | None, typer.Option(help="Search under this order, comma-separated; attributes left out follow.")
    ] = None,
    score: Annotated[str, typer.Option(help="wald, bic, bayes or bdeu.", autocompletion=one_of(*SCORES))] = "wald",
    max_parents: Annotated[
        int | None, typer.Option(help="The most parents of a node; by default 3, as far as the tables fit.")
    ] = None,
    penalty: Annotated[float, typer.Option(help="C* of the bic score.")] = 1.0,
    eta: Annotated[float, typer.Option(help="The threshold of the bayes score under an order.")] = 1.0,
    prior: Annotated[
        str, typer.Option(help="ml, k2, bdeu, or a number of records.", autocompletion=one_of(*PRIORS))
    ] = "ml",
    tree: Annotated[bool, typer.Option("--tree", help="The best tree (Chow and Liu) instead of a search.")] = False,
    memory: Annotated[
        float, typer.Option(help="What the search may use, in GB; sets of parents that need more are left out.")
    ] = 1.0,
    plot: Annotated[Path | None, typer.Option(help="Also draw the network (.svg, .png or .pdf).")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Draw the tables beside the network.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every link and every table, however many there are.")
    ] = False,
    bif: Annotated[Path | None, typer.Option(help="Also write the network in the BIF format.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Learn a Bayesian network: its links with the evidence for each, and its probabilities with their deviations.

    Examples:

        sfumato learn bayesnet release.parquet

        sfumato learn bayesnet release.parquet --order sex,age,income --plot network.svg

        sfumato learn bayesnet north.parquet south.parquet --structure network.json --bif learned.bif
    """
    release = learning.load(files, columns)
    try:
        weight: str | float = float(prior)
    except ValueError:
        weight = prior
    if structure is not None and (order is not None or tree):
        raise SfumatoError("give --structure, or how to search (--order, --tree), and not both")
    if order is not None and tree:
        raise SfumatoError("a tree follows no order: give --order or --tree, and not both")
    net = BayesianNetwork(
        read_structure(structure) if structure is not None else None,
        listed(order) if order is not None else None,
        max_parents,
        score,
        search="tree" if tree else "auto",
        prior=weight,
        eta=eta,
        penalty=penalty,
        memory=memory,
    )
    source = as_evidence(learning.named(release, columns))
    total = None if order is None and structure is None else len(source.schema)
    with console.progress("nodes" if total else "sets of parents", total) as advance:
        net.fit(source, progress=lambda _: advance(1))
    if plot is not None:
        drawn = many(len(net.edges_), "link")
        net.plot(plot, cpts=tables, title=f"{drawn}; the thicker, the surer")
    if bif is not None:
        net.to_bif(bif)
    if json:
        console.emit(_document(net))
        return
    links_found = many(len(net.edges_), "link")
    console.say(f"{many(len(net.parents_), 'node')}, {links_found}, from {many(len(release), 'randomized record')}")
    links = net.edges_
    if len(links) > MOST_LINKS and not everything:
        links = tuple(sorted(links, key=lambda e: (e.p_value, -e.statistic / max(e.df, 1)))[:MOST_LINKS])
    console.table(*edge_rows(links))
    if said := words_of_tests(links):
        console.note(said)
    if said := words_of_p_values(links):
        console.note(said)
    if any(isfinite(e.trend) for e in links):
        console.note("trend: in standard deviations, positive where both rise together")
    if len(links) < len(net.edges_):
        console.note(f"the {len(links)} surest of {len(net.edges_)} links; --all prints them all")
    hidden = [] if everything else _large(net)
    rows = sum(prod(net.cpts_[node].schema.sizes()) for node in hidden)
    for node, cpt in net.cpts_.items():
        if node in hidden:
            continue
        frame = cpt.frame()
        console.say()
        console.table(
            [*frame.schema.names[: len(cpt.schema)], "probability", "sd", "low", "high"],
            [
                [
                    *list(row.values())[: len(cpt.schema)],
                    *(
                        [settled(row["probability"], row["sd"]), row["sd"], row["low"], row["high"]]
                        if row["known"]
                        else ["not known", "", "", ""]
                    ),
                ]
                for row in frame.to_pylist()
            ],
            title=f"{node} given {', '.join(cpt.parents)}" if cpt.parents else node,
        )
    if hidden:
        console.note(
            f"{rows:,} rows of the tables of {console.some(hidden)} are not printed: --all prints them, "
            "--json and --bif have them"
        )


def _large(net: BayesianNetwork) -> list[str]:
    """The nodes whose tables are left out: long ones, and all that come when enough has been printed."""
    hidden, printed = [], 0
    for node, cpt in net.cpts_.items():
        length = prod(cpt.schema.sizes())
        if length > MOST_ROWS or printed + length > MOST_IN_ALL:
            hidden.append(node)
        else:
            printed += length
    return hidden


def _document(net: BayesianNetwork) -> dict[str, object]:
    return {
        "parents": {node: list(held) for node, held in net.parents_.items()},
        "edges": [asdict(e) | {"trend": None if isnan(e.trend) else e.trend} for e in net.edges_],
        "unsupported": net.unsupported_,
        "probabilities": {node: cpt.frame().to_pylist() for node, cpt in net.cpts_.items()},
    }
