"""The report in a few sentences, and the whole record in one."""

from __future__ import annotations

import math

from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.words import grade, listed, number, percent, quoted


def summary(facts: Facts) -> list[str]:
    """The report in a few sentences."""
    guarded = [unit for unit in facts.units if unit.channel.k > 1 and not unit.identity]
    bare = [unit for unit in facts.units if unit.identity]
    out = []
    if guarded:
        finite = [unit for unit in guarded if unit.measures["gamma"] < math.inf]
        count = sum(unit.alike * len(unit.names) for unit in guarded)
        out.append(f"{_many(count, 'attribute')} {'is' if count == 1 else 'are'} randomized before leaving the owner.")
        if finite:
            out.append(_guarantee(finite, len(finite) == len(guarded)))
        open_ended = [unit for unit in guarded if unit.measures["gamma"] == math.inf]
        if open_ended:
            out.append(
                f"No guarantee holds for {listed([quoted(u) for u in open_ended])}: some answers rule values out."
            )
    if bare:
        out.append(f"{listed([quoted(u) for u in bare])} {'is' if len(bare) == 1 else 'are'} passed on in the clear.")
    if facts.noise:
        names = listed([f"“{name}”" for name in facts.noise])
        out.append(
            f"{names} {'is' if len(facts.noise) == 1 else 'are'} released with additive noise, without guarantee."
        )
    if len(facts.units) > 1 and guarded:
        out.append(whole(facts))
    return out


def _guarantee(finite: list[Unit], all_of_them: bool) -> str:
    gammas = [float(unit.measures["gamma"]) for unit in finite]
    worst = finite[gammas.index(max(gammas))]
    word, ceiling = grade(max(gammas)), percent(worst.measures["beliefs"]["0.1"])
    rises = f"one answer can raise a 10 % suspicion to at most {ceiling}."
    if all_of_them and max(gammas) < 1.01 * min(gammas):
        return f"{'Its' if len(finite) == 1 else 'Their'} protection is {word}: {rises}"
    return f"The least protected of them with a guarantee is {quoted(worst)} ({word}): {rises}"


def whole(facts: Facts) -> str:
    """The whole record, in one sentence."""
    guarded = [u for u in facts.units if u.channel.k > 1 and not u.identity]
    ratio = math.prod(float(u.measures["gamma"]) ** u.alike for u in guarded)
    if ratio == math.inf:
        return "Taken together, the answers of one record can identify some of its values with certainty."
    beyond = "" if len(guarded) == len([u for u in facts.units if u.channel.k > 1]) else " randomized"
    weak = "As a whole a record is hardly protected, however well each answer is. " if ratio > 100 else ""
    return (
        f"{weak}All{beyond} answers of one record together shift the odds between two possible persons by at most "
        f"{number(ratio)} times: to someone who could link them, a 1 % suspicion about a whole record may grow to "
        f"{percent(ratio * 0.01 / (1 + (ratio - 1) * 0.01))}."
    )


def _many(count: int, noun: str) -> str:
    small = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
    return f"{small[count] if count < len(small) else count} {noun}{'' if count == 1 else 's'}"
