"""A formula is no program: formulaic evaluates Python, so nothing but arithmetic on attributes may reach it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.hostile.guard import guarded

import sfumato as sf
from sfumato.errors import EstimationError
from sfumato.learn.regression.formula import read_formula

pytest.importorskip("formulaic")
SCHEMA = sf.Schema(
    {
        "y": sf.Categorical(("a", "b")),
        "x": sf.Numeric(1, 10, bins=5),
        "the 'odd' one": sf.Numeric(1, 10, bins=5),
        "open": sf.Numeric(1, 10, bins=5),
    }
)


@pytest.mark.parametrize(
    "right",
    [
        "{{open('{0}', 'w').write('x') + x}}",
        "I(open('{0}', 'w').write('x') + x)",
        "{{x.to_csv('{0}') or x}}",
        "{{x . to_csv('{0}') or x}}",
        "{{__import__('os').system('touch {0}') + x}}",
        "x + np.save('{0}', x)",
        "x + np.load('{0}', allow_pickle=True)",
        "{{(log:=open) or log('{0}', 'w')}}",
        "{{(log := x.to_csv) or log('{0}')}}",
        "{{log('{0}', 'w') for log in {{open}}}}",
        "I((x.to_csv)('{0}') or x)",
        "I(`x`.to_csv('{0}') or x)",
        "I(log(f\"{{x.to_csv('{0}')}}\") + x)",
        "I(log(f'{{open}}') + x)",
        "I((lambda log: log('{0}'))(x.to_csv) or x)",
        "[x.to_csv('{0}')]",
        "x\\\n.to_csv('{0}')",
        "x @ x",
    ],
)
def test_a_formula_runs_no_program(right: str, tmp_path: Path) -> None:
    target = tmp_path / "written"
    with pytest.raises(EstimationError) as error:
        read_formula(f"y ~ {right.format(target)}", SCHEMA)
    assert not target.exists() and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "right",
    [
        "I((((((((9**10)**10)**10)**10)**10)**10)**10)**10 * x)",
        "I(I(I(I(9**10)**10)**10)**10 * x)",
        "I(x * (1 << 40000000000))",
        "I('x' * 1000000000)",
        "I(x == ('y' * 1000000000))",
        "I(x == '%9999999999d' % 5)",
        "(x + y + open + 1 + x + y + open + x) ** 10",
        "-(x * open) ** 10",
        "1 - (x * open) ** 9",
        "(x + y + open):(x + y + open):(x + y + open):(x + y + open):(x + y + open):(x + y + open):(x + y + open)",
        " * ".join(["x", "y", "open"] * 9),
    ],
)
def test_powers_texts_and_products_are_bounded(right: str) -> None:
    with guarded(seconds=1), pytest.raises(EstimationError):
        read_formula(f"y ~ {right}", SCHEMA)


ODD_NAMES = ("np", "C", "I", "log", "a.b", "x y", "True", "__import__('os')", "base", "\\", "x`y", "poly")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_attribute_is_itself_whatever_it_is_called(name: str) -> None:
    schema = sf.Schema(
        {"y": sf.Categorical(("a", "b")), "z": sf.Numeric(1, 10, bins=5), name: sf.Numeric(0, 2, bins=2)}
    )
    if "`" in name:
        with pytest.raises(EstimationError):
            read_formula(f"y ~ `{name}`", schema)
        return
    _, columns = read_formula(f"y ~ `{name}` + np.exp(`{name}`) + z", schema)
    assert [column.names for column in columns] == [(), (name,), (name,), ("z",)]
    assert columns[1].term == name and columns[2].term == f"np.exp({name})"
    assert columns[1].table.tolist() == [0.5, 1.5]


def test_what_formulaic_says_is_one_line_without_colours() -> None:
    with pytest.raises(EstimationError) as error:
        read_formula("y ~ (x + ", SCHEMA)
    assert "x1b" not in str(error.value) and "_attribute_" not in str(error.value)


@pytest.mark.parametrize(
    "right", ["(x + y) ** 99999", "{9**9**9 * x}", "{x ** 9 ** 9}", "(" * 5000 + "x" + ")" * 5000, "x +" * 9000 + "x"]
)
def test_a_short_formula_does_not_keep_the_machine_busy(right: str) -> None:
    with pytest.raises(EstimationError):
        read_formula(f"y ~ {right}", SCHEMA)


@pytest.mark.parametrize(
    ("right", "columns"),
    [
        ("x", 2),
        ("x * y", 4),
        ("(x + y) ** 2", 4),
        ("x - 1", 1),
        ("0 + x", 1),
        ("log(x) + np.sqrt(x) + I(x ** 2 / 1.5e1)", 4),
        ("{x > 3}", 2),
        ("C(x)", 5),
        ("C(y, contr.treatment(base='b'))", 2),
        ("C(y, Treatment('b'))", 2),
        ("`the 'odd' one` + x", 3),
        ("open", 2),
        ("1", 1),
    ],
)
def test_what_models_are_written_in_is_still_read(right: str, columns: int) -> None:
    assert len(read_formula(f"y ~ {right}", SCHEMA)[1]) == columns


def test_a_term_that_is_no_column_is_one_line() -> None:
    """It ended in a traceback of numpy."""
    with pytest.raises(EstimationError, match="cannot be read"):
        read_formula("y ~ {x,}", SCHEMA)
