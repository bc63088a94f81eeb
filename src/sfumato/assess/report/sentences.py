"""The report's sentences: what an adversary learns and what accuracy is left, for a reader who is no statistician."""

from __future__ import annotations

import math
import re
from typing import Any

from sfumato.assess.precision import only_common
from sfumato.assess.report.facts import Unit
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.text_noise import rarest

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Up to which gamma we call the protection what; a convention of this report, explained in it.
GRADES = ((3.0, "strong"), (10.0, "moderate"), (100.0, "weak"), (math.inf, "very weak"))


def grade(gamma: float) -> str:
    """One word for a gamma."""
    if gamma == math.inf:
        return "none"
    return next(word for limit, word in GRADES if gamma <= limit * (1 + 1e-9))


def percent(share: float) -> str:
    """A share as a percentage that never claims certainty it does not have.

    >>> percent(0.25), percent(0.125), percent(0.9997), percent(1.0), percent(0.0004), percent(1 - 1e-12)
    ('25 %', '12.5 %', '99.97 %', '100 %', '0.04 %', 'almost 100 %')
    """
    value = 100 * share
    if value in (0.0, 100.0):
        return f"{value:.0f} %"
    if value > 99:
        digits = 2
        while digits < 9 and round(value, digits) >= 100:
            digits += 1
        if round(value, digits) >= 100:
            return "almost 100 %"
        text = f"{value:.{digits}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"
    return f"{value:.2g} %" if value < 9.95 else f"{value:.3g} %" if value < 20 else f"{value:.0f} %"


def belief(share: float) -> str:
    """How sure somebody can become at most: of a finite gamma never certain, also where doubles know no number between.

    >>> belief(0.25), belief(0.4706), belief(1.0)
    ('25 %', '48 %', 'almost 100 %')
    """
    value = 100 * share
    return percent(_short_of_1(share) if value > 99 else rounded_up(value, 3 if 10 <= value < 20 else 2) / 100)


def _short_of_1(share: float) -> float:
    """A share above .99, rounded up to the fewest decimals of a percentage that leave it below 1."""
    for digits in range(2, 10):  # of the percentage
        whole: int = 10 ** (digits + 2)
        up = math.ceil(share * whole - 1e-9)
        if up < whole:
            return up / whole
    return math.nextafter(1.0, 0.0)


def rounded_up(value: float, digits: int = 3) -> float:
    """The least number of so many digits that is no lower: of what holds at most. The survey page does the same.

    >>> rounded_up(2541865828329.0), rounded_up(9.000000000000002), rounded_up(1234.0), rounded_up(0.30769, 2)
    (2550000000000.0, 9.0, 1240.0, 0.31)
    """
    power = int(f"{value:.17e}".partition("e")[2]) - digits + 1 if 0 < value < math.inf else 0
    scaled = value * 10.0**-power
    return float(f"{math.ceil(scaled - 1e-9 * scaled)}e{power}") if 0 < value < math.inf else value


def at_most(factor: float, digits: int = 3) -> str:
    r"""A factor that is not exceeded.

    >>> at_most(9.0), at_most(7.4305), at_most(9.0**13), at_most(math.inf)
    ('9', '7.44', '2.55\xa0·\xa010¹²', '∞')
    """
    up = rounded_up(factor, digits)
    if not 1e9 <= up < math.inf:
        return number(up, digits)
    leading, _, power = f"{up:.{digits - 1}e}".partition("e+")
    return scientific(f"{float(leading):g}", int(power))


def bound(factor: float, digits: int = 3) -> str:
    r"""A factor that is not exceeded, with all digits before the point: of a table, where sentences are rounder.

    >>> bound(59049.0), bound(2.0481), bound(2.0481e14), bound(math.inf)
    ('59,049', '2.05', '2.05\xa0·\xa010¹⁴', '∞')
    """
    return at_most(factor, max(digits, len(str(int(factor)))) if factor < 1e9 else digits)


