"""Schemes of under a megabyte that used to take the processor for minutes: each is read or refused at once."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.hostile.guard import guarded, refused

import sfumato as sf
from sfumato import channels as c
from sfumato.scheme import VERSION
from sfumato.threads import one_thread

TWO = {"kind": "categorical", "values": ["x", "y"]}


def document(schema: dict, channels: list[tuple[list[str], dict]]) -> str:
    entries = [{"attributes": names, "channel": channel} for names, channel in channels]
    text = json.dumps({"format": "sfumato scheme", "version": VERSION, "schema": schema, "channels": entries})
    assert len(text) < 1_000_000
    return text


@pytest.mark.parametrize(
    "channel",
    [
        {"kind": "symmetric", "sizes": [9] * 300_000, "other": "0"},
        {"kind": "symmetric", "sizes": [9] * 90_000, "other": "0"},
        {"kind": "matrix", "sizes": [9] * 90_000, "outputs": [9] * 90_000, "weights": []},
        {"kind": "blocks", "channels": [{"kind": "mask", "p": 0.1, "items": 99_999}] * 20_000},
        {"kind": "valid", "combinations": [["x"], ["y"]], "other": "1", "sizes": [9] * 90_000, "cells": [0, 1]},
    ],
    ids=["attributes", "combinations", "matrix", "blocks", "valid"],
)
def test_numbers_of_combinations_are_not_multiplied_out(channel: dict) -> None:
    with guarded(seconds=1):
        assert refused(lambda: sf.Scheme.from_json(document({"a": TWO}, [(["a"], channel)])))


def test_many_valid_combinations_are_encoded_together() -> None:
    values = [str(i) for i in range(200)]
    pairs = [[x, y] for x in values for y in values]
    schema = {name: {"kind": "categorical", "values": values} for name in "ab"}
    text = document(schema, [(["a", "b"], {"kind": "valid", "combinations": pairs, "other": "1000"})])
    with guarded(seconds=2):
        assert sf.Scheme.from_json(text)["a", "b"].cells.tolist() == list(range(40_000))


def test_valid_combinations_that_cannot_be_encoded_are_one_line() -> None:
    schema = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Numeric(0, 4, bins=2)})
    for pairs in ([("x", 1), (7, 3)], [("x", 1), ("z", 3)], [("x", 1), ("y", 9)], [("x", 1), ("y", 10**400)]):
        assert refused(lambda pairs=pairs: sf.Scheme(schema, {("a", "b"): c.symmetric(valid=pairs, p=0.3)}))


def test_a_large_prime_is_tried_once() -> None:
    names = [f"a{i}" for i in range(4500)]
    one = {"kind": "hyperplanes", "values": 2, "gamma": "3", "order": 33_554_393}
    text = document(dict.fromkeys(names, TWO), [([name], one) for name in names])
    with guarded(seconds=1):
        assert "entries in all" in refused(lambda: sf.Scheme.from_json(text))


def test_many_spellings_are_looked_up_and_not_searched() -> None:
    values = [str(i) for i in range(30_000)]
    domain = sf.Categorical(tuple(values), spellings={f"s{value}": value for value in values})
    with guarded(seconds=2):
        assert domain.encode(["s29999", "7", "s0"]).tolist() == [29_999, 7, 0]
    truth = sf.Categorical((True, False), spellings={"ja": True, "nein": False})
    assert truth.encode(["ja", "nein", "true"]).tolist() == [0, 1, 0]


def wide_average(values: int, outputs: int) -> dict:
    """A channel for means to which outputs were added that nobody gives: their weights are 1 part each."""
    plain = c.average(11, 3).to_dict()
    known, first = plain["multiples"], max(plain["multiples"]) + 1
    added = [sign * m for m in range(first, first + (outputs - len(known)) // 2) for sign in (-1, 1)]
    multiples, rows = sorted(known + added), []
    for row in plain["weights"]:
        weights = dict(zip(known, map(int, row), strict=True)) | dict.fromkeys(added, 1)
        weights[0] -= len(added)
        rows.append([str(weights[m]) for m in multiples])
    return plain | {"values": values, "gamma": "4", "multiples": multiples, "weights": rows}


def test_channels_for_means_are_not_mixed_row_by_row_when_they_are_read() -> None:
    points = {"kind": "numeric", "low": 0, "high": 1, "points": 2000}
    with guarded(seconds=1):
        assert refused(lambda: sf.Scheme.from_json(document({"a": points}, [(["a"], wide_average(2000, 501))])))
    names = [f"a{i}" for i in range(150)]
    different = [c.average(11, 3).to_dict() | {"values": 2000, "gamma": str(4 + i)} for i in range(len(names))]
    text = document(dict.fromkeys(names, points), [([n], one) for n, one in zip(names, different, strict=True)])
    with guarded(seconds=2):
        assert "entries in all" in refused(lambda: sf.Scheme.from_json(text))
    alike = document(dict.fromkeys(names, points), [([name], different[0]) for name in names])
    scheme = sf.Scheme.from_json(alike)
    assert scheme["a0"] is scheme["a149"] and scheme["a0"].gamma <= 4


def test_a_channel_for_means_that_exceeds_its_promise_between_the_points_is_refused_when_it_is_used() -> None:
    broken = c.average(11, 3).to_dict() | {"values": 50, "gamma": "2"}
    points = {"kind": "numeric", "low": 0, "high": 1, "points": 50}
    scheme = sf.Scheme.from_json(document({"a": points}, [(["a"], broken)]))
    assert "exceeds the promised gamma" in refused(lambda: scheme.gamma)
    assert "exceeds the promised gamma" in refused(lambda: sf.randomize({"a": [0.5]}, scheme))


def test_estimating_under_many_windows_does_not_keep_a_factor_for_each() -> None:
    channels = [c.windows(700, 3 + i) for i in range(41)]  # 4 MB each
    channels[0].inverse.apply(np.ones(channels[0].m))  # loads what is needed
    with one_thread(), guarded(seconds=30, memory=100 << 20):  # about memory
        for channel in channels:
            channel.inverse.apply(np.ones(channel.m))


def test_the_limit_holds_for_all_forms_together() -> None:
    schema = sf.Schema({f"a{i}": sf.Numeric(0, 1, points=2000) for i in range(150)})
    one = c.average(11, 3).to_dict() | {"values": 2000}
    forms = [
        sf.Scheme(schema.select((name,)), {name: c.from_dict(one | {"gamma": str(4 + i)})})
        for i, name in enumerate(schema.names)
    ]
    assert "entries in all" in refused(lambda: sf.Forms(forms))


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_noise_whose_quantiles_are_integrals_is_read_without_them() -> None:
    names = [f"a{i}" for i in range(60)]
    slow = [{"kind": "scipy", "name": "studentized_range", "args": [50, 2.5 + i], "kwds": {}} for i in range(60)]
    domain = {"kind": "numeric", "low": 0, "high": 1, "bins": 4}
    text = document(dict.fromkeys(names, domain), [([n], one) for n, one in zip(names, slow, strict=True)])
    with guarded(seconds=5):  # a second for each when their quartiles were asked
        assert len(sf.Scheme.from_json(text).groups) == 60
    impossible = text.replace("studentized_range", "norminvgauss").replace("[50, 2.5]", "[0.5, 1]")
    assert "finite scale" in refused(lambda: sf.Scheme.from_json(impossible))
