"""Warnings that matter: what the numbers alone might let a reader overlook."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.same_gamma import Better, better
from sfumato.assess.report.sentences import at_most, belief, listed, number, percent, points, quoted, records
from sfumato.assess.report.summary import factor, randomized_epsilon
from sfumato.assess.shares import EQUAL
from sfumato.forms import Forms


@dataclass(frozen=True)
class Caution:
    """A warning; ``serious`` ones undo a promise, the others qualify a number."""

    title: str
    text: str
    serious: bool = False


_MOST_ALONE = 3
_RECOGNISED = 0.05  # the share of people found again from which on it is said


def cautions(facts: Facts) -> list[Caution]:
    """Every warning that applies, the serious ones first."""
    found = [caution for unit in facts.units for caution in _of_unit(unit)] + _of_accuracies(facts)
    found += _of_noise(facts) + _of_repeats(facts) + _of_whole(facts) + _of_ids(facts) + _of_order(facts)
    if facts.n is None:
        text = "Without the number of records the report cannot say how accurate estimates will be."
        found.append(Caution("The number of records is not known", text))
    found += _of_shares(facts)
    return sorted(found, key=lambda caution: not caution.serious)


def _of_shares(facts: Facts) -> list[Caution]:
    """Attributes whose guesses take every value for equally likely."""
    randomized = [unit for unit in facts.units if unit.channel.k > 1 and not unit.identity]
    even = [unit for unit in randomized if unit.prior_from == EQUAL]
    if not even:
        return []
    some = len(even) < len(randomized)
    named = ", ".join(quoted(unit) for unit in even[:6]) + " and others" * (len(even) > 6)
    text = (
        f"Guesses and averages{f' of {named}' if some else ''} are computed as if all values were equally likely "
        "beforehand. Where some are much more frequent, a blind guess is right more often, and rare values are the "
        "ones to watch. Give the public shares, or collected evidence that tells them, for sharper figures. The factor "
        "gamma does not depend on this."
    )
    return [Caution(f"Nothing is known of the shares of {named}" if some else "No shares were given", text)]


def _of_unit(unit: Unit) -> list[Caution]:
    m, out = unit.measures, []
    if unit.channel.k == 1:
        return []
    if unit.identity:
        text = (
            f"{quoted(unit)} leaves the owner as it is. That is right only if it is not sensitive, and does not help "
            "to recognise persons together with other attributes."
        )
        return [Caution(f"{unit.title} is not randomized", text, serious=True)]
    if "gamma_within" in m:
        text = (
            f"Each answer about {quoted(unit)} names the group of its true value with certainty: gamma is infinite "
            f"between groups. Only within a group is there protection (gamma {number(m['gamma_within'])})."
        )
        out.append(Caution(f"{unit.title}: groups are given away", text, serious=True))
    elif m["gamma"] == math.inf:
        text = (
            f"Some answers about {quoted(unit)} are impossible for some true values, so that a few records may be "
            "disclosed completely, however small the average disclosure is."
        )
        out.append(Caution(f"{unit.title}: some answers exclude values", text, serious=True))
    elif m["gamma"] > 100:
        text = (
            f"One answer can change the odds {number(m['gamma'])} times: a 1 % suspicion can become "
            f"{belief(m['beliefs']['0.01'])}. This hardly protects anybody."
        )
        out.append(Caution(f"{unit.title} is hardly randomized", text, serious=True))
    if "not_estimable" in m:
        text = f"Different distributions of {quoted(unit)} give the same answers: nothing can be estimated from them."
        out.append(Caution(f"{unit.title} cannot be estimated", text, serious=True))
    return out


def _of_accuracies(facts: Facts) -> list[Caution]:
    """Attributes that there are too few records for: each by itself, or together where they are many."""
    short = [(unit, found) for unit in facts.units if (found := _reach(unit)) is not None and _wide(found)]
    if facts.n is None or not short:
        return []
    n = facts.n
    others = {unit: None if isinstance(facts.scheme, Forms) else better(unit, n) for unit, _ in short}
    if len(short) <= _MOST_ALONE:
        return [_of_accuracy(unit, reach, n, others[unit]) for unit, reach in short]
    names = listed(
        [f"{quoted(unit)} ({_carried(unit, reach) if reach < 1 else 'nothing can be said'})" for unit, reach in short]
    )
    improved = [quoted(unit) for unit, found in others.items() if found is not None]
    at_no_cost = ""
    if improved:
        at_no_cost = f" At the same gamma other channels tell more of {listed(improved)}: sfumato design chooses them."
    least = max(reach if (other := others[unit]) is None else other.half_width for unit, reach in short)
    text = (
        f"With {records(n)} these figures carry more than ± 5 points: {names}.{at_no_cost}"
        f"{_what_it_takes(n, least, ' in all of them', improved=bool(improved))}"
    )
    what = "forms" if isinstance(facts.scheme, Forms) else "attributes"
    return [Caution(f"Few records for {len(short)} {what}", text)]


def _reach(unit: Unit) -> float | None:
    m = unit.measures
    if unit.channel.k == 1 or unit.identity or "not_estimable" in m:
        return None
    return m.get("half_width_cdf", m.get("half_width", m.get("half_width_mean")))


def _carried(unit: Unit, reach: float) -> str:
    """A half-width: of a mean, in parts of its range."""
    return f"± {percent(reach)} of the range" if unit.measures["target"] == "mean" else points(reach)


def _of_accuracy(unit: Unit, reach: float, n: int, other: Better | None) -> Caution:
    carry = f"the figures for {quoted(unit)} carry {_carried(unit, reach)}"
    if reach >= 1:
        carry = f"nothing can be said about {quoted(unit)}"
    text = f"With {records(n)} {carry}."
    if other is not None:
        text += f" At the same gamma {other.family} would carry {points(other.half_width)}: sfumato design chooses it."
    text += _what_it_takes(n, reach if other is None else other.half_width, improved=other is not None)
    return Caution(f"Few records for {unit.title}", text)


def _wide(reach: float) -> bool:
    """Whether a half-width is written as more than 5 points.

    >>> _wide(0.0503), _wide(0.0507)
    (False, True)
    """
    return float(f"{100 * reach:.2g}") > 5


def _what_it_takes(n: int, reach: float, where: str = "", *, improved: bool) -> str:
    """What else a half-width of 5 points costs, where it is not reached."""
    if not _wide(reach):
        return ""
    needed, so = math.ceil(n * (reach / 0.05) ** 2), "then " if improved else ""
    return f" For ± 5 points{where} about {needed:,} records are {so}needed, or a larger gamma."


def _of_noise(facts: Facts) -> list[Caution]:
    if not facts.noise:
        return []
    names = listed([f"“{name}”" for name in facts.noise])
    text = (
        f"Continuous noise is added to {names}. No gamma is guaranteed: values at the rim of the range stand out, and "
        "the digits of floating-point numbers can betray the true value. Prefer bins and a channel."
    )
    out = [Caution("Additive noise gives no guarantee", text, serious=True)]
    if len(facts.noise) > 1:
        text = (
            f"{names} carry independent noise. Where such columns are correlated, most of the noise can be filtered "
            "out again: with 5 directions of variation in 50 columns, two thirds of it. Check with the spectral, PCA "
            "and Bayes-estimate attacks on data like yours."
        )
        out.append(Caution("Correlated columns under additive noise", text, serious=True))
    return out


def _of_repeats(facts: Facts) -> list[Caution]:
    out = []
    own = {name: unit.measures["gamma"] for unit in facts.units for name in unit.names if not unit.identity}
    again = {name: ratio for name, ratio in facts.spent.items() if name in own and ratio > 1}
    for name, ratio in again.items():
        text = (
            f"The ledger shows earlier answers about {name}, worth a gamma of at most {at_most(ratio)} together. A "
            f"fresh release under this scheme can raise it to {number(ratio * own[name])}. Only a repeat under the key "
            "and scheme of an earlier keyed release costs nothing."
        )
        out.append(Caution(f"{name} was released before", text, serious=True))
    return out


def _of_whole(facts: Facts) -> list[Caution]:
    epsilon = randomized_epsilon(facts)
    if sum(unit.alike for unit in facts.guarded) < 2 or epsilon <= math.log(100) or epsilon == math.inf:
        return []
    text = (
        "Each attribute has its own protection, but whoever knows several true values of a person can test them "
        f"together: the factors of the randomized attributes multiply to {factor(epsilon)}. Release fewer attributes "
        "per record, or choose a bound for the whole record (joint gamma)."
    )
    return [Caution("The whole record is less protected than its parts", text, serious=True)]


def _of_ids(facts: Facts) -> list[Caution]:
    found = None if facts.person is None else facts.person.tracked
    told = "" if found is None else f" By their answers alone {percent(found)} of the people would be found again."
    if facts.pseudonyms is not None:
        text = (
            f"The column “{facts.pseudonyms}” is an identifier: a pseudonym of each person, the same in every release "
            f"under one key. Whoever holds two such releases can lay a person's answers side by side.{told}"
        )
        return [Caution(f"{facts.pseudonyms} tells whose the answers are", text)]
    if facts.clear_ids is None and found is not None and found > _RECOGNISED:
        text = (
            "Under a key an answer stays while the value stays, so a person can be followed from release to release."
            f"{told} Use a key for one study only."
        )
        return [Caution("Repeated answers make people recognisable", text)]
    if facts.clear_ids is None:
        return []
    text = (
        f"The column {facts.clear_ids} names each record's person. Whoever knows an id finds its record, and every "
        "other table with the same ids can be joined. Release pseudonyms instead."
    )
    return [Caution("The release holds ids in the clear", text, serious=True)]


def _of_order(facts: Facts) -> list[Caution]:
    if not facts.kept_order:
        return []
    text = (
        "The rows stand in the order that the owner's table had. If that table was sorted by an attribute, or by a "
        "date or place that goes with one, neighbours tell each other's true values. Release shuffled rows instead."
    )
    return [Caution("The rows keep their order", text, serious=True)]