def number(value: float | None, digits: int = 3) -> str:
    r"""A number for a table.

    >>> number(2.5), number(1234.0), number(5.81e25)
    ('2.5', '1,234', '5.8\xa0·\xa010²⁵')
    """
    if value is None:
        return "n/a"
    if value == math.inf:
        return "∞"
    if value >= 1e9:
        digit, _, power = f"{value:.1e}".partition("e+")
        return scientific(digit, int(power))
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def scientific(digits: str, power: int) -> str:
    """Digits times a power of ten."""
    return f"{digits}\u00a0·\u00a010{str(power).translate(_RAISED)}"


def points(share: float) -> str:
    """A half-width in percentage points; as wide as everything, it says nothing."""
    value = 100 * share
    if value >= 100:
        return "nothing can be said"
    return f"± {value:.2g} points" if value < 10 else f"± {value:.0f} points"


def quoted(unit: Unit) -> str:
    """The attribute's name inside a sentence."""
    return f"“{unit.title}”"


def learns(unit: Unit) -> list[str]:
    """What an adversary learns about one attribute or group, in sentences."""
    m, name = unit.measures, quoted(unit)
    if unit.channel.k == 1:
        return [f"{name} has a single possible value."]
    if unit.identity:
        return [
            f"Whoever sees the release knows {name} of every record exactly. This attribute has no protection at all."
        ]
    out = []
    gamma = m["gamma"]
    if gamma == math.inf:
        if "gamma_within" in m:
            out.append(
                f"Every answer gives away with certainty which of the {m['blocks']} groups the true value belongs to. "
                f"Within a group, it shifts the odds between two values by at most {at_most(m['gamma_within'])} times."
            )
        else:
            out.append(
                "Some answers rule out some true values with certainty: for a record with such an answer, a suspicion "
                "can turn into knowledge."
            )
    else:
        beliefs = m["beliefs"]
        out.append(
            f"One answer shifts the odds between any two true values by at most {at_most(gamma)} times. Someone who "
            f"held a value to be 10 % likely can become at most {belief(beliefs['0.1'])} sure of it; someone who was "
            f"50 % sure, at most {belief(beliefs['0.5'])}. This holds whatever else that person knows."
        )
    if "guess" in m:
        gain = m["guess"] - m["guess_blind"]
        but = "no better than" if gain < 0.0005 else "against"
        out.append(
            f"An adversary who guesses as well as anybody can is right for {percent(m['guess'])} of the records, "
            f"{but} {percent(m['guess_blind'])} without seeing the release."
        )
    if "break_even" in m:
        out.append(pays(m["break_even"]))
    if "repeats" in m and m["repeats"]["10"] > m["guess"] + 0.005:
        out.append(
            f"If the same records were released afresh ten times, the guess would be right for "
            f"{percent(m['repeats']['10'])} of them: release once, or with a key."
        )
    return out


def noisy(m: dict[str, Any]) -> list[str]:
    """What additive noise leaves open about a number, in sentences."""
    stretch = f"a stretch of width {number(m['interval'])}"
    if "range" in m:
        stretch += f", {percent(min(m['interval'] / m['range'], 1.0))} of the whole range"
    out = [
        f"Noise with a standard deviation of {number(m['sd'])} is added to every value. Someone who knows nothing else "
        f"can place a true value within {stretch}, and be right 95 % of the time.",
        "This is an average. Values near the ends of the range stand out, columns that go together betray each other, "
        "and no factor gamma is guaranteed.",
    ]
    if "privacy_loss" in m:
        out.append(
            f"If the whole range were equally likely, the release removes {percent(m['privacy_loss'])} of the privacy."
        )
    return out


def pays(break_even: float) -> str:
    """When acting on a guess stops paying for the adversary."""
    if break_even == math.inf:
        return (
            "Acting on some answers pays for an adversary however much a wrong guess would cost, for he is never wrong."
        )
    return (
        f"Acting on a guess stops paying for an adversary once a wrong guess costs more than {number(break_even)} "
        f"times what a right one brings."
    )


