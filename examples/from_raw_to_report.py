"""
From a raw file to a report
===========================

The whole way in one walk, as one would take it in a notebook: a messy file, a schema, a plan, a release, estimates
beside the truth, a model, and a report for whoever has to agree.
"""

# %%
# A messy file
# ------------
# Numbers of patients, dates, units, gaps, remarks. The first thing is to say what may be told of it.

import warnings

import sfumato as sf
from sfumato.datasets.patients import patients

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
raw = patients(4000)
print(raw.slice(0, 3).to_pandas().T)

# %%
# A schema
# --------
# Ranges and values come from common knowledge, not from the file: a range that was read off the data would tell of the
# oldest patient.

schema = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "age": sf.Numeric(15, 95, bins=16, nullable=True),
        "smoker": sf.Categorical(("no", "yes"), nullable=True),
        "grade": sf.Ordinal(("a", "b", "c")),
        "glucose": sf.Numeric(3, 15, bins=12, clip=True),
        "income": sf.Categorical(("<=50K", ">50K")),
    }
)

# %%
# A plan
# ------
# "A suspicion of 10 % may become at most 50 %." That is gamma 9. The plan says which channel serves best, and what
# accuracy it leaves.

plan = sf.design.design(schema, n=raw.num_rows, rho1=0.1, rho2=0.5)
print(plan.explain())

# %%
# A release
# ---------
# From here on nobody sees a true value.

release = sf.randomize(raw, plan.scheme, rng=sf.experiment(8))
print(release.decode(5).to_pandas())

# %%
# Estimates, beside the truth
# ---------------------------

evidence, truth = sf.evidence(release), sf.evidence(raw, schema)
grades = evidence.share("grade", by="smoker")
print(grades)
grades.plot("grades.png", truth=truth.share("grade", by="smoker").value)

# %%
age = evidence.mean("age", by="grade")
age.plot("age.png", truth=truth.mean("age", by="grade").value)
print(age.contrast("c", "a"))

# %%
# A model
# -------
# How do sex and grade go with income? Coefficients with standard errors that count the blur.

print(sf.learn.Regression("logistic").fit(release, target="income", names=["sex", "grade"]).summary())

# %%
# A report
# --------

report = sf.report(plan.scheme, n=raw.num_rows)
report.html("report.html")
print(report.text()[:1500])
