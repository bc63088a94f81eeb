"""Schemes: groups, fingerprints, JSON, and everything that may be wrong with them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.assess import privacy
from sfumato.channels.efficiency import even_efficiency
from sfumato.errors import SchemaError, SchemeError, SfumatoError, SingularChannelWarning

BIT = sf.Categorical(("no", "yes"))
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "a": BIT, "b": BIT, "c": BIT, "age": sf.Numeric(0, 80, bins=8)})


def scheme() -> sf.Scheme:
    return rest_clear(SCHEMA, {"sex": c.binary(0.25, 0.25), ("a", "b", "c"): c.symmetric((2, 2, 2), 0.3)})


def test_what_passes_in_the_clear_was_said_to() -> None:
    assert scheme()["age"] == c.identity(8)
    assert scheme().gamma == math.inf
    assert sf.Scheme(SCHEMA, {"age": c.identity(8)}, clear=["sex", "a", "b", "c"]) == sf.Scheme.identity(SCHEMA)
    with pytest.raises(SchemeError, match="treated by two channels"):
        sf.Scheme(SCHEMA.select(["sex"]), {"sex": c.binary(0.1, 0.1)}, clear=["sex"])
    with pytest.raises(SchemaError, match="no attribute 'nope'"):
        sf.Scheme(SCHEMA, clear=["nope"])


def test_gamma_of_a_record_is_the_product_of_its_groups() -> None:
    treated = sf.Scheme(
        SCHEMA.select(["sex", "a", "b", "c"]),
        {"sex": c.binary(0.25, 0.25), ("a", "b", "c"): c.symmetric((2, 2, 2), 0.3)},
    )
    assert treated.gamma == pytest.approx(3 * 49 / 3)
    assert treated.epsilon == pytest.approx(math.log(49))
    assert treated["a"].gamma == pytest.approx(c.symmetric((2, 2, 2), 0.3).marginal([0]).gamma)


def test_table_5_1_of_ma06() -> None:
    """gamma 3, 4.6667, 4 and, where the paper prints 9, 7.5."""
    assert c.binary(0.25, 0.25).gamma == pytest.approx(3)
    assert c.ternary(0.15, 0.15).gamma == pytest.approx(14 / 3)
    assert c.binary(0.2, 0.2).gamma == pytest.approx(4)
    assert c.binary(0.1, 0.25).gamma == pytest.approx(7.5)


def test_json_round_trip_and_fingerprint() -> None:
    again = sf.Scheme.from_json(scheme().to_json())
    assert again == scheme()
    assert again.fingerprint == scheme().fingerprint
    assert len(scheme().fingerprint) == 64
    other = rest_clear(SCHEMA, {"sex": c.binary(0.25, 0.2500001), ("a", "b", "c"): c.symmetric((2, 2, 2), 0.3)})
    assert other.fingerprint != scheme().fingerprint


def test_groups_with_structural_zeros_are_bound_to_their_attributes() -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "pregnant": BIT})
    bound = sf.Scheme(schema, {("sex", "pregnant"): c.symmetric(valid=[("F", "yes"), ("F", "no"), ("M", "no")], p=0.5)})
    table = {"sex": ["F", "F", "M"] * 500, "pregnant": ["yes", "no", "no"] * 500}
    released = sf.randomize(table, bound).decode().to_pydict()
    pairs = set(zip(released["sex"], released["pregnant"], strict=True))
    assert pairs == {("F", "yes"), ("F", "no"), ("M", "no")}
    with pytest.raises(SfumatoError, match=r"columns sex \+ pregnant: 1 row holds a combination that is not among"):
        sf.randomize({"sex": ["M"], "pregnant": ["yes"]}, bound)
    assert sf.Scheme.from_json(bound.to_json()) == bound
    found = sf.evidence(sf.randomize(table, bound)).counts(["sex", "pregnant"])
    assert found.table[1, 1] == 0
    assert found.sd[3] == 0
    assert found.value.sum() == pytest.approx(1500)
    margin = sf.evidence(sf.randomize(table, bound)).counts("sex")
    assert margin.value.sum() == pytest.approx(1500)


def test_for_gamma_chooses_by_kind() -> None:
    schema = sf.Schema({"bit": BIT, "many": sf.Categorical(tuple(range(12))), "age": sf.Numeric(0, 80, bins=16)})
    best = sf.Scheme.for_gamma(schema, 3)
    assert [best[name].kind for name in schema] == ["symmetric", "subset", "windows"]
    assert all(best[name].gamma <= 3 + 1e-12 for name in schema)
    assert all(best[name].gamma > 3 - 1e-9 for name in schema)


@pytest.mark.parametrize(("k", "gamma", "kind"), [(20, 95, "symmetric"), (3, 3, "symmetric"), (20, 3, "windows")])
def test_for_gamma_keeps_the_most_of_the_sample(k: int, gamma: float, kind: str) -> None:
    chosen = sf.Scheme.for_gamma(sf.Schema({"x": sf.Ordinal(tuple(range(k)))}), gamma)["x"]
    assert chosen.kind == kind
    rivals = (c.symmetric(k, gamma=gamma), c.subset(k, gamma), c.windows(k, gamma))
    kept = [privacy.effective_sample_size(rival, target="cdf") for rival in rivals]
    assert privacy.effective_sample_size(chosen, target="cdf") == pytest.approx(max(kept))
    assert min(kept) < 0.95 * max(kept)


@pytest.mark.parametrize("k", [3, 12, 40])
def test_the_efficiency_of_even_shares_is_that_of_the_matrix(k: int) -> None:
    for channel in (c.symmetric(k, gamma=4), c.subset(k, 4)):
        for target in ("shares", "cdf"):
            assert even_efficiency(channel, target) == pytest.approx(
                privacy.effective_sample_size(channel, None, target)
            )


def test_for_gamma_takes_hyperplanes_where_a_matrix_would_be_too_large() -> None:
    schema = sf.Schema({"x": sf.Ordinal(tuple(range(70_000))), "y": sf.Categorical(tuple(map(str, range(20_000))))})
    with pytest.warns(
        SingularChannelWarning, match="'x' has 70,000 values, too many for windows: under subset"
    ) as seen:
        found = sf.Scheme.for_gamma(schema, 3)
    assert [found[name].kind for name in schema] == ["hyperplanes", "hyperplanes"]
    assert len(seen) == 1
    assert sf.Scheme.for_gamma(sf.Schema({"x": sf.Ordinal(tuple(range(20_000)))}), 3)["x"].kind == "windows"
    assert even_efficiency(found["y"]) > 1000 * even_efficiency(c.symmetric(20_000, gamma=3))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: sf.Scheme(SCHEMA, {"sex": c.symmetric(3, 0.1)}), r"sex: .* does not fit attributes with 2 values"),
        (lambda: sf.Scheme(SCHEMA, {"nope": c.binary(0.1, 0.1)}), "there is no attribute 'nope'"),
        (lambda: sf.Scheme(SCHEMA, {"a": c.binary(0.1, 0.1), ("a", "b"): c.symmetric((2, 2), 0.1)}), "treated by two"),
        (lambda: sf.Scheme(SCHEMA, {("a", "a"): c.symmetric((2, 2), 0.1)}), "name each attribute once"),
        (lambda: sf.Scheme(SCHEMA, {"a": 0.3}), "must be given a channel, got float instead"),
        (lambda: sf.Scheme(SCHEMA, {("age", "a"): c.mask(0.1)}), "attributes with two values each"),
        (
            lambda: sf.Scheme(SCHEMA, {"a": c.symmetric(valid=[("F",), ("M",)], p=0.1)}),
            "a value that is not in its domain .*, got 'F'",
        ),
        (lambda: sf.Scheme.from_json("{"), "the scheme is not JSON"),
        (lambda: sf.Scheme.from_json("[]"), "this is not a scheme"),
        (
            lambda: sf.Scheme.from_json(json.dumps({**scheme().to_dict(), "version": 99})),
            "scheme version 99 is unknown",
        ),
        (lambda: sf.Scheme.from_json(json.dumps({"format": "sfumato scheme", "version": 2})), "the scheme is damaged"),
    ],
)
def test_bad_schemes_get_one_line(make: object, line: str) -> None:
    with pytest.raises(SfumatoError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_damaged_channel_inside_a_scheme_is_found() -> None:
    for damage in ({"kind": "teleport"}, {"kind": "symmetric"}, {"kind": "symmetric", "sizes": [2], "other": "9" * 30}):
        document = scheme().to_dict()
        document["channels"][0]["channel"] = damage
        with pytest.raises(SfumatoError, match="unknown kind of channel|damaged|must lie in"):
            sf.Scheme.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: c.matrix([[0.5, 0.4], [0.5, 0.5]]), r"row 0 of P must sum to 1, got 0.9"),
        (lambda: c.matrix([[1.1, -0.1], [0.5, 0.5]]), r"P\[0, 1\] must not be negative, got -0.1"),
        (lambda: c.matrix([[float("nan"), 1], [0.5, 0.5]]), r"P\[0, 0\] must be a probability, got nan"),
        (lambda: c.matrix([1, 0]), "has rows and columns"),
        (lambda: c.symmetric(6, 0.9), r"p must lie in \[0, 1 - 1/6\), got 0.9: at 5/6 the output ignores the input"),
        (lambda: c.symmetric(2, 0.5), r"p must lie in \[0, 1 - 1/2\), got 0.5"),
        (lambda: c.symmetric(4, -0.1), "p must lie in"),
        (lambda: c.symmetric(4), "either p .* or gamma"),
        (lambda: c.symmetric(4, gamma=1), r"gamma must lie in \(1, inf\], got 1"),
        (lambda: c.binary(0.5, 0.5), r"p1 \+ p2 must lie in \[0, 1\), got 1: at 1 the output ignores the input"),
        (lambda: c.binary(1.5, 0), r"p1 must lie in \[0, 1\], got 1.5"),
        (lambda: c.ternary(1 / 3, 1 / 3), "must exceed p1 and p2"),
        (lambda: c.mask(0.5), r"p must lie in \[0, 1/2\), got 0.5"),
        (lambda: c.select_a_size([0.5, 0.4], 0.1), "sum to 1, got a sum of 0.9"),
        (lambda: c.subset(10, 1), r"gamma must lie in \(1, inf\)"),
        (lambda: c.windows(1, 3), "k must be at least 2"),
        (lambda: c.invariant(c.binary(0.1, 0.1), [0.5, 0.4]), "prior must sum to 1, got 0.9"),
        (lambda: c.invariant(c.binary(0.1, 0.1), [1.0]), "prior must have 2 entries"),
        (lambda: c.blocks([]), "at least one channel"),
        (lambda: c.symmetric((2, 2), 0.2).marginal([5]), r"distinct positions in \[0, 1\], got \[5\]"),
        (lambda: c.matrix(np.full((3, 3), 1 / 3)).inverse, "is not invertible"),
    ],
)
def test_bad_channels_get_one_line(make: object, line: str) -> None:
    with pytest.raises(SfumatoError, match=line) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_scheme_errors_are_value_errors() -> None:
    assert issubclass(SchemeError, ValueError)


def test_too_many_combinations_are_refused_and_never_pass_unchanged() -> None:
    assert c.symmetric((2,) * 30, 0.3).p == pytest.approx(0.3, rel=1e-9)
    for many in (60, 62, 63, 64):
        with pytest.raises(SfumatoError, match="combinations are too many for weights"):
            c.symmetric((2,) * many, 0.3)
    assert c.symmetric((2,) * 24, 0.3).gamma > 1  # without listing 2^24 equal numbers


def test_the_singular_point_is_refused_for_every_k() -> None:
    for k in range(2, 200):
        with pytest.raises(SfumatoError, match="p must lie in"):
            c.symmetric(k, (k - 1) / k)


@pytest.mark.parametrize(
    "make",
    [
        lambda: c.symmetric(3, float("nan")),
        lambda: c.symmetric(3, float("inf")),
        lambda: c.symmetric(2.5, 0.3),
        lambda: c.symmetric("3", 0.3),
        lambda: c.symmetric(3, "0.3"),
        lambda: c.select_a_size([float("nan"), 1], 0.1, items=3),
        lambda: c.select_a_size([0.5, 0.5], 0.1, items=-1),
        lambda: c.subset(20_000_000, 1.5),
        lambda: c.subset(20_000, 1.5, design="projective"),
        lambda: c.subset(100, 3, design="hyperplanes", size=6),
        lambda: c.subset(10**7, 3, design="hyperplanes", size=1009),
        lambda: c.matrix([[0.5, 0.5], [1.0]]),
        lambda: c.matrix([["a", "b"]]),
        lambda: c.blocks([1]),
        lambda: c.product([1]),
        lambda: c.symmetric((2, 2), 0.2).marginal(0),
        lambda: c.invariant(c.blocks([c.symmetric(2, 0.1), c.symmetric(2, 0.1)]), [0.5, 0.5, 0, 0]),
        lambda: c.binary(0.1, 0.1).randomize([0], rng=-1),
        lambda: sf.Scheme(SCHEMA, [("sex", c.binary(0.1, 0.1))]),
        lambda: sf.Forms(5),
        lambda: sf.evidence({"a": [0]}, sf.Schema({"a": sf.Categorical((0, 1))})).listed("a", 5),
    ],
)
def test_odd_arguments_get_one_line(make: object) -> None:
    with pytest.raises(SfumatoError) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_numpy_numbers_are_numbers() -> None:
    assert c.windows(np.int64(5), np.float32(3)) == c.windows(5, 3)
    assert c.subset(np.int64(5), np.int64(3)) == c.subset(5, 3)
    assert c.symmetric(np.int32(3), np.float64(0.3)) == c.symmetric(3, 0.3)
    assert c.mask(np.float32(0.25)).p == 0.25
    sf.Scheme.from_json(
        rest_clear(
            SCHEMA, {("a", "b"): c.symmetric(valid=np.array([["no", "no"], ["yes", "no"]]).tolist(), p=0.1)}
        ).to_json()
    )


def test_combinations_that_are_one_after_encoding_are_refused() -> None:
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=4), "sex": sf.Categorical(("F", "M"))})
    with pytest.raises(SfumatoError, match="the same after encoding"):
        sf.Scheme(schema, {("age", "sex"): c.symmetric(valid=[(10, "F"), (12, "F"), (60, "M")], p=0.1)})


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "subset", "values": 5, "gamma": "3", "design": "projective", "size": 0},
        {"kind": "subset", "values": 5, "gamma": "3", "design": "magic", "size": 2},
        {"kind": "subset", "values": 5, "gamma": "1e30000000", "design": "sets", "size": 2},
        {"kind": "subset", "values": 10**7, "gamma": "3", "design": "sets", "size": 5 * 10**6},
        {"kind": "subset", "values": 5, "gamma": "1/0", "design": "sets", "size": 2},
        {"kind": "subset", "values": 5, "gamma": "3", "design": "sets", "size": 99},
        {"kind": "windows", "values": 5, "gamma": "0", "widths": [1]},
        {"kind": "windows", "values": 5, "gamma": "3", "widths": [1] * 100_000},
        {"kind": "valid", "combinations": [["F"], ["M"]], "other": "5", "sizes": [2], "cells": [0, 7]},
        {"kind": "valid", "combinations": [["F"], ["M"]], "other": "5", "sizes": [2], "cells": [0]},
        {"kind": "matrix", "sizes": [2], "outputs": [2], "weights": [["1", "2"], ["3"]]},
        {"kind": "product", "channels": []},
        {"kind": "mask", "p": "x", "items": 2},
        {"kind": "select_a_size", "keep": [], "noise": "0", "items": 2},
        {"kind": "uniform", "half_width": -1},
        {"kind": "scipy", "name": "os.system", "args": [], "kwds": {}},
        [],
        None,
    ],
)
def test_hostile_descriptions_are_refused_at_once(damage: object) -> None:
    document = scheme().to_dict()
    document["channels"][0]["channel"] = damage
    with pytest.raises(SfumatoError):
        sf.Scheme.from_json(json.dumps(document))


def test_hostile_schemas_are_refused() -> None:
    for entry in ({"kind": "numeric", "edges": ["x", 1], "nullable": False}, {"kind": "categorical"}, 7, {"kind": []}):
        document = scheme().to_dict()
        document["schema"]["sex"] = entry
        with pytest.raises(SfumatoError):
            sf.Scheme.from_json(json.dumps(document))
    document = scheme().to_dict()
    document["channels"][0]["attributes"] = [["sex"]]
    with pytest.raises(SfumatoError):
        sf.Scheme.from_json(json.dumps(document))
    with pytest.raises(SfumatoError, match="nested too deeply"):
        sf.Scheme.from_json("[" * 100_000)


def test_groups_whose_output_does_not_split_release_one_column() -> None:
    whole = c.matrix(np.random.default_rng(0).dirichlet(np.ones(6), 4), sizes=(2, 2), outputs=(6,))
    made = rest_clear(SCHEMA, {("a", "b", "sex"): c.product([whole, c.symmetric(2, 0.2)]), "c": c.binary(0.1, 0.1)})
    assert set(made.columns) == {"a+b", "sex", "c", "age"}
    rng = np.random.default_rng(1)
    table = {name: rng.choice(["no", "yes"], 2000) for name in "abc"} | {
        "sex": rng.choice(["F", "M"], 2000),
        "age": rng.uniform(0, 80, 2000),
    }
    found = sf.evidence(sf.randomize(table, made, rng=1), method="mle").counts(["b", "sex"])
    assert found.value.sum() == pytest.approx(2000)
    with pytest.raises(SfumatoError, match="not treated together"):
        _ = made["a", "c"]


def test_for_gamma_tells_texts_from_lists_of_as_many_values() -> None:
    schema = sf.Schema({"word": sf.Text(1, "ab"), "sex": sf.Categorical(("F", "M"))})
    assert [group.channel.kind for group in sf.Scheme.for_gamma(schema, 9).groups] == ["prefixes", "symmetric"]
    same = sf.Schema({"short": sf.Text(2, "abcde"), "long": sf.Text(4, "ab")})  # 30 texts each
    assert sf.Scheme.for_gamma(same, 9)["long"].max_length == 4