def accuracy(unit: Unit, everybody: int | None) -> list[str]:
    """What accuracy is left, in sentences; ``everybody`` counts the records, also those that answer another form."""
    told = _accuracy_left(unit)
    if told and unit.n is not None and everybody is not None and unit.n < everybody:
        told = [f"This form is answered by about {unit.n:,} of the {records(everybody)}.", *told]
    return told


def _accuracy_left(unit: Unit) -> list[str]:
    m, n = unit.measures, unit.n
    if unit.channel.k == 1 or unit.identity:
        return []
    if "not_estimable" in m:
        return ["From these answers the shares of the true values cannot be estimated, however many records there are."]
    if "effective_sample_size" not in m:
        return []
    share = m["effective_sample_size"]
    if isinstance(unit.channel, Prefixes):
        return [_texts_found(unit.channel, n, m.get("half_width", 0.0))]
    if m["target"] == "mean":
        return [_mean_left(share, n, m.get("half_width_mean", 0.0), "mean" + " of those who answer" * unit.nullable)]
    what = "running shares (how many lie below a value)" if m["target"] == "cdf" else "shares of the values"
    what += " among those who answer" * unit.nullable
    if n is None:
        return [f"For the {what}, a randomized record is worth {percent(share)} of an unrandomized one."]
    worth = max(share * n, 0.0)
    shown = f"about {worth:,.0f} unrandomized ones" if worth >= 1.5 else "one unrandomized record"
    reach = m.get("half_width_cdf", m.get("half_width", 0.0))
    tell = f"{records(n, 'randomized ')} {'tells' if n == 1 else 'tell'} as much about the {what} as"
    if reach >= 1:
        return [f"{tell} {shown} would: nothing can be said about them."]
    out = [f"{tell} {shown} would. Each is estimated to within {points(reach)} (95 % confidence)."]
    if m["target"] == "shares" and only_common(unit.channel.k, reach):
        out.append(
            f"Of {unit.channel.k:,} values, only those that more than {percent(reach)} of the records hold can be told "
            f"from values that nobody holds."
        )
    return out


def _texts_found(channel: Prefixes, n: int | None, reach: float) -> str:
    if n is None:
        return "Frequent texts are found, and counted; how rare a text can be depends on the number of records."
    if rarest(channel, n) >= 1:
        return f"In {records(n, 'randomized ')} no text is found, unless nearly everybody has it."
    found = f"Of {records(n, 'randomized ')}, texts are found that more than about {percent(rarest(channel, n))} have."
    return f"{found} The share of each is estimated to within {points(reach)} (95 % confidence)."


def _mean_left(share: float, n: int | None, reach: float, what: str) -> str:
    if n is None:
        return f"For the {what}, a randomized record is worth {percent(share)} of an unrandomized one."
    tell = f"{records(n, 'randomized ')} {'tells' if n == 1 else 'tell'} as much about the {what} as"
    if reach >= 1:
        return f"{tell} less than one unrandomized record would: nothing can be said about it."
    worth = f"about {share * n:,.0f} unrandomized ones" if share * n >= 1.5 else "one unrandomized record"
    return f"{tell} {worth} would. It is estimated to within {percent(reach)} of the range (95 % confidence)."


def records(n: int, kind: str = "") -> str:
    """A number of records."""
    return f"{n:,} {kind}record{'' if n == 1 else 's'}"


def whole_numbers(text: str) -> str:
    """Numbers and their units kept together by spaces that do not break."""
    return re.sub(r"(?<=\d) (?=%|points)|(?<=±) ", "\u00a0", text)


def listed(names: list[str]) -> str:
    """Names as a sentence lists them."""
    if len(names) > 6:
        return f"{', '.join(names[:5])} and {len(names) - 5} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
