"""The constants of the joint model that were chosen, not derived: what each does and why it is so.

On which data they were first set was not written down. What they do is measured in docs/measured/learn.md
(``benchmarks/learn``, ``benchmarks/cross_scores``).
"""

#: The penalty of pairs: log-linear effects of this size are nothing unusual. That of each pair is half-way from here to
#: what its own records tell; where there are too few of them, or one penalty for all will do, it stands alone.
TAU = 0.3
#: Held out to choose a model: one part of so many. With fewer records, or with more cells, the default is not
#: questioned: there is too little to judge by, or it would take minutes.
PARTS, FEWEST, LARGE = 4, 40, 1 << 18
#: Another model must foretell held-out records better by so many standard errors, because several are tried; and add
#: such a share to what the pairs say beyond independence, because a sure but tiny gain is not worth a stranger model.
#: The share was set on Mushroom; on the nine tables that judged it, any from 3 to 5 % chooses the same.
SURE, WORTH = 3.0, 0.03
#: How strongly the full joint table leans on the pairwise model, in records: weakly, clearly, almost wholly.
STRENGTHS = (30.0, 300.0, 3000.0)
#: How exactly a model is fitted that is only compared, or only fills in: less than the final one.
LOOSE = 1e-4
#: Below this many effective records nothing can be learned; the user is told.
ENOUGH = 5.0
