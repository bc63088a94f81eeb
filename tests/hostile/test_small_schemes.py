"""Schemes of under a megabyte that used to take the processor for minutes: each is read or refused at once."""

from __future__ import annotations

import json

import pytest
from tests.hostile.guard import guarded, refused

import sfumato as sf
from sfumato import channels as c
from sfumato.scheme import VERSION

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
