"""What analysts ask: means, shares, running shares, quantiles and correlations, each with an interval."""
