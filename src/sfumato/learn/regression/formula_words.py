"""What may stand in a formula: names, numbers, signs and a few functions. Formulaic evaluates the rest as Python."""

from __future__ import annotations

import re

from sfumato.errors import EstimationError
from sfumato.schema import Schema

#: Longer formulas, and deeper brackets, are nobody's model.
_LONGEST, _DEEPEST, _HIGHEST_POWER = 10_000, 20, 10
_PLAIN = ("log", "log2", "log10", "exp", "exp2")
_NUMPY = (*_PLAIN, "log1p", "expm1", "sqrt", "square", "abs", "sin", "cos", "tanh", "minimum", "maximum")
_CONTRASTS = ("treatment", "sum", "helmert", "diff", "poly")
FUNCTIONS = frozenset(
    {"C", "I", "exp10", "Treatment", "Sum", "Helmert", "Diff", "Poly", *_PLAIN}
    | {f"np.{name}" for name in _NUMPY}
    | {f"contr.{name}" for name in _CONTRASTS}
)
_ARGUMENTS = frozenset({"base", "levels", "contr", "spans_intercept", "drop"})
_WORDS = frozenset({"True", "False", "None"})
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>`[^`]+`)
      | (?P<text>'[^'"`\\\n{}]*'|"[^'"`\\\n{}]*")
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*(?![\w.'"]))
      | (?P<sign>%in%|\*\*|[<>=!]=|[-+*/^:|&<>=,~%(){}])
    )\s*""",
    re.VERBOSE,
)


def check_formula(right: str, schema: Schema) -> None:
    """Raise where the right-hand side of a formula holds more than arithmetic on attributes.

    Nothing is called but the functions listed, and nothing is named but the attributes: what is left cannot reach a
    file, a module or a method.
    """
    if len(right) > _LONGEST:
        raise EstimationError(f"a formula has at most {_LONGEST} characters: give names=[...] instead")
    place, depth, before, power = 0, 0, "~", False
    right = right.strip()
    while place < len(right):
        found = _TOKEN.match(right, place)
        if found is None:
            raise EstimationError(
                "a formula holds attributes, numbers, signs and functions such as log() only; a name with other signs "
                "stands between backticks"
            )
        kind, token, place = str(found.lastgroup), found[str(found.lastgroup)], found.end()
        rest = right[place : place + 2]
        if kind == "name":
            _check_name(token, rest, schema)
        elif kind == "quoted" and token[1:-1] not in schema:
            raise unknown_name(token[1:-1], schema)
        elif token == ":" and rest.startswith("="):
            raise EstimationError("a formula assigns nothing: := may not stand in it")
        elif token == "(" and not (before in FUNCTIONS or re.fullmatch(r"%in%|[-+*/^:|&<>=!,~%({]+", before)):
            raise EstimationError("a formula calls nothing but functions such as log(): a bracket follows no sign")
        depth += (token in ("(", "{")) - (token in (")", "}"))
        if depth > _DEEPEST:
            raise EstimationError(f"the brackets of a formula are at most {_DEEPEST} deep")
        raised = before in ("**", "^")
        if (raised and (kind != "number" or float(token) > _HIGHEST_POWER)) or (power and token in ("**", "^")):
            raise EstimationError(f"a power in a formula is one number of at most {_HIGHEST_POWER}, as in I(age ** 2)")
        before, power = token, raised


def _check_name(token: str, rest: str, schema: Schema) -> None:
    called = rest.startswith("(")
    if called and token not in FUNCTIONS:
        raise EstimationError(f"a formula calls nothing but functions such as log(), got {token}()")
    argument = token in _ARGUMENTS and rest.startswith("=") and rest != "=="
    if not called and not argument and token not in _WORDS and token not in schema:
        raise unknown_name(token, schema)


def unknown_name(name: str, schema: Schema) -> EstimationError:
    return EstimationError(f"the formula names {name!r}, which is unknown: {', '.join(schema.names)}")
