"""The JSON bodies of the API, as pydantic models: they check what is taken, and OpenAPI is written from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sfumato.service.refusals import ID

Code = Annotated[int | float, Field(description="a released code, or a number under additive noise")]


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Document):
    code: str
    message: str
    details: dict[str, Any] = {}


class Refused(Document):
    """The shape of every refusal."""

    error: Problem


class StudyChange(Document):
    """Fields of a study, see docs/http-api.md; of a study that changes, those left out stay."""

    title: str = ""
    text: str = ""
    kind: Literal["responses", "resampled"] = "responses"
    scheme: dict[str, Any] | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    questions: dict[str, Any] = {}
    access: Literal["open", "invitation"] = "open"
    minimum: int = Field(default=100, ge=2, le=1 << 40)
    ends: str | None = None


class StudyIn(StudyChange):
    """A new study."""

    id: str = Field(pattern=ID)


class StudyOut(Document):
    id: str
    title: str
    text: str
    kind: str
    scheme: dict[str, Any] | None
    schema_: dict[str, Any] | None = Field(alias="schema")
    questions: dict[str, Any]
    access: str
    minimum: int
    ends: str | None
    state: Literal["draft", "open", "closed"]
    fingerprint: str
    gamma: float | None = Field(description="of all answers of one person together; null where nothing bounds it")
    created: str
    opened: str | None
    closed: str | None


class StudyList(Document):
    studies: list[StudyOut]


class TokensIn(Document):
    role: Literal["admin", "miner", "site", "invitation"]
    study: str | None = None
    name: str = Field(default="", max_length=200)
    count: int = Field(default=1, ge=1, le=100_000)
    expires: str | None = None
    columns: list[str] | None = Field(default=None, description="those that a site pushes, and nobody without them")


class NewToken(Document):
    id: str
    token: str


class NewTokens(Document):
    tokens: list[NewToken]


class TokenOut(Document):
    id: str
    role: str
    study: str | None
    name: str
    columns: list[str] | None
    used: bool
    created: str
    expires: str | None
    revoked: str | None


class TokenList(Document):
    tokens: list[TokenOut]


class ResponseIn(Document):
    id: str = Field(pattern="^[A-Za-z0-9_-]{16,64}$")
    fingerprint: str
    form: int | None = None
    answers: dict[str, Code]


class ReportIn(Document):
    study: str
    id: str
    fingerprint: str
    form: int | None = None
    answers: dict[str, Code]


class ReportsIn(Document):
    responses: list[ReportIn] = Field(min_length=1, max_length=1000)


class ResponseOut(Document):
    status: str
    id: str
    receipt: str


class Deleted(Document):
    status: Literal["deleted"]
    id: str


class Result(Document):
    id: str
    status: str = Field(description="accepted, replayed, or the code of a refusal")
    receipt: str | None = None
    message: str | None = None


class Results(Document):
    results: list[Result]


class Health(Document):
    status: Literal["ok"]
    version: str


class HourCount(Document):
    hour: str
    responses: int


class Progress(Document):
    state: str
    responses: int
    uploads: int
    rows: int
    minimum: int
    hours: list[HourCount]


class AttributeOut(Document):
    name: str
    text: str
    kind: str
    ordered: bool
    noise: bool
    unit: str = Field(description="what means count where the values are no numbers, such as months after 2019-01")
    size: int | None
    values: list[str | None] | None
    words: dict[str, str]


class Attributes(Document):
    attributes: list[AttributeOut]


class Cell(Document):
    values: list[str | None]
    share: float | None
    open: bool = Field(description="whether nearly every share lies in the interval: the estimate tells nothing")
    low: float | None
    high: float | None
    count: float | None
    sd: float | None
    false_down: float | None
    false_up: float | None


class Released(Document):
    columns: list[str]
    sizes: list[int]
    counts: list[int]
    shares: list[float] | None = Field(description="of the values that the codes name, where that can be told")


class Shares(Document):
    names: list[str]
    answers: int
    level: float
    false: float
    cells: list[Cell]
    released: Released | None
    half_width: float | None = Field(description="half the width of the widest interval")
    needed: int | None = Field(description="answers in all until it is as narrow as wished")


class GroupMean(Document):
    group: list[str | None]
    value: float | None
    nearest: str | None = Field(description="the date nearest to the mean, where the numbers count from the first one")
    open: bool = Field(description="whether nearly all that is possible lies in the interval: the value tells nothing")
    low: float | None
    high: float | None
    sd: float | None
    false_down: float | None
    false_up: float | None


class Means(Document):
    name: str
    by: list[str]
    answers: int
    level: float
    false: float
    years: bool = Field(description="whether the numbers are years")
    notes: list[str] = Field(description="what is to be known of the numbers, such as how bins count")
    rows: list[GroupMean]


class UploadIn(Document):
    id: str = Field(pattern="^[A-Za-z0-9_-]{16,64}$")
    digest: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=1)


class Received(Document):
    received: int


class UploadOut(Document):
    id: str
    state: Literal["arriving", "accepted", "refused", "deleted"]
    received: int
    bytes: int
    digest: str
    rows: int | None
    receipt: str | None
    problem: str | None
    note: str | None


class UploadList(Document):
    uploads: list[UploadOut]
