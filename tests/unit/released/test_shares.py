"""A secure sum of counts over files: what the sites get is the sum, and what is wrong is said in one line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError
from sfumato.released.shares import Share

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "grade": sf.Ordinal(("a", "b", "c"))})
SCHEME = sf.Scheme(SCHEMA, {"sex": c.symmetric(2, 0.2), "grade": c.symmetric(3, 0.3)})


def site(seed: int, n: int) -> sf.Release:
    rng = np.random.default_rng(seed)
    table = {"sex": rng.choice(["F", "M"], n), "grade": rng.choice(list("abc"), n)}
    return sf.counted(sf.randomize(table, SCHEME, rng=sf.experiment(seed)))


SITES = [site(1, 200), site(2, 500), site(3, 41)]
SPLIT = [sf.split_counts(one, 3, number + 1) for number, one in enumerate(SITES)]


def together(split=SPLIT) -> list[Share]:
    return [sf.add_shares([shares[to] for shares in split]) for to in range(3)]


def test_the_sums_that_the_sites_show_are_the_counts_of_all(tmp_path) -> None:
    for number, shares in enumerate(SPLIT, 1):
        for share in shares:
            share.save(tmp_path / f"from-{number}-to-{share.to}.json")
    for to in (1, 2, 3):
        came = [Share.load(tmp_path / f"from-{number}-to-{to}.json") for number in (1, 2, 3)]
        shown = sf.add_shares(came)
        assert shown.complete and shown.to == to
        shown.save(tmp_path / f"sum-{to}.json")
    total = sf.add_shares([Share.load(tmp_path / f"sum-{to}.json") for to in (1, 2, 3)])
    whole = sf.Release.concat(SITES)
    assert len(total) == 741 and len(total.parts) == 1
    for ask in (lambda ev: ev.counts(["sex", "grade"]), lambda ev: ev.mean("grade", by="sex")):
        np.testing.assert_allclose(ask(sf.evidence(total)).value, ask(sf.evidence(whole)).value)
    in_one = sf.secure_sum(SITES)
    np.testing.assert_array_equal(in_one.parts[0].tables["sex", "grade"], total.parts[0].tables["sex", "grade"])


def test_no_number_of_a_share_is_a_count() -> None:
    """Uniform below 2^62: a count below a thousand would be there once in 10^15 times."""
    for shares in SPLIT:
        for share in shares:
            assert int(share.numbers.min()) > 1000


def test_missing_doubled_and_foreign_shares_are_refused() -> None:
    for_one = [shares[0] for shares in SPLIT]
    for given, said in (
        ([], "no shares"),
        (for_one[:2], "the share for site 1 from site 3 is missing: without it"),
        ([*for_one, for_one[0]], "the share for site 1 from site 1 is there twice"),
        ([SPLIT[0][0], SPLIT[1][1]], "sent to one site"),
        (for_one[:1], "the shares for site 1 from sites 2, 3 are missing: without them"),
        (together()[:2], "the sum of site 3 is missing: without it"),
        (together()[:1], "the sums of sites 2, 3 are missing: without them"),
        ([for_one[0], replace(for_one[1], modulus=101)], "different moduli"),
        ([for_one[0], replace(for_one[1], layout=())], "different tables or schemes"),
    ):
        with pytest.raises(ReleaseError, match=said):
            sf.add_shares(given)
    again = [sf.split_counts(SITES[0], 3, 1), *SPLIT[1:]]  # a site that splits twice must send all shares again
    mixed = [together(again)[0], *together()[1:]]
    with pytest.raises(ReleaseError, match="of another split"):
        sf.add_shares(mixed)


def test_what_cannot_be_split_is_refused(tmp_path) -> None:
    with pytest.raises(ReleaseError, match="at least three sites"):
        sf.split_counts(SITES[0], 2, 1)
    with pytest.raises(ReleaseError, match="from 1 to 3"):
        sf.split_counts(SITES[0], 3, 0)
    rows = sf.randomize({"sex": ["F"], "grade": ["a"]}, SCHEME)
    with pytest.raises(ReleaseError, match=r"sf.counted\(release"):
        sf.split_counts(rows, 3, 1)
    with pytest.raises(ReleaseError, match="not both"):
        sf.secure_sum([SITES[0], [1], [2]])
    raw = sf.counted(sf.Release.raw({"sex": ["F", "M"], "grade": ["a", "b"]}, SCHEMA))
    with pytest.raises(ReleaseError, match="clear=True"):
        sf.split_counts(raw, 3, 1)
    total = sf.secure_sum([raw, raw, raw], clear=True)  # the sum of true counts, as Ma (2006) has it
    assert sf.evidence(total).exact and sf.evidence(total).counts("sex").value.tolist() == [3, 3]


def test_damaged_shares_are_refused_in_one_line(tmp_path) -> None:
    path = tmp_path / "share.json"
    SPLIT[0][0].save(path)
    good = path.read_text()
    for said, change in {
        "modulus must be": lambda d: d.update(modulus="many"),
        "at least three sites": lambda d: d.update(sites=2),
        "senders and to": lambda d: d.update(senders=[1, 1]),
        "senders and to must": lambda d: d.update(to=7),
        "below its modulus": lambda d: d.update(modulus=5),
        "not a share": lambda d: d.update(format="sfumato counts"),
    }.items():
        document = json.loads(good)
        change(document)
        path.write_text(json.dumps(document))
        with pytest.raises(ReleaseError, match=said):
            Share.load(path)
    path.write_text(good)
    with pytest.raises(ReleaseError, match="sfumato add"):
        sf.Release.load(path)
