"""The JSON of learned models, as pydantic models from which OpenAPI is written. Every number has its limits."""

from __future__ import annotations

from pydantic import Field

from sfumato.service.documents import Document


class Limited(Document):
    """A number and the limits of its interval."""

    value: float | None
    low: float | None
    high: float | None


class Moved(Document):
    """How far 1 % of false answers could move a number."""

    down: float | None
    up: float | None


class Model(Document):
    """What all models say."""

    answers: int
    level: float = Field(description="how often each interval holds, however often one looks")
    notes: list[str] = Field(
        description="who is left out, what the data cannot decide, what was not looked at, how numbers in bins count"
    )


class TreeNode(Document):
    values: list[str | None] = Field(
        description="the values of the question above that lead here: leaves side by side with one answer are one"
    )
    share: Limited = Field(description="of all records")
    question: str | None = Field(description="the attribute that is asked about; null in a leaf")
    classes: list[Limited] = Field(description="in a leaf: the share of every class, in the order of classes")
    false: list[Moved] = Field(description="in a leaf: how far 1 % of false answers could move each of them")
    children: list[TreeNode]


class Tree(Model):
    target: str
    classes: list[str | None]
    leaves: int
    depth: int
    root: TreeNode


class RuleOut(Document):
    if_: list[str] = Field(alias="if")
    then: list[str]
    support: Limited
    support_false: Moved
    confidence: Limited
    confidence_false: Moved
    lift: Limited


class RulesOut(Model):
    target: str | None
    looked_at: int
    sets: int
    found: int
    hidden: int = Field(description="rules that may conclude only what most hold anyway: their lift may be 1 or less")
    shortfall: str | None
    rules: list[RuleOut] = Field(description="the first of them")


class Probability(Document):
    given: list[str | None] = Field(description="values of the parents")
    value: str | None
    probability: Limited
    false: Moved


class NetworkNode(Document):
    name: str
    place: list[float] = Field(description="where to draw it: across and down")
    parents: list[str]
    table: list[Probability] | None = Field(description="null where it has too many rows")


class Link(Document):
    parent: str
    child: str
    way: list[list[float]] = Field(description="places that the link passes")
    test: str = Field(description="what the p-value comes from: any, alike, trend, means or bend")
    statistic: float | None
    df: int
    p: float | None
    trend: float | None


class Network(Model):
    nodes: list[NetworkNode]
    links: list[Link]


class Term(Document):
    term: str
    intercept: bool = Field(description="whether it says where the target stands, not what goes along with it")
    coefficient: Limited
    sd: float | None
    false: Moved


class RegressionOut(Model):
    target: str
    family: str
    event: str | None
    terms: list[Term]
    reach: list[float] = Field(description="how far to draw: intervals that tell nothing may go on beyond")
    method: str
    covariance: str
    converged: bool


class Histogram(Document):
    edges: list[float]
    height: list[float]


class Distribution(Model):
    target: str
    edges: list[float]
    height: list[float | None]
    low: list[float | None] | None
    high: list[float | None] | None
    mean: float | None
    sd: float | None
    years: bool = Field(description="whether the numbers are years")
    arrived: Histogram | None = Field(description="numbers under additive noise as they arrived")


TreeNode.model_rebuild()
