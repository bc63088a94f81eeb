"""
A scikit-learn pipeline on weighted cells
=========================================

Any classifier that takes sample weights can learn from randomized records. The joint model of all attributes becomes
a list of cells with weights, and the classifier never knows that nobody saw a record.
"""

# %%
# Randomize while fitting
# -----------------------
# ``Randomizer`` is a transformer. With ``passthrough=True`` it randomizes the rows that the model learns from, and
# hands rows to predict on as they are.

import warnings

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sfumato as sf
from sfumato.datasets import discretized

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
table, schema = discretized.wisconsin(), discretized.WISCONSIN
names = ["class", *[name for name in schema.names if name != "class"][:5]]
table, schema = table.select(names), schema.select(names)
scheme = sf.Scheme.for_gamma(schema, gamma=20)

# %%
# Two classifiers
# ---------------

for estimator in (LogisticRegression(), RandomForestClassifier(30, random_state=1)):
    blur = sf.Randomizer(scheme, rng=sf.experiment(2), passthrough=True)
    pipeline = make_pipeline(blur, sf.learn.FromCells(estimator, target="class"))
    pipeline.fit(table)
    model = pipeline[-1]
    print(f"{type(estimator).__name__:<23} right on clean records: {model.score(table):.3f}")

# %%
# How would one know, without clean records? By cross-fitting on the randomized ones:

release = sf.randomize(table, scheme, rng=sf.experiment(2))
print(sf.learn.cross_score(sf.learn.FromCells(LogisticRegression()), release, "class"))
