"""Bayes: the posterior of every record from its answers, and what repeated releases add up to."""

from __future__ import annotations

from itertools import combinations
from math import comb, lgamma
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import Recovery
from sfumato.assess.attacks.true_rows import true_rows
from sfumato.assess.guess import map_success
from sfumato.assess.shares import EQUAL, ESTIMATED, GIVEN, estimated_shares, given_shares, shares_of_codes
from sfumato.assess.subject import Attribute, Subject, channel_of, is_noise, one_form, subject
from sfumato.channels.codes import join_codes
from sfumato.errors import ChannelError, SfumatoError
from sfumato.evidence import evidence
from sfumato.forms import Forms
from sfumato.input_checks import check_names, check_number
from sfumato.randomness import numpy_generator
from sfumato.release import Release
from sfumato.scheme import Scheme

_MOST_PATTERNS = 100_000
BESIDE = "always saying the commonest value"


def bayes(
    released: Any,
    of: Any = None,
    prior: Any = None,
    truth: Any = None,
    *,
    attribute: Attribute = None,
    key: bytes | None = None,
    link_key: bytes | None = None,
) -> Recovery:
    """The most likely true value of every record given its released code, or several codes of fresh releases.

    ``released`` is a Release (then ``attribute`` says which), or holds a code per record, or a row of codes where a
    record was released more than once. ``prior`` gives the shares of the true values, in the order of the codes or by
    value; without it they are estimated from what was released. A scheme or channel alone, without records, tells
    what an adversary may expect, under equal shares unless told otherwise. ``truth`` holds true codes, or is the raw
    table behind a Release; shuffled rows are found again by their ids, which takes the ``key`` or ``link_key`` of their
    pseudonyms. Without the truth the error is the expected one, 1 - map_success, which ``report`` states too.

    >>> attack = bayes([0, 1, 1, 0], [[0.75, 0.25], [0.25, 0.75]])
    >>> attack.recovered, round(attack.error, 9), attack.nothing
    (array([0, 1, 1, 0]), 0.25, 0.5)
    """
    attribute = _named(released if of is None else of, attribute)
    if isinstance(released, Release):
        return _of_release(_one_form(released, attribute), prior, truth, attribute, key, link_key)
    if isinstance(released, Forms):
        released = one_form(released.forms, attribute)
    if of is None:
        if truth is not None:
            raise SfumatoError("without released records there is nothing to hold against the truth: give a release")
        seen, source = _start(released, prior, attribute, None)
        blind, start = _nothing(seen.prior, None), {"shares": source, "prior": seen.prior}
        return Recovery("bayes", None, 1 - map_success(seen), blind, None, start, BESIDE)
    return _of_codes(np.asarray(released), of, prior, truth, attribute)


def _of_codes(
    codes: NDArray[Any], of: Any, prior: Any, truth: Any, attribute: Attribute, release: Release | None = None
) -> Recovery:
    codes = codes[:, None] if codes.ndim == 1 else codes
    if codes.ndim != 2 or codes.dtype.kind not in "iub" or not codes.size:
        raise SfumatoError(f"released must hold whole-number codes, a row per record, got shape {codes.shape}")
    P = channel_of(of, attribute).matrix
    m = P.shape[1]
    if codes.min() < 0 or codes.max() >= m:
        raise ChannelError(f"released codes must lie in [0, {m - 1}], got {int(codes.min())} to {int(codes.max())}")
    _check_possible(codes, P.sum(axis=0) > 0)
    seen, source = _start(of, prior, attribute, codes, release)
    _check_possible(codes, seen.seen)
    patterns, place = np.unique(np.sort(codes, axis=1), axis=0, return_inverse=True)
    log = _log(seen.prior)[:, None] + sum(_log(seen.P)[:, patterns[:, t]] for t in range(codes.shape[1]))
    top = log.max(axis=0)
    if (top < -1e8).any():
        raise ChannelError("the answers of some record contradict each other: no true value can give them all")
    weights = np.exp(log - top)
    posterior = weights / weights.sum(axis=0)
    guess = posterior.argmax(axis=0)[place.reshape(-1)]
    sure = posterior.max(axis=0)[place.reshape(-1)]
    expected = 1 - map_success(seen) if codes.shape[1] == 1 else float(1 - sure.mean())
    known = None if truth is None else _true_codes(truth, len(guess), len(seen.P))
    if known is not None and codes.shape[1] == 1:
        _check_order(seen.P, known, codes[:, 0])
    error = expected if known is None else float((known != guess).mean())
    told: dict[str, Any] = {"shares": source, "prior": seen.prior, "expected": expected, "confidence": sure}
    return Recovery("bayes", guess, error, _nothing(seen.prior, known), None, told, BESIDE)


