"""
Market baskets: rules from randomized shopping
==============================================

Customers do not want to be known by what they buy. Each basket is randomized before it leaves the customer's phone:
related goods are blurred as a group, so that the set as a whole is kept or replaced. The shop still learns which
goods go together.
"""

# %%
# Baskets
# -------
# Six goods in two groups. Bread goes with butter; beer goes with crisps.

import warnings

import numpy as np

import sfumato as sf

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
rng = np.random.default_rng(3)
n = 40_000
bread, beer = rng.random(n) < 0.5, rng.random(n) < 0.3
baskets = {
    "bread": bread,
    "butter": np.where(bread, rng.random(n) < 0.7, rng.random(n) < 0.1),
    "jam": np.where(bread, rng.random(n) < 0.3, rng.random(n) < 0.1),
    "beer": beer,
    "crisps": np.where(beer, rng.random(n) < 0.6, rng.random(n) < 0.15),
    "olives": rng.random(n) < 0.12,
}
baskets = {good: np.where(bought, "yes", "no") for good, bought in baskets.items()}

# %%
# Blurred in groups
# -----------------
# One channel for each group of three goods: the group's set is kept with probability .7, otherwise another set is
# reported. A single good then changes with probability .3 * 4/7. Changed one by one, with that same probability, three
# goods would tell far more.

schema = sf.Schema({good: sf.Categorical(("no", "yes")) for good in baskets})
group = sf.channels.symmetric((2, 2, 2), p=0.3)
scheme = sf.Scheme(schema, {("bread", "butter", "jam"): group, ("beer", "crisps", "olives"): group})
alone = sf.channels.symmetric(2, p=0.3 * 4 / 7)
print(f"gamma of a group {group.gamma:.2f}; of three goods that change by themselves {alone.gamma**3:.2f}")
release = sf.randomize(baskets, scheme, rng=sf.experiment(3))

# %%
# Rules, with their limits
# ------------------------
# A rule is reported when the *lower limit* of its confidence reaches what was asked for. So the list is not made of
# lucky estimates.

rules = sf.learn.AssociationRules(min_support=0.05, min_confidence=0.5).fit(sf.evidence(release))
print(rules.claim)
for rule in rules.rules_[:8]:
    print(rule)
rules.plot("rules.png")
