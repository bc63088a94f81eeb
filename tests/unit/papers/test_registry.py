"""Which entries there are, and that each is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.errors import SfumatoError
from sfumato.papers.figure import PAPERS
from sfumato.papers.gallery import ORDER
from sfumato.papers.registry import figures, selected

WANTED = {
    "aa01": ["example1", *(f"fig{i}" for i in range(1, 10))],
    "zhang04": ["theorem1", "footnote1", "example1", "theorem2"],
    "ma06": [
        *("fig2_1", "table2_1", "fig2_2", "fig2_3", "fig3_1", "fig3_2", "fig3_3", "fig3_4", "table5_1", "table5_2"),
        *(f"fig5_{i}" for i in range(1, 11)),
        *("fig6_1", "fig6_2", "fig6_3"),
        *(f"fig7_{i}" for i in range(1, 10)),
    ],
    "tan07": ["table1", "table2", "lemma4_1", "lemma4_2", "dapl", *(f"fig{i}" for i in range(1, 8))],
}


def test_every_published_figure_has_an_entry() -> None:
    assert set(figures()) == {f"{paper}_{name}" for paper, names in WANTED.items() for name in names}


@pytest.mark.parametrize("name", sorted(figures()))
def test_an_entry_says_where_it_stands_and_what_is_claimed(name: str) -> None:
    figure = figures()[name]
    assert figure.id == name and figure.paper in PAPERS
    assert len(figure.claim) > 20 and figure.claim.endswith(".")
    assert figure.title and not figure.title.endswith(".")
    for setting in figure.settings:
        assert setting.what and (setting.paper or setting.ours)


def test_entries_are_chosen_by_id_or_by_paper() -> None:
    assert [figure.id for figure in selected(["aa01_fig7", "zhang04"])] == [
        "aa01_fig7", "zhang04_theorem1", "zhang04_footnote1", "zhang04_example1", "zhang04_theorem2",
    ]  # fmt: skip
    assert len(selected([])) == len(figures())
    with pytest.raises(SfumatoError, match="did you mean 'aa01_fig7'"):
        selected(["aa01_fg7"])


def test_the_summary_in_the_readme_counts_every_entry() -> None:
    """The block is made by `sfumato reproduce --fast`: a new entry, or one that goes, asks for a new run."""
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("<!-- made by: sfumato reproduce --fast -->")[2].partition("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    assert rows[0][1:] == [*ORDER, "not run"]
    told = {row[0]: [int(cell) for cell in row[1:]] for row in rows[2:]}
    for paper, full in PAPERS.items():
        assert sum(told[full]) == sum(figure.paper == paper for figure in figures().values()), paper
    assert told["all"] == [sum(column) for column in zip(*(told[full] for full in PAPERS.values()), strict=True)]
