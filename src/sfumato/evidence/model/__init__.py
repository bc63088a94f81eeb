"""Models of all attributes together, fitted to randomized records, that learners may ask instead of a deep table."""
