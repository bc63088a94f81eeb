"""
A survey with sensitive questions: forms
========================================

Six questions that people do not like to answer. If everybody answered all of them, a person would give away gamma to
the power of six. With forms every person answers two of them, drawn at random, under one bound on both together. All
forms are then estimated as one.
"""

# %%
# The plan
# --------

import warnings

import numpy as np

import sfumato as sf

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
often = ("never", "seldom", "often")
questions = ["cheats on tax", "shoplifts", "takes drugs", "drives drunk", "gambles", "skips work"]
schema = sf.Schema({name: sf.Categorical(often) for name in questions})
forms = sf.Forms.for_gamma(schema, gamma=9, ask=2)
print(f"{len(forms)} forms; all answers of one person together: gamma {forms.gamma:g}")
print(f"the same questions, all asked of everybody at gamma 9 each: {9.0 ** len(questions):,.0f}")

# %%
# The answers
# -----------
# Ten thousand invented people. Who does one of these things does the others more often.

rng = np.random.default_rng(7)
bold = rng.normal(size=10_000)
people = {}
for i, name in enumerate(questions):
    leaning = 0.8 * bold + rng.normal(size=len(bold)) - 0.4 * i
    people[name] = np.array(often)[np.digitize(leaning, [0.8, 2.0])]
release = sf.randomize(people, forms, rng=sf.experiment(7))
print(release)

# %%
# What can be told
# ----------------
# One model is fitted to all forms at once. It answers for every question, and for every pair, although each person gave
# two blurred answers.

evidence = sf.evidence(release, method="model")
share = evidence.share("takes drugs")
print(share)
share.plot("drugs.png", truth=sf.evidence(people, schema).share("takes drugs").value)

# %%
# Do people who shoplift take drugs?

print(evidence.share("takes drugs", by="shoplifts"))

# %%
# What one per cent of liars could do to these shares:

print(f"{sf.accuracy.poisoning(release.parts[0].scheme.groups[0].channel, 0.01).worst:.3f}")
