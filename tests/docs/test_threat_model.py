"""The numbers beside the calls in the threat model are what the calls give."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np

PAGE = (Path(__file__).parents[2] / "docs" / "threat-model.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+")


def test_the_numbers_of_the_threat_model_are_those_of_the_package():
    names: dict = {}
    checked = 0
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            _, _, comment = lines[statement.end_lineno - 1].partition("  # ")
            if not isinstance(statement, ast.Expr) or not comment:
                exec(compile(ast.Module([statement], []), "threat-model", "exec"), names)
                continue
            found = eval(compile(ast.Expression(statement.value), "threat-model", "eval"), names)
            if not isinstance(found, int | float | np.ndarray):
                continue
            values = np.atleast_1d(found)
            written = NUMBER.findall(comment)[: len(values)]
            assert len(written) == len(values), comment
            for value, text in zip(values, written, strict=True):
                digits = len(text.partition(".")[2])
                assert abs(value - float(text)) <= 0.51 * 10.0**-digits, (comment, value)
                checked += 1
    assert checked >= 12
