"""What may stand in a formula: names, numbers, signs and a few functions. Formulaic evaluates the rest as Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sfumato.errors import EstimationError
from sfumato.schema import Schema

#: Longer formulas, and deeper brackets, are nobody's model.
_LONGEST, _DEEPEST, _HIGHEST_POWER = 10_000, 20, 10
_MOST_TERMS = 1 << 12  # that products and powers of brackets may be multiplied out to
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
_COMPARED = frozenset({"==", "!=", "<", ">", "<=", ">=", "="})
#: By how much more terms than the product of both sides a sign makes at most: a * b is a + b + a:b.
_MULTIPLIED = {"*": 3, "/": 2, ":": 2, "%in%": 2}
_TOKEN = re.compile(
    r"""(?P<before>\s*)(?:
        (?P<quoted>`[^`]+`)
      | (?P<text>'[^'"`\\\n{}]*'|"[^'"`\\\n{}]*")
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*(?![\w.'"]))
      | (?P<sign>%in%|\*\*|[<>=!]=|[-+*/^:|&<>=,~%(){}])
    )\s*""",
    re.VERBOSE,
)
_STAND_IN = re.compile(r"_attribute_(\d+)_")


@dataclass(frozen=True)
class SafeFormula:
    """The right-hand side with a name of ours in place of every attribute: no name of a file reaches formulaic."""

    text: str
    names: tuple[str, ...]

    def stand_in(self, name: str) -> str:
        return f"_attribute_{self.names.index(name)}_"

    def in_words(self, text: str) -> str:
        """What formulaic says, with the attributes as they are called."""
        return _STAND_IN.sub(lambda found: self.names[int(found[1])], text)


@dataclass
class _Bracket:
    """What stands between two brackets: how many terms it is multiplied out to, and whether it holds a power."""

    opened_by: str
    arithmetic: bool  # in a function or in braces nothing is multiplied out
    terms: int = 0
    product: int = 1
    power: bool = False
    raised: int = 1  # the terms of what stands before the last power sign

    @property
    def size(self) -> int:
        return 1 if self.arithmetic else self.terms + self.product


def safe_formula(right: str, schema: Schema) -> SafeFormula:
    """Raise where the right-hand side of a formula holds more than arithmetic on attributes, or grows beyond measure.

    Nothing is called but the functions listed, and nothing is named but the attributes: what is left cannot reach a
    file, a module or a method.
    """
    if len(right) > _LONGEST:
        raise EstimationError(f"a formula has at most {_LONGEST} characters: give names=[...] instead")
    right, place, reading = right.strip(), 0, _Reading(schema)
    pieces: list[str] = []
    while place < len(right):
        found = _TOKEN.match(right, place)
        if found is None:
            raise EstimationError(
                "a formula holds attributes, numbers, signs and functions such as log() only; a name with other signs "
                "stands between backticks"
            )
        kind, place = str(found.lastgroup), found.end()
        pieces.append(found["before"] + reading.take(kind, found[kind], right[place : place + 2]))
    return SafeFormula("".join(pieces), tuple(reading.names))


class _Reading:
    """What is known of a formula up to one of its words and signs."""

    def __init__(self, schema: Schema) -> None:
        self.names: dict[str, int] = {}
        self._schema = schema
        self._before = "~"
        self._exponent = False  # whether that was the number behind a power sign
        self._inside = [_Bracket("", arithmetic=False)]
        self._closed = self._inside[0]  # the bracket that was closed last

    def take(self, kind: str, token: str, rest: str) -> str:
        """One more word or sign, checked, as it is handed on; ``rest`` are the two letters after it."""
        if kind == "quoted" or (kind == "name" and _is_attribute(token, rest, self._schema)):
            name = token.strip("`")
            if name not in self._schema:
                raise unknown_name(name, self._schema)
            token = f"_attribute_{self.names.setdefault(name, len(self.names))}_"
        elif kind == "text" and not self._is_label(rest):
            raise EstimationError("a text in a formula is a value to compare with, as in {sex == 'F'}")
        self._power(kind, token)
        if kind == "sign":
            self._sign(token, rest)
        if self._inside[-1].size > _MOST_TERMS:
            raise EstimationError("a formula is multiplied out to too many terms: give names=[...] instead")
        self._before = token
        return token

    def _is_label(self, rest: str) -> bool:
        """Whether a text is compared with something, or names the value to compare with, and nothing is computed."""
        base = self._before == "(" and self._inside[-1].opened_by in ("Treatment", "contr.treatment")
        return (self._before in _COMPARED or base) and rest[:1] not in ("*", "+", "-", "/", "%")

    def _power(self, kind: str, token: str) -> None:
        """A power is one number, and of something that holds no power itself."""
        behind_bracket, here = self._before == ")", self._inside[-1]
        if token in ("**", "^"):
            if self._exponent or (behind_bracket and self._closed.power):
                raise EstimationError("a power in a formula is not raised to another one")
            here.power, here.raised = True, self._closed.size if behind_bracket else 1
        self._exponent = self._before in ("**", "^")
        if self._exponent:
            if kind != "number" or float(token) > _HIGHEST_POWER:
                raise EstimationError(
                    f"a power in a formula is one number of at most {_HIGHEST_POWER}, as in I(age ** 2)"
                )
            here.product *= here.raised ** int(float(token))

    def _sign(self, token: str, rest: str) -> None:
        here = self._inside[-1]
        if token == ":" and rest.startswith("="):
            raise EstimationError("a formula assigns nothing: := may not stand in it")
        if token in ("<", ">") and rest.startswith(token):
            raise EstimationError(f"a formula shifts no bits: {2 * token} may not stand in it")
        if token in ("(", "{"):
            self._open(token)
        elif token in (")", "}") and len(self._inside) > 1:
            self._closed = self._inside.pop()
            self._inside[-1].product *= self._closed.size
            self._inside[-1].power |= self._closed.power
        elif token in _MULTIPLIED:
            here.product *= _MULTIPLIED[token]
        elif token in ("+", "-"):
            here.terms, here.product = here.terms + here.product, 1

    def _open(self, token: str) -> None:
        called = self._before in FUNCTIONS
        if token == "(" and not (called or re.fullmatch(r"%in%|[-+*/^:|&<>=!,~%({]+", self._before)):
            raise EstimationError("a formula calls nothing but functions such as log(): a bracket follows no sign")
        arithmetic = self._inside[-1].arithmetic or called or token == "{"
        self._inside.append(_Bracket(self._before, arithmetic))
        if len(self._inside) > _DEEPEST + 1:
            raise EstimationError(f"the brackets of a formula are at most {_DEEPEST} deep")


def _is_attribute(token: str, rest: str, schema: Schema) -> bool:
    """Whether a word is a name, and not a function that is called, an argument of one, or a constant."""
    if rest.startswith("("):
        if token not in FUNCTIONS:
            raise EstimationError(f"a formula calls nothing but functions such as log(), got {token}()")
        return False
    if token in _ARGUMENTS and rest.startswith("=") and rest != "==":
        return False
    return token in schema or token not in _WORDS


def unknown_name(name: str, schema: Schema) -> EstimationError:
    return EstimationError(f"the formula names {name!r}, which is unknown: {', '.join(schema.names)}")
