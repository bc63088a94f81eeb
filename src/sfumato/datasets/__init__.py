"""Real data sets that come with the package."""
