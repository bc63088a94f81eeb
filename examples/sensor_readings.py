"""
Sensor readings: the density behind additive noise
==================================================

Meters add noise to their readings before they send them. The reader wants the distribution: is there one kind of
household or two? This is the setting of Agrawal and Aggarwal (2001).

Added noise bounds no adversary. It is here because such data exist. For a bound, cut the numbers into bins and use
``windows``, as at the end.
"""

# %%
# Noisy readings
# --------------

import warnings

import numpy as np

import sfumato as sf

warnings.simplefilter("ignore", sf.errors.SfumatoWarning)
rng = np.random.default_rng(5)
use = np.where(rng.random(5000) < 0.6, rng.normal(4, 0.8, 5000), rng.normal(8.5, 1.2, 5000)).clip(0, 14)  # kWh a day
noise = sf.channels.gaussian(1.5)
sent = noise.randomize(use, rng)

# %%
# The density
# -----------
# Nothing is tuned: some forty smooth models are fitted through the noise and averaged by their evidence.

density = sf.density(sent, noise)
print(density)
print("median, estimated and true:", density.quantile(0.5).round(2), np.median(use).round(2))
density.plot("density.png")

# %%
# With a bound
# ------------
# The same readings in bins of half a kilowatt hour, under gamma 9. Nobody's odds move by more than that.

schema = sf.Schema({"use": sf.Numeric(0, 14, bins=28)})
scheme = sf.Scheme.for_gamma(schema, gamma=9)
release = sf.randomize({"use": use}, scheme, rng=sf.experiment(5))
evidence = sf.evidence(release)
print(evidence.quantile("use", [0.25, 0.5, 0.75]))
evidence.density("use").plot("bounded.png")
