"""The report in a few sentences, and the whole record in one."""

from __future__ import annotations

import math

from sfumato.assess.report.facts import Facts, Unit
from sfumato.assess.report.sentences import (
    belief,
    bound,
    grade,
    listed,
    percent,
    points,
    quoted,
    rounded_up,
    scientific,
)
from sfumato.forms import Forms

_PROTECTED = {
    "strong": "strongly protected",
    "moderate": "moderately protected",
    "weak": "weakly protected",
    "very weak": "hardly protected",
    "none": "not protected",
}


def record_epsilon(facts: Facts) -> float:
    """ln of the factor of all answers of one person together; additive noise bounds nothing."""
    return math.inf if facts.noise else facts.scheme.epsilon


def graded_gamma(epsilon: float) -> float:
    """gamma for a grade: what is too large for a double is very weak, and only infinity is none."""
    return math.exp(min(epsilon, 700.0)) if epsilon < math.inf else math.inf


def several(facts: Facts) -> bool:
    """Whether a person gives more than one answer that discloses anything."""
    return sum(unit.alike for unit in facts.units if unit.channel.k > 1) + len(facts.noise) > 1


def verdict(facts: Facts) -> str:
    """The report in one sentence."""
    gammas = [float(unit.measures["gamma"]) for unit in facts.units if unit.channel.k > 1]
    gammas += [math.inf] * len(facts.noise)
    if not gammas:
        return "Nothing is disclosed: every attribute has a single possible value."
    if isinstance(facts.scheme, Forms):
        word = _PROTECTED[grade(graded_gamma(record_epsilon(facts)))]
        return f"Each person answers one form, and all answers of one person together are {word}."
    each, together = (grade(value) for value in (max(gammas), graded_gamma(record_epsilon(facts))))
    if not several(facts):
        return f"The one answer of each person is {_PROTECTED[each]}."
    alike = grade(min(gammas)) == each
    first = f"{'Each answer by itself' if alike else 'The least protected answer'} is {_PROTECTED[each]}"
    if each == together:
        return f"{first}, and all answers of one person together are {_PROTECTED[together]}, too."
    return f"{first}; all answers of one person together are {_PROTECTED[together]}."


def gives_away(facts: Facts) -> list[tuple[float, str]]:
    """What one person's randomized answers come to among others and over a year: each as ln gamma, and in words."""
    person, out = facts.person, list[tuple[float, str]]()
    if facts.booked is not None and facts.booked > 1:
        spent = math.log(facts.booked)
        out.append((spent, f"All answers of one person in the ledger so far: γ\u00a0{factor(spent)}"))
    if person is None or person.alone in (0.0, math.inf) or facts.noise:
        return out
    whose = "randomized answers " if any(unit.identity for unit in facts.units) else ""
    if person.among is not None and facts.n is not None and facts.n > 1:
        if person.among < 0.99 * person.alone:
            told = f"γ\u00a0{factor(person.among)}, but for one chance in a million"
        else:
            crowd = "what passes in the clear may tell a person from all others" if whose else "the crowd is too small"
            told = f"no less, {crowd}"
        out.append((person.among, f"Among {facts.n - 1:,} others, mixed and without ids: {whose}{told}"))
    weekly = "a year of weekly rounds" if person.rounds == 52 else f"{person.rounds:,} rounds"
    if person.rounds > 1:
        least, most = factor(person.stays), factor(person.changes)
        if person.longitudinal:
            told = f"at most γ\u00a0{most} about the values, however they change (that they change may show)"
        else:
            told = f"γ\u00a0{least} while the values stay, at most γ\u00a0{most} if they change"
        out.append((person.changes, f"Over {weekly} under a key: {whose}{told}"))
        out.append((person.fresh, f"Over {weekly} without a key: {whose}γ\u00a0{factor(person.fresh)}"))
    return out


def summary(facts: Facts) -> list[str]:
    """The report in a few sentences."""
    guarded = facts.guarded
    bare = [unit for unit in facts.units if unit.identity]
    out = []
    if guarded:
        finite = [unit for unit in guarded if unit.measures["gamma"] < math.inf]
        count = sum(unit.alike * len(unit.names) for unit in guarded)
        if isinstance(facts.scheme, Forms):  # of which several ask the same
            count = len({name for unit in guarded for name in unit.names})
        out.append(f"{_many(count, 'attribute')} {'is' if count == 1 else 'are'} randomized before leaving the owner.")
        if finite:
            out.append(_guarantee(finite, len(finite) == len(guarded), count))
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
    if guarded and (several(facts) or len(facts.units) > 1):
        out.append(whole(facts))
    return out


