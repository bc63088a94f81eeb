"""How fast and how lean, as ratios to a plain reference in the same run.

``python -m benchmarks [NAME ...] [--json]``. One module per subject; a module marks its measurements with
``@benchmark``, and ``harness`` finds, runs and prints them.
"""
