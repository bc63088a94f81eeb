"""The constants of "auto" that were set by measurement: what each does, why it is so, and on which data it was set.

The weights of the models were chosen on ``DEVELOPMENT`` of ``benchmarks/density_battery`` alone. The corrections of the
band were set on half of all pairs there. What judges them is ``HELD_OUT`` (docs/measured/density.md).
"""

#: Log prior odds of a model, by the order of its differences and the kind of its rows (docs/mathematics/densities.md).
BONUS = {
    (1, "gaussian"): -2.0,
    (2, "gaussian"): 2.0,
    (3, "gaussian"): 6.0,
    (1, "student"): 3.0,
    (2, "student"): 4.0,
    (3, "student"): 6.0,
}
#: The ladder of row scales, as powers of ten: from the smallest of each order to the largest of all.
SMOOTHEST, ROUGHEST = {1: -2.0, 2: -3.5, 3: -5.0}, 1.0
#: The scales of Student rows, which allow edges and gaps.
STUDENT = {1: (0.0, -1.0, -2.0, -3.0), 2: (-1.0, -2.0, -3.0, -4.0), 3: (-2.0, -3.0, -4.0, -5.0)}
#: The short ladder that looks for the support: orders, stride, whether Student rows take part; and how often it looks.
PILOT, ROUNDS = ((2, 3), 1.0, False), 4
#: Nats of evidence: by so much mass beyond a given support must raise it to be let in (step 6); so far below the best
#: the ladder is not climbed further.
CLEARLY, HOPELESS = 5.0, 12.0
#: Prior sd of slope and curvature of the log-density over a support scaled to [-1, 1]: proper and wide.
LINEAR, QUADRATIC = 20.0, 80.0
#: The band: sd times 1.25, and no trust beyond a tenth of the change from cell to cell. Laplace's covariance takes the
#: row scale as known, and its measured coverage falls short of the level.
INFLATE, SLOPE = 1.25, 0.1
#: Upward the band follows 1 + 1.6 t instead of exp(t); the two part at t = 0.95.
UPWARD = 1.6
#: Two blocks are as likely as the estimate within so many nats, and put so much of the mass elsewhere: then the data do
#: not decide between them. Half-widths of a block are parts of the distance between the two. Set on the first seed of
#: ``benchmarks/density_adversarial``, judged on fresh draws.
AS_LIKELY, ELSEWHERE = 0.1, 0.15
HALF_WIDTHS = (0.1, 0.2)
#: Hills are told apart where the wave between them keeps so many times the variance of its estimate. Set on two to five
#: blocks a third and two thirds as wide as their distance, judged on ``benchmarks/density_resolution``.
TOLD = 25.0
