"""A study: a scheme or forms with questions in plain words, and the rules by which answers are taken and shown."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sfumato.errors import SfumatoError, without_warnings
from sfumato.forms import Forms, read_scheme
from sfumato.printable import printable
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.service.clock import iso, seconds_of
from sfumato.service.json_values import number
from sfumato.service.layout import Layout
from sfumato.service.questionnaire import questionnaire
from sfumato.service.refusals import ID, ID_IN_WORDS, RefusalError

KINDS = ("responses", "resampled")
ACCESS = ("open", "invitation")
#: What may still change once a study is open.
MOVABLE = ("title", "text", "ends")
#: The fields that somebody who makes a study may give, and their defaults.
FIELDS: dict[str, Any] = {
    "title": "",
    "text": "",
    "kind": "responses",
    "scheme": None,
    "schema": None,
    "questions": {},
    "access": "open",
    "minimum": 100,
    "ends": None,
}
LEAST = 2
_ID = re.compile(ID.strip("^$"))
_TEXT = 10_000  # characters
_NAMED = 20  # attributes that a refusal names
_MAKING = threading.Lock()


@dataclass(frozen=True, eq=False)
class Study:
    """One study as it stands. ``document`` holds the fields that its maker gave; times are seconds since 1970."""

    id: str
    document: Mapping[str, Any]
    state: str
    created: int
    opened: int | None = None
    closed: int | None = None

    @cached_property
    def scheme(self) -> Scheme | Forms | None:
        """What answers are made under; None where rows are resampled."""
        given = self.document["scheme"]
        with without_warnings():  # said to whoever designed it: a server reads it at every start
            return None if given is None else read_scheme(json.dumps(given))

    @cached_property
    def schema(self) -> Schema:
        """The attributes."""
        return Schema.from_dict(self.document["schema"]) if self.scheme is None else self.scheme.schema

    @cached_property
    def forms(self) -> tuple[Layout, ...]:
        """How the answers of each form stand in bytes; a study without forms has one."""
        if self.scheme is None:
            return ()
        return tuple(Layout(one) for one in (self.scheme if isinstance(self.scheme, Forms) else (self.scheme,)))

    @cached_property
    def fingerprint(self) -> str:
        if self.scheme is not None:
            return self.scheme.fingerprint
        return hashlib.sha256(json.dumps(self.schema.meaning(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def questionnaire(self) -> dict[str, Any]:
        """What the survey page needs to ask and to randomize, with the words of the questions."""
        if self.scheme is None:
            raise RefusalError("not_possible", "resampled rows come from sites: there are no questions to answer")
        try:
            found = questionnaire(self.scheme)
        except SfumatoError as problem:
            raise RefusalError("not_possible", f"no page can ask this: {problem}") from None
        for name, attribute in found["attributes"].items():
            words = self.document["questions"].get(name, {})
            attribute |= {
                "text": words.get("text", name),
                "help": words.get("help", ""),
                "words": words.get("labels", {}),
            }
        return found

    def questionnaire_json(self) -> bytes:
        """The same as it is sent, made once: anybody may ask for it, and it may have megabytes."""
        with _MAKING:
            return self._questionnaire_json

    @cached_property
    def _questionnaire_json(self) -> bytes:
        return json.dumps(self.questionnaire, ensure_ascii=False, separators=(",", ":")).encode()

    @property
    def minimum(self) -> int:
        return int(self.document["minimum"])

    @cached_property
    def ends(self) -> int | None:
        return seconds_of(self.document["ends"], "ends")

    def check_taking(self, now: float) -> None:
        """Refuse answers before the study is open and after it is closed."""
        if self.state == "draft":
            raise RefusalError("too_early", f"the study {self.id!r} is not open yet")
        if self.state == "closed" or (self.ends is not None and now >= self.ends):
            raise RefusalError("closed", f"the study {self.id!r} is closed")

    def layout(self, form: int | None, fingerprint: str) -> Layout:
        """The layout of the form that these answers claim to be made under."""
        if fingerprint != self.fingerprint:
            raise RefusalError("wrong_fingerprint", "these answers were made under another scheme than the study's")
        if not self.forms:
            raise RefusalError(
                "refused", f"the study {self.id!r} takes resampled rows of sites, and no single responses"
            )
        if not 0 <= (form or 0) < len(self.forms):
            raise RefusalError("outside_codes", f"form must be a number from 0 to {len(self.forms) - 1}", column="form")
        if form is None and len(self.forms) > 1:
            raise RefusalError("outside_codes", "form is missing: the study has several", column="form")
        return self.forms[form or 0]

    def changed(self, fields: Mapping[str, Any]) -> Study:
        """The study with some fields changed, as far as its state allows."""
        fixed = [name for name in fields if name not in MOVABLE and fields[name] != self.document[name]]
        if self.state != "draft" and fixed:
            raise RefusalError("frozen", f"the study is {self.state}: its {fixed[0]} does not change any more")
        return checked(replace(self, document={**self.document, **fields}))

    def public(self) -> dict[str, Any]:
        """What anybody may read of it."""
        return {
            "id": self.id,
            **self.document,
            "state": self.state,
            "fingerprint": self.fingerprint,
            "gamma": None if self.scheme is None else number(self.scheme.gamma),
            "created": iso(self.created),
            "opened": iso(self.opened),
            "closed": iso(self.closed),
        }


def new_study(id: str, fields: Mapping[str, Any], hour: int) -> Study:
    """A draft, checked."""
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise RefusalError("malformed", ID_IN_WORDS, where="id")
    return checked(Study(id, {**FIELDS, **fields}, "draft", hour))


def checked(study: Study) -> Study:
    """The same study, or one line about what is wrong with it."""
    given = study.document
    unknown = [name for name in given if name not in FIELDS]
    if unknown:
        raise RefusalError("malformed", f"a study has no field {unknown[0]!r}", where=unknown[0])
    try:
        json.dumps(dict(given), ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        raise RefusalError("malformed", "the study holds what is no text, or no number") from None
    for name in ("title", "text"):
        if not isinstance(given[name], str) or len(given[name]) > _TEXT:
            raise RefusalError("malformed", f"{name} must be text of at most {_TEXT:,} characters", where=name)
    for name, allowed in (("kind", KINDS), ("access", ACCESS)):
        if given[name] not in allowed:
            raise RefusalError("malformed", f"{name} must be one of {', '.join(allowed)}", where=name)
    minimum = given["minimum"]
    if not isinstance(minimum, int) or isinstance(minimum, bool) or not LEAST <= minimum <= 1 << 40:
        raise RefusalError("malformed", f"minimum must be a whole number, at least {LEAST}", where="minimum")
    seconds_of(given["ends"], "ends")
    needed, other = ("schema", "scheme") if given["kind"] == "resampled" else ("scheme", "schema")
    if given[needed] is None or given[other] is not None:
        raise RefusalError("malformed", f"a study of {given['kind']} has a {needed} and no {other}", where=needed)
    try:
        columns = sum(len(form.columns) for form in study.forms)
    except SfumatoError as problem:
        raise RefusalError("refused", f"the {needed} does not hold: {problem}") from None
    if not columns and needed == "scheme":
        raise RefusalError("refused", "the scheme releases nothing")
    _check_questions(given["questions"], study)
    return study


def _check_questions(questions: Any, study: Study) -> None:
    try:
        names = study.schema
    except SfumatoError as problem:
        raise RefusalError("refused", f"the schema does not hold: {problem}") from None
    if not isinstance(questions, dict):
        raise RefusalError(
            "malformed", "questions must be an object with an entry for each attribute", where="questions"
        )
    for name, entry in questions.items():
        called = f"question {printable(str(name))[:80]!r}"
        if name not in names:
            raise RefusalError(
                "malformed",
                f"questions speak of {printable(str(name))[:80]!r}, which is not in the scheme: it has "
                f"{', '.join(map(printable, list(names)[:_NAMED]))}{', …' if len(names) > _NAMED else ''}",
                where="questions",
            )
        if not isinstance(entry, dict) or set(entry) - {"text", "help", "labels"}:
            raise RefusalError(
                "malformed",
                f"{called} must be an object of text, help and labels, nothing else",
                where=f"questions.{name}",
            )
        texts = [entry.get("text", ""), entry.get("help", ""), *_labels(entry, name).values()]
        if not all(isinstance(text, str) and len(text) <= _TEXT for text in texts):
            raise RefusalError("malformed", f"the words of {called} must be text", where=f"questions.{name}")


def _labels(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    labels = entry.get("labels", {})
    if not isinstance(labels, dict):
        raise RefusalError(
            "malformed",
            f"the labels of question {printable(name)!r} must be an object of values and words, as "
            f'{{"yes": "Yes, I do"}}',
            where=f"questions.{name}.labels",
        )
    return labels
