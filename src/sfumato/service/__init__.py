"""The collection service: takes answers that were randomized elsewhere, keeps them, and shows what they say together.

It never sees a true answer: like ``evidence`` and ``learn`` it has no way to ``owner``.
"""
