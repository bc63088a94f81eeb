"""The JSON bodies of ``/v1/design``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from sfumato.service.documents import Document

Gamma = Annotated[float, Field(gt=1, le=1e6)]


class Wish(Document):
    """Exactly one of these."""

    half_width: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="how exact every number is to be: 0.02 for ± 2 points"
    )
    gamma: Gamma | None = Field(default=None, description="the bound on every single answer")
    record_gamma: Gamma | None = Field(default=None, description="the bound on all answers of one person together")


class DesignIn(Document):
    """A schema and a wish; or a scheme, which is taken as it is."""

    schema_: dict[str, Any] | None = Field(default=None, alias="schema", description="every attribute's domain")
    scheme: dict[str, Any] | None = Field(default=None, description="a scheme or forms")
    wish: Wish | None = None
    n: int = Field(ge=2, le=10**9, description="how many people will answer")
    groups: int = Field(default=1, ge=1, le=1000, description="equally large groups, in each of which it is to hold")
    attribute: str | None = Field(default=None, max_length=1000, description="the attribute to look at closely")
    by: str | None = Field(default=None, max_length=1000, description="the attribute whose groups are compared")


class Belief(Document):
    before: float
    after: float


class DesignedAttributeOut(Document):
    """What becomes of one attribute: what an adversary learns of it, and how exactly it is estimated."""

    name: str
    kind: str
    values: int | None
    family: str
    channel: str
    asked: float = Field(description="the share of the people who are asked it")
    gamma: float | None
    suspicion: float = Field(description="what a belief of 10 % can become at most")
    guess: float | None = Field(description="how often the best guess is right, all values being equally likely")
    blind: float | None = Field(description="how often it is right without the answer")
    target: Literal["shares", "cdf", "mean"]
    half_width: float | None = Field(description="expected, of the hardest share; of a mean as a share of its range")
    within: float | None = Field(description="the same within one of the equally large groups of ``by``")
    only_common: bool = Field(description="whether only common values can be told from none")


class AlternativeOut(Document):
    """A way to ask under a bound on the whole person."""

    ask: int | None = Field(description="how many questions a person is asked; null for all of them")
    forms: int
    single: float | None = Field(
        description="expected sum of the absolute errors of the shares of an attribute; null where nothing is told"
    )
    pair: float | None = Field(description="the same of a table of two attributes")
    chosen: bool


class CurveOut(Document):
    """Expected half-widths against gamma, a line for each way."""

    of: Literal["answer", "person"] = Field(description="whose gamma it is")
    gammas: list[float]
    lines: dict[str, list[float | None]]
    floor: float | None = Field(description="the half-width without any randomizing")


class CloserOut(Document):
    """One attribute looked at closely."""

    attribute: str
    names: list[str] = Field(description="the attributes that are answered together with it")
    share: float = Field(description="the share of the people who are asked these together")
    plan: dict[str, Any] | None = Field(description="how a page draws from the channel; null where that is too large")
    inputs: list[str]
    outputs: list[str] = Field(description="what each released code stands for")
    beliefs: list[Belief]
    curve: CurveOut | None


class DesignOut(Document):
    scheme: dict[str, Any]
    forms: int = Field(description="how many forms there are; 0 where everybody is asked the same")
    fingerprint: str
    gamma: float | None = Field(description="of all answers of one person together; null where nothing bounds it")
    epsilon: float | None
    records: int = Field(description="the answers in each group")
    beliefs: list[Belief] = Field(description="how far all answers of one person can move a belief")
    attributes: list[DesignedAttributeOut]
    alternatives: list[AlternativeOut]
    closer: CloserOut | None
    askable: bool = Field(description="whether a survey page can draw these answers")
    python: str
    command: str
