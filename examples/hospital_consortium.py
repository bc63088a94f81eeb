"""
A hospital consortium: columns split over three parties
=======================================================

A registry knows the age and sex of patients, a clinic their grade of illness, a laboratory whether they smoke and their
glucose. None may show its records to the others. Each blurs its own columns and releases them under pseudonyms that the
three make with a shared key. The miner joins the releases, and learns what no party could have learned alone.
"""

# %%
# What each party holds
# ---------------------
# The patients are invented. In life, each table would be in another house.

import warnings

import sfumato as sf
from sfumato.datasets.patients import SCHEMA, patients

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
everything = patients(4000)
holds = {
    "registry": ["sex", "age"],
    "clinic": ["grade"],
    "laboratory": ["smoker", "glucose"],
}
link_key = sf.new_link_key()  # agreed among the parties, never given to the miner

# %%
# Each party blurs and releases
# -----------------------------
# ``gamma = 9``: an answer shifts anybody's odds between two values by a factor of 9 at the most. The patients' numbers
# become pseudonyms, so that rows of the same patient can meet.

releases = {}
for party, columns in holds.items():
    own = everything.select(["patient", *columns])
    scheme = sf.Scheme.for_gamma(SCHEMA.select(columns), gamma=9)
    releases[party] = sf.randomize(own, scheme, id="patient", link_key=link_key, rng=sf.experiment(len(party)))
    print(f"{party:<11} releases {', '.join(columns)}")

# %%
# The miner joins
# ---------------

joined = releases["registry"].join(releases["clinic"]).join(releases["laboratory"])
evidence = sf.evidence(joined)
print(joined)

# %%
# Do smokers have more glucose? The clinic cannot know, the laboratory does not know the age. The miner sees neither
# value, and can still compare, with an interval.

glucose = evidence.mean("glucose", by="smoker")
print(glucose)
print("difference:", glucose.contrast("yes", "no"))

truth = sf.evidence(everything, SCHEMA.select(["smoker", "glucose"])).mean("glucose", by="smoker")
glucose.plot("glucose.png", truth=truth.value)

# %%
# Which attributes depend on which?

net = sf.learn.BayesianNetwork(order=["sex", "age", "smoker"]).fit(evidence)
for child, parents in net.parents_.items():
    print(f"{child:<8} depends on {', '.join(parents) or 'nothing that shows'}")
net.plot("network.png")
