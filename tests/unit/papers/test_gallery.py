"""The gallery counts verdicts, shows every row, and escapes what it shows."""

from __future__ import annotations

from sfumato.papers.figure import DIFFERS, LOST, MISPRINT, Figure, Found, Row, Setting, claimed, misprint
from sfumato.papers.gallery import counts, error_shown, gallery, shown, summary_markdown
from sfumato.papers.run import Result


def figure(name: str) -> Figure:
    return Figure(
        name, "Figure 1", "a <title>", "It is claimed.", lambda fast: Found(()), lambda canvas, found: None,
        (Setting("cells", "not printed", "50 cells"), Setting("data", "500 values")),
    )  # fmt: skip


WANTED = [figure("aa01_a"), figure("ma06_b"), figure("ma06_c"), figure("tan07_d")]
RESULTS = [
    Result(
        "aa01_a", (claimed("fine", 0.125, True), misprint("wrong", 9.0, 7.5, "a column ratio")), 20, "<svg></svg>", 1.0
    ),
    Result("ma06_b", (Row("far", 3.0, 1.0, 0.25, DIFFERS, "because", "the network"),), 1, "<svg></svg>", 1.0),
    Result("ma06_c", tuple(Row(f"r{i}", None, None, 0.0, LOST, "gone") for i in range(20)), 0, "", 1.0),
    Result("tan07_d", (), 0, "", 0.0, "pima is not bundled: set SFUMATO_DATA"),
]


def test_verdicts_are_counted_by_paper_and_in_all() -> None:
    assert counts(WANTED, RESULTS) == [
        ["Agrawal and Aggarwal (2001)", 0, 0, 1, 0, 0],
        ["Ma (2006)", 0, 1, 0, 1, 0],
        ["Tan and Ng (2007)", 0, 0, 0, 0, 1],
        ["all", 0, 1, 1, 1, 1],
    ]
    lines = summary_markdown(WANTED, RESULTS).splitlines()
    assert lines[0] == "| paper | reproduced | differs | misprint | not recoverable | not run |"
    assert lines[-1] == "| all | 0 | 1 | 1 | 1 | 1 |"


def test_the_page_shows_numbers_reasons_settings_and_what_is_missing() -> None:
    text = gallery(WANTED, RESULTS, fast=True)
    for part in (
        "a &lt;title&gt;", "0.125", "7.5", "± 0.25", "none<br>printed", "a column ratio", "differs: the network", "50 cells",
        "the same", "SFUMATO_DATA", "needs data", "20 runs", "All 20 numbers", "fast run",
    ):  # fmt: skip
        assert part in text, part
    assert text.count("<svg") == 2 and "<title>Every published" in text
    assert "fast run" not in gallery(WANTED, RESULTS, fast=False)
    assert MISPRINT in text
    assert text.count('<div style="width: 38.4rem"><svg') == 2  # of 6.4 inches: on a phone letters had 8 pixels


def test_errors_have_two_digits() -> None:
    assert (error_shown(0.41058), error_shown(1234.5)) == ("0.41", "1,234")
    assert shown(7.6e-16) == "0"


def test_numbers_are_short() -> None:
    assert (shown(0.5), shown(1 / 3), shown(123456.7), shown(float("-inf"))) == ("0.5", "0.3333", "123,457", "-∞")