def _guarantee(finite: list[Unit], all_of_them: bool, attributes: int) -> str:
    gammas = [float(unit.measures["gamma"]) for unit in finite]
    worst = finite[gammas.index(max(gammas))]
    word, ceiling = grade(max(gammas)), belief(worst.measures["beliefs"]["0.1"])
    rises = f"one answer can raise a 10 % suspicion to at most {ceiling}."
    if all_of_them and max(gammas) < 1.01 * min(gammas):
        return f"{'Its' if attributes == 1 else 'Their'} protection is {word}: {rises}"
    return f"The least protected of them with a guarantee is {quoted(worst)} ({word}): {rises}"


def correlated_pair(facts: Facts) -> str:
    """Which attribute the answer about another one betrays most."""
    one = max(facts.correlated, key=lambda one: one.both - one.own)
    return (
        f"Attributes that go together betray each other: “{one.attribute}” is guessed right for {percent(one.both)} of "
        f"the records from the answers about it and about “{one.beside}”, for {percent(one.own)} from its own answer, "
        f"and for {percent(one.blind)} blindly. Both values are guessed right for {percent(one.pair)}, against "
        f"{percent(one.pair_blind)} blindly."
    )


def forms_in_short(facts: Facts) -> str:
    """Many forms in two sentences."""
    forms = facts.scheme.forms if isinstance(facts.scheme, Forms) else ()
    sizes = sorted({len(form.schema) for form in forms})
    asked = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    reach = [float(unit.measures["half_width"]) for unit in facts.units if "half_width" in unit.measures]
    least, most = (points(pick(reach)) if reach else "" for pick in (min, max))
    told = (
        f" Shares within a form are estimated to {least if least == most else f'{least} up to {most}'}."
        if reach
        else ""
    )
    each = "question" if asked == "1" else "questions"
    return f"There are {len(forms)} forms of {asked} {each}; each person answers one of them.{told}"


def whole(facts: Facts) -> str:
    """The whole record, in one sentence or two."""
    bare = [f"“{u.title}”" for u in facts.units if u.identity]
    epsilon = randomized_epsilon(facts)
    known = f"A whole record gives away {listed(bare)} with certainty. " if bare else ""
    if facts.noise:
        known += f"Nothing bounds what it tells of {listed([f'“{name}”' for name in facts.noise])}. "
    if epsilon == math.inf:
        return f"{known}Taken together, the answers of one record can identify some of its values with certainty."
    if not facts.guarded:
        return known.strip()
    open_book = epsilon > math.log(100) and not known
    weak = "As a whole a record is hardly protected, however well each answer is. " if open_book else ""
    return (
        f"{known}{weak}All{' randomized' if known else ''} answers of one record together shift the odds between two "
        f"possible persons by at most {factor(epsilon)} times: to someone who could link them, a 1 % suspicion "
        f"about a whole record may grow to {belief(1 / (1 + 99 * math.exp(-epsilon)))}."
    )


def _many(count: int, noun: str) -> str:
    small = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
    return f"{small[count] if count < len(small) else count} {noun}{'' if count == 1 else 's'}"


def randomized_epsilon(facts: Facts) -> float:
    """ln of the factor by which the randomized answers of one record together shift the odds; a form asks a part."""
    if isinstance(facts.scheme, Forms):
        return facts.scheme.epsilon
    return math.fsum(float(unit.measures["epsilon"]) * unit.alike for unit in facts.guarded)


def factor(epsilon: float, digits: int = 3) -> str:
    r"""A factor that is not exceeded, in words, also where it is too large for a double.

    >>> factor(0.0), factor(math.log(9)), factor(math.log(2.048e14)), factor(1500.0)
    ('1', '9', '2.05\xa0·\xa010¹⁴', '2.77\xa0·\xa010⁶⁵¹')
    """
    if epsilon < 700 or epsilon == math.inf:
        return bound(math.exp(epsilon), digits)
    rest, power = math.modf(epsilon / math.log(10))
    return scientific(f"{rounded_up(10**rest, digits):g}", int(power))