def repeated(
    of: Any,
    times: int,
    prior: Any = None,
    *,
    trials: int = 20_000,
    rng: np.random.Generator | int | None = None,
    attribute: Attribute = None,
) -> Recovery:
    r"""What ``times`` fresh releases of the same record add up to, for an adversary who guesses best.

        success = sum over patterns of answers of  max_x Pr(x) prod_t P[x, y_t]

    Exact while the patterns can be listed, otherwise simulated. The shares Pr(x) are ``prior``, else those estimated
    from a Release, else (for a scheme or channel) equal. For additive noise the average has sd / sqrt(times).

    >>> round(1 - repeated([[0.5, 1/6, 1/6, 1/6], [1/6, 0.5, 1/6, 1/6], [1/6, 1/6, 0.5, 1/6], [1/6, 1/6, 1/6, 0.5]], 10).error, 3)
    0.815
    """  # noqa: E501
    if check_number(SfumatoError, "times", times) < 1 or int(times) != times:
        raise SfumatoError(f"times must be a whole number of at least 1, got {times} instead")
    if is_noise(of):
        return Recovery("repeated", None, float(of.sd) / float(np.sqrt(times)), None, float(of.sd), {"exact": True})
    codes, release, attribute = None, None, _named(of, attribute)
    if isinstance(of, Release):
        release = _one_form(of, attribute)
        codes, attribute = _codes(release, attribute)
        of = release.scheme
    elif isinstance(of, Forms):
        of = one_form(of.forms, attribute)
    seen, source = _start(of, prior, attribute, codes, release)
    keep = np.flatnonzero(seen.seen)
    P = seen.P[:, keep]
    exact = comb(times + len(keep) - 1, len(keep) - 1) <= _MOST_PATTERNS
    success = _exact(P, seen.prior, times) if exact else _simulated(P, seen.prior, times, trials, rng)
    told = {"shares": source, "prior": seen.prior, "exact": exact, "times": times}
    return Recovery("repeated", None, 1 - success, _nothing(seen.prior, None), None, told, BESIDE)


def _named(of: Any, attribute: Attribute) -> Attribute:
    """The attributes of a group that is named as it is printed: a+b."""
    if attribute is not None and not isinstance(attribute, str):
        check_names(SfumatoError, "attribute", attribute, "names, or one name")
    if isinstance(attribute, str) and isinstance(of, Release | Forms | Scheme) and attribute not in of.schema:
        return tuple(attribute.split("+"))
    return attribute


def _one_form(release: Release, attribute: Attribute) -> Release:
    """The records that were asked these questions, where not all were asked the same."""
    scheme = one_form((part.scheme for part in release.parts), attribute)
    return Release.of(part for part in release.parts if part.scheme == scheme)


def _of_release(
    release: Release, prior: Any, truth: Any, attribute: Attribute, key: bytes | None, link_key: bytes | None
) -> Recovery:
    codes, names = _codes(release, attribute)
    if truth is not None and isinstance(truth, np.ndarray | list):
        if release.order == "shuffled":
            raise SfumatoError("the rows of the release were shuffled: give the raw table with its ids, not codes")
    elif truth is not None:
        rows = true_rows(release, truth, key, link_key)
        schema = release.scheme.schema
        columns = [schema.select([name]).encode(truth)[name] for name in names]
        truth = join_codes(columns, schema.sizes(names))
        if rows is not None:
            truth = truth[rows]
        if len(truth) != len(codes):
            raise SfumatoError(
                f"the truth has {len(truth)} rows, the release {len(codes)}: they must be the same records"
            )
    attribute = names if len(names) > 1 else names[0]
    return _of_codes(codes, release.scheme, prior, truth, attribute, release)


