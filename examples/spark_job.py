"""
A Spark job
===========

A Spark frame is randomized where its partitions are, and counted there too. Only small tables of counts come back.
Needs ``pip install "sfumato[spark]"``.
"""

# %%
# A frame
# -------

import warnings
from pathlib import Path

import pyarrow.parquet as pq

import sfumato as sf

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
spark = sf.spark_session("local[1]")  # brings its own Java where there is none
people = sf.datasets.load("adult", split="test").select(["sex", "education-num", "income"])
path = str(Path("people.parquet").resolve())
pq.write_table(people, path)
frame = spark.read.parquet(path)

# %%
# Randomize and count
# -------------------

schema = sf.Schema(
    {
        "sex": sf.Categorical(("Female", "Male")),
        "education-num": sf.Ordinal(tuple(range(1, 17))),
        "income": sf.Categorical(("<=50K", ">50K")),
    }
)
release = sf.randomize(frame, sf.Scheme.for_gamma(schema, gamma=9))
counts = sf.evidence(release).counts(["sex", "income"])
print(counts)
print("the truth:", sf.evidence(people, schema).counts(["sex", "income"]).value)
