"""A formula is no program: formulaic evaluates Python, so nothing but arithmetic on attributes may reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