def _codes(release: Release, attribute: Attribute) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The released codes of one attribute, or of a whole group of attributes that are randomized together."""
    scheme = release.scheme
    if attribute is None:
        if len(scheme.groups) != 1:
            raise SfumatoError(f"name the attribute to attack: one of {', '.join(scheme.schema.names)}")
        attribute = scheme.groups[0].names
    names = (attribute,) if isinstance(attribute, str) else tuple(attribute)
    group = scheme.group(names[0])
    apart = [name for name in names if name not in group.names]
    if apart:
        raise SfumatoError(
            f"{' and '.join(map(repr, (names[0], apart[0])))} are not randomized together: attack each by itself; what "
            "both answers tell of attributes that go together is in the report (sfumato assess, with the release)"
        )
    if group.names != names:
        raise SfumatoError(
            f"{' + '.join(names)!r} is randomized together with others: attack the whole group, {'+'.join(group.names)}"
        )
    rows = release.arrow()
    return join_codes([rows.column(column).to_numpy() for column in group.columns], group.channel.outputs), names


def _start(
    of: Any, prior: Any, attribute: Attribute, codes: NDArray[Any] | None, release: Release | None = None
) -> tuple[Subject, str]:
    """The channel with the shares the adversary starts from, and where those come from: as in a report."""
    channel = channel_of(of, attribute)
    if prior is not None:
        name = attribute if isinstance(attribute, str) else attribute[0] if attribute and len(attribute) == 1 else None
        labels = of.schema[name].labels if isinstance(of, Scheme) and name is not None else ()
        return subject(channel, given_shares(prior, channel.k, labels, "prior")), GIVEN
    if release is not None:
        found = estimated_shares(
            evidence(release), [attribute] if isinstance(attribute, str) else list(attribute or ())
        )
    else:
        found = None if codes is None else shares_of_codes(channel, codes)
    return (subject(channel), EQUAL) if found is None else (subject(channel, found), ESTIMATED)


def _check_order(P: Array, truth: NDArray[Any], codes: NDArray[Any]) -> None:
    r"""Raise where the rows of the truth cannot stand in the order of the release's.

    The mean of P[x, y] / Pr(y) over the records is sum_xy Pr(x) P[x, y]² / Pr(y) in the right order, and 1 in another.
    """
    shares = np.bincount(truth, minlength=len(P)) / truth.size
    released = shares @ P
    ratio = np.divide(P, released, out=np.zeros_like(P), where=released > 0)
    mean = float(shares @ (P * ratio).sum(axis=1))
    spread = float(shares @ (P * ratio**2).sum(axis=1)) - mean**2
    if float(ratio[truth, codes].mean()) < mean - 6 * np.sqrt(max(spread, 0.0) / truth.size) - 1e-9:
        raise SfumatoError(
            "the truth does not stand in the order of the released rows, which are shuffled unless randomized with "
            "order='keep': the error cannot be measured row by row"
        )


def _check_possible(codes: NDArray[Any], possible: NDArray[Any]) -> None:
    never = ~possible[codes]
    if never.any():
        y = int(codes[never][0])
        raise ChannelError(f"released code {y} cannot occur under this channel and prior: it has no posterior")


def _exact(P: Array, prior: Array, times: int) -> float:
    """Sum over how often each answer occurred."""
    counts = _patterns(times, P.shape[1])
    ways = lgamma(times + 1) - np.array([lgamma(c + 1) for c in range(times + 1)])[counts].sum(axis=1)
    log = _log(prior) + counts @ _log(P).T
    return float(min(np.exp(log.max(axis=1) + ways).sum(), 1.0))


def _patterns(times: int, m: int) -> NDArray[np.int64]:
    """Every way to spread the answers over m kinds: m - 1 bars among the stars."""
    ways = comb(times + m - 1, m - 1)
    bars = np.array(list(combinations(range(times + m - 1), m - 1)), dtype=np.int64).reshape(ways, m - 1)
    ends = np.full((ways, 1), times + m - 1)
    return np.diff(np.hstack((np.full_like(ends, -1), bars, ends)), axis=1) - 1


def _log(p: Array) -> Array:
    """Logarithms with a large negative number for impossible, so that none times impossible is nothing."""
    return np.log(p, out=np.full_like(p, -1e9), where=p > 0)


def _simulated(P: Array, prior: Array, times: int, trials: int, rng: np.random.Generator | int | None) -> float:
    generator = numpy_generator(rng)
    x = generator.choice(len(prior), size=trials, p=prior)
    counts = np.array([generator.multinomial(times, P[v] / P[v].sum()) for v in x], dtype=np.float64)
    log = _log(prior) + counts @ _log(P).T
    return float((log.argmax(axis=1) == x).mean())


def _true_codes(truth: ArrayLike, records: int, k: int) -> NDArray[Any]:
    known = np.asarray(truth).reshape(-1)
    if len(known) != records:
        raise SfumatoError(f"truth must have {records} entries, one per record, got {known.size} instead")
    if known.dtype.kind not in "iub" or known.min() < 0 or known.max() >= k:
        raise SfumatoError(f"truth must hold codes from 0 to {k - 1}")
    return known


def _nothing(prior: Array, truth: NDArray[Any] | None) -> float:
    """The error of always saying the commonest value: of the truth where it is known, else of the shares."""
    return float(1 - (prior.max() if truth is None else np.bincount(truth).max() / truth.size))
