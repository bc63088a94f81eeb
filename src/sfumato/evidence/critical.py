r"""How many standard deviations an interval reaches: at one look, or at all looks together.

Looking often: the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024). With t
records and standard deviation s of the estimate it reaches

    s sqrt( 2 (t ρ² + 1) / (t ρ²) · log( sqrt(t ρ² + 1) / α ) )

from the estimate, ρ² chosen so that it is narrowest at 1000 records. It holds at all times after the first hundreds.
"""

from __future__ import annotations

import math

from sfumato.evidence.limits import check_level

#: Records at which the sequence is narrowest.
NARROWEST = 1000.0


def critical_value(level: float, looked: float | None = None) -> float:
    """Standard deviations on either side; ``looked`` is the number of records so far, for those who look often.

    >>> round(critical_value(0.95), 3), round(critical_value(0.95, 1000), 2)
    (1.96, 3.04)
    """
    from scipy.special import ndtri

    alpha = 1 - check_level(level)
    if looked is None:
        return float(ndtri(1 - alpha / 2))
    rho2 = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / NARROWEST
    t = max(looked, 1.0) * rho2
    return math.sqrt(2 * (t + 1) / t * math.log(math.sqrt(t + 1) / alpha))


def wider_level(level: float, looked: float) -> float:
    """The level at which limits for one look reach as far as those for all looks."""
    from scipy.special import ndtr

    return min(float(2 * ndtr(critical_value(level, looked)) - 1), 1 - 1e-12)


def one_of_many(level: float, together: int) -> float:
    """The level of each of several intervals that all hold together at this level; Bonferroni's rule."""
    return 1 - (1 - check_level(level)) / together
