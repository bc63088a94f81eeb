"""
A regression when response and covariates are randomized
========================================================

Who earns more than 50 000? Every answer of 30 000 census records is randomized: the income, the years of education,
the age and the sex. A regression on the released values would find effects that are far too small. Corrected scores
undo the blur, and their standard errors count it.
"""

# %%
# The release
# -----------

import warnings

import sfumato as sf

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
columns = ["sex", "age", "education-num", "income"]
people = sf.datasets.load("adult", split="train").select(columns)
schema = sf.Schema(
    {
        "sex": sf.Categorical(("Female", "Male")),
        "age": sf.Numeric(15, 95, bins=16),
        "education-num": sf.Ordinal(tuple(range(1, 17))),
        "income": sf.Categorical(("<=50K", ">50K")),
    }
)
release = sf.randomize(people, sf.Scheme.for_gamma(schema, gamma=9), rng=sf.experiment(11))

# %%
# The coefficients
# ----------------

names = ["age", "sex", "education-num"]
found = sf.learn.Regression("logistic").fit(release, target="income", names=names)
print(found.summary())
found.plot("coefficients.png")

# %%
# Beside the truth
# ----------------
# The same regression on the raw records, which only their owner has.

truth = sf.learn.Regression("logistic").fit(sf.evidence(people, schema), target="income", names=names)
print(truth.summary())
