"""Devices for interviews without a computer: a second, harmless question, whose share of yes is known."""

from __future__ import annotations

from sfumato.channels.arguments import real
from sfumato.channels.pram import Matrix, binary
from sfumato.errors import ChannelError


def crosswise(p: float) -> Matrix:
    """Two questions answered together, "both or neither" or "exactly one"; a share p says yes to the harmless one.

    Whoever would say no to the sensitive question answers "exactly one" with probability p, whoever would say yes with
    1 - p. The released code 1 stands for "exactly one" where p is below 1/2, and for "both or neither" where it is
    above: so it always speaks for yes. Yu, Tian and Tang (2008); the matrix is Warner's.

    >>> crosswise(0.25).gamma, crosswise(0.75) == crosswise(0.25)
    (3.0, True)
    """
    p = real("p", p)
    if not 0 < p < 1 or p == 0.5:
        raise ChannelError(f"p must lie in (0, 1) and not be 1/2, got {p}: at 1/2 the answer ignores the question")
    rarer = min(p, 1 - p)
    return binary(rarer, rarer)


def unrelated(q: float, p: float) -> Matrix:
    r"""With probability q the sensitive question is asked, otherwise a harmless one, to which a share p says yes.

        Pr(yes | yes) = q + (1 - q) p,        Pr(yes | no) = (1 - q) p

    Greenberg et al. (1969). With p = 1 it is forced response: otherwise say yes.

    >>> unrelated(0.5, 0.5).matrix
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    q, p = real("q", q), real("p", p)
    if not 0 < q <= 1:
        raise ChannelError(f"q must lie in (0, 1], got {q}: at 0 the sensitive question is never asked")
    if not 0 <= p <= 1:
        raise ChannelError(f"p must lie in [0, 1], got {p} instead")
    return binary((1 - q) * p, (1 - q) * (1 - p))
