"""Cases that every program which randomizes must answer alike: (channel, true codes, words) and (key, id, record)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.channels.codes import join_codes, split_codes
from sfumato.channels.hyperplanes import hyperplanes
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.valid import ValidSymmetric
from sfumato.domains.text import UNANSWERED
from sfumato.owner.answers import Keyed, answer, encode
from sfumato.randomness import ONE
from sfumato.secrets.pseudonyms import id_text
from sfumato.service.questionnaire import drawing, questionnaire

PER_CHANNEL = 400


def channels() -> Iterator[Channel]:
    """Every family that a page can draw from, small and large."""
    two = sf.Categorical(("absent", "present"))
    yield from (
        c.symmetric(2, 0.25),
        c.symmetric(7, 0.3),
        c.symmetric(100_003, 0.4),
        c.symmetric((3, 4), 0.6),
        c.identity(5),
    )
    yield from (c.binary(0.1, 0.3), c.matrix([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25], [0.3, 0.3, 0.4]]))
    yield from (c.subset(5, 3), c.subset(16, 3), c.subset(64, 3), c.subset((3, 4), 4), c.subset(700, 2))
    yield from (hyperplanes(300, Fraction(3), 5), hyperplanes(300, Fraction(3), 4))
    yield from (c.windows(12, 3), c.windows(60, 2), c.windows(9, 3, nullable=True), c.average(9, 3), c.average(6, 8))
    yield from (c.mask(0.2).bind([two] * 9), c.select_a_size([0.1, 0.2, 0.3, 0.4], 0.05).bind([two] * 6))
    yield c.product([c.symmetric(3, 0.2), c.subset(8, 3), c.mask(0.1).bind([two] * 2)])
    yield from (
        c.longitudinal(20, 3, 81),
        c.longitudinal(500, 2, 64),
        c.invariant(c.symmetric(4, 0.3), [0.1, 0.2, 0.3, 0.4]),
    )
    yield from (c.crosswise(0.25), c.unrelated(0.7, 0.4))
    yield c.symmetric(p=0.3, valid=[("y", "w"), ("x", "u"), ("y", "u")]).bind(
        [sf.Categorical(tuple("xy")), sf.Categorical(tuple("uvw"))]
    )
    yield from (hyperplanes(1 << 22, Fraction(3), q) for q in (4, 5))
    yield from (hyperplanes(5000, Fraction(40), 41), c.subset(2_000_000, 2))
    yield from (c.prefixes(WORD, 3), c.prefixes(SHORT, 20), c.prefixes(sf.Text(40, "ACGT"), 9, seed=5))
    yield from (c.uniform(2.5), c.tabulated([-3, -1, 0, 0.5, 7], [0.1, 0.4, 0, 0.5]), c.gaussian(3.0), c.laplace(0.7))


WORD = sf.Text(16, nullable=True)
SHORT = sf.Text(3, "äbcdef0")
#: How far apart additive noise may come out here and there: logarithms differ in their last digits.
ROUGH = {"gaussian": 1e-12, "laplace": 1e-12}


def drawn(seed: int) -> list[dict[str, Any]]:
    """For every channel: true codes, words (many at the edges of thresholds), and what is released."""
    rng = np.random.default_rng(seed)
    out = []
    for channel in channels():
        codes = _true_codes(channel, rng)
        words = rng.integers(0, ONE, (PER_CHANNEL, channel.draws), dtype=np.uint64)
        if channel.listed and not channel.continuous:
            words[:, 0] = _edges(channel, join_codes(codes, channel.sizes), words[:, 0], rng)
        else:
            words[:8, 0], words[8:16, -1] = [0, ONE - 1] * 4, [0, ONE - 1] * 4
        released = channel.draw_columns(codes, lambda i, words=words: np.ascontiguousarray(words[:, i]))
        cases = [
            {
                "codes": [_written(column, row) for column in codes],
                "words": [f"{int(word):x}" for word in words[row]],
                "released": [column[row].item() for column in released],
            }
            for row in range(PER_CHANNEL)
        ]
        rough = ROUGH.get(channel.kind, 0.0)
        out.append({"channel": str(channel), "plan": drawing(channel), "rough": rough, "cases": cases})
    return out


def _true_codes(channel: Channel, rng: np.random.Generator) -> list[Any]:
    if isinstance(channel, Prefixes):
        letters = rng.integers(1, channel.letters + 1, (PER_CHANNEL, channel.max_length), dtype=np.uint8)
        length = rng.integers(1, channel.max_length + 1, PER_CHANNEL)
        letters[np.arange(channel.max_length) >= length[:, None]] = 0
        if channel.nullable:
            letters[::20] = 0
            letters[::20, 0] = UNANSWERED
        return [np.ascontiguousarray(letters).view(f"S{channel.max_length}").reshape(-1)]
    if channel.continuous:
        return [rng.normal(0, 100, PER_CHANNEL)]
    possible = channel.cells if isinstance(channel, ValidSymmetric) else None
    flat = rng.integers(0, channel.k, PER_CHANNEL) if possible is None else rng.choice(possible, PER_CHANNEL)
    return split_codes(flat, channel.sizes)


def _written(column: Any, row: int) -> Any:
    """A code as the page takes it: the letters of a text as a list."""
    if column.dtype.kind != "S":
        return column[row].item()
    return np.frombuffer(column[row].ljust(column.dtype.itemsize, b"\0"), dtype=np.uint8).tolist()


def _edges(channel: Channel, codes: Any, words: Any, rng: np.random.Generator) -> Any:
    """Two thirds of the words beside a threshold of their own row: one below, on it, one above; and both ends."""
    out = words.copy()
    try:
        upper = (
            np.cumsum(channel.weights, axis=1, dtype=np.uint64)
            if channel.draws == 1 and channel.k * channel.m < 1 << 24
            else None
        )
    except sf.SfumatoError:
        upper = None
    steps = itertools.cycle((-1, 0, 1))
    for row in range(0, len(out), 3):
        if upper is not None:
            for place in (row, row + 1):
                if place < len(out):
                    near = int(upper[codes[place], rng.integers(upper.shape[1])]) + next(steps)
                    out[place] = min(max(near, 0), ONE - 1)
        elif row % 2:
            out[row] = 0 if row % 4 == 1 else ONE - 1
    return out


def schemes() -> Iterator[sf.Scheme | sf.Forms]:
    """Schemes of many kinds: groups, numbers, points, no answer, forms."""
    yes = sf.Categorical(("no", "yes"))
    schema = sf.Schema(
        {
            "smokes": yes,
            "town": sf.Categorical(tuple(f"t{i}" for i in range(300)), nullable=True),
            "age": sf.Numeric(18, 98, bins=8, clip=True),
            "pay": sf.Numeric(0, 9000, points=13),
            "rent": sf.Numeric(0.1, 0.7, points=5, nullable=True),
            "when": sf.Date("2024-01-01", "2025-12-31", by="month"),
            "a": yes,
            "b": yes,
            "word": WORD,
            "sugar": sf.Numeric(0, 20, bins=4),
            "height": sf.Numeric(0, 3, points=4, clip=True),
        }
    )
    channels = {
        "smokes": c.binary(0.2, 0.3),
        "town": c.subset(301, 4),
        "age": c.windows(8, 3),
        "pay": c.average(13, 3),
        "rent": c.symmetric(6, 0.3),
        "when": c.longitudinal(24, 3, 81),
        "word": c.prefixes(WORD, 5),
        "sugar": c.uniform(2),
        "height": c.tabulated([-1, 0, 1], [0.25, 0.75]),
    }
    yield sf.Scheme(schema, {**channels, ("a", "b"): c.symmetric((2, 2), 0.4)})
    yield sf.Scheme(schema, {**channels, "when": c.symmetric(24, 0.2), ("a", "b"): c.mask(0.1)})
    yield sf.Forms.for_gamma(sf.Schema({n: schema[n] for n in ("smokes", "age", "a", "b")}), gamma=9, ask=2)


def keyed(seed: int, people: int) -> list[dict[str, Any]]:
    """Records of people under a key: their form, and what is released. Of longitudinal answers only the hash function."""
    rng = np.random.default_rng(seed)
    out = []
    for scheme in schemes():
        secret = rng.bytes(32)
        ids = [f"{seed}-{i}" + "ü" * int(rng.integers(0, 70)) for i in range(people)]
        record = _records(scheme.schema, people, rng)
        answers = Keyed(b"sfumato key 2\n" + secret)
        answers.meet(id_text(pa.array(ids)))
        forms = tuple(scheme) if isinstance(scheme, sf.Forms) else (scheme,)
        chosen = answers.chosen(scheme, people) if isinstance(scheme, sf.Forms) else np.zeros(people, dtype=int)
        batch = pa.RecordBatch.from_pydict({name: column for name, (column, _) in record.items()})
        released = [answer(form, encode(batch.select(list(form.schema.names)), form), answers) for form in forms]
        cases = []
        for row in range(people):
            own = released[int(chosen[row])]
            cases.append(
                {
                    "id": ids[row],
                    "answers": {name: given[row] for name, (_, given) in record.items()},
                    "form": int(chosen[row]),
                    "released": {name: column[row].item() for name, column in own.items()},
                }
            )
        table = {name: column.to_pylist() for name, (column, _) in record.items()}
        out.append({"questionnaire": questionnaire(scheme), "secret": secret.hex(), "cases": cases, "table": table})
    return out


def _records(schema: sf.Schema, people: int, rng: np.random.Generator) -> dict[str, tuple[Any, list[Any]]]:
    """For each attribute the column as Python takes it, and the answers as a page gives them."""
    out: dict[str, tuple[Any, list[Any]]] = {}
    for name, domain in schema.items():
        if isinstance(domain, sf.Numeric):
            low, high = float(domain.edge_array[0]), float(domain.edge_array[-1])
            wild = [low, high, low + (high - low) / 3, *(domain.edge_array.tolist())]
            numbers = [
                float(rng.choice(wild)) if rng.random() < 0.2 else float(rng.uniform(low, high)) for _ in range(people)
            ]
            given: list[Any] = [None if domain.nullable and rng.random() < 0.1 else number for number in numbers]
            out[name] = pa.array(given, pa.float64()), given
            continue
        if isinstance(domain, sf.Text):
            texts = ["".join(rng.choice(list(domain.alphabet), int(rng.integers(1, 17)))) for _ in range(people)]
            given = [None if domain.nullable and rng.random() < 0.1 else text for text in texts]
            out[name] = pa.array(given, pa.string()), given
            continue
        codes = rng.integers(0, domain.size, people)
        given = [None if domain.labels[code] is None else int(code) for code in codes]
        out[name] = pa.array(domain.decode(codes)), given
    return out
