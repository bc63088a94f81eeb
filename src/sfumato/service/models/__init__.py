"""Models of a study's answers, learned on demand in a process of their own."""
