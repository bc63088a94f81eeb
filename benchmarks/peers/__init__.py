"""Other people's packages beside ours, in one run: ``sfumato bench --peers``.

Each peer lives in an environment of its own (``installed``), which ``calls`` is run in; ``shares`` and ``others`` hold
the comparisons, ``rows`` prints them.
"""
