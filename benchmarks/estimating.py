"""Twenty two-valued attributes, 2^20 cells: inverting, and one evaluation of the likelihood and its gradient."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.evidence.blocks import blocks
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.seen import Seen

from .harness import Case, benchmark


@benchmark
def million_cells() -> Iterator[Case]:
    """No matrix is formed; the yardstick is one pass of numpy over as many cells for each attribute."""
    joint = c.product([c.binary(0.1, 0.2)] * 20)
    released = np.random.default_rng(0).poisson(3, 1 << 20).astype(float)
    theta = np.full(1 << 20, 2.0**-20)

    def evaluate() -> None:
        q = joint.transition.T.apply(theta)
        joint.transition.apply(released / q)

    yield Case("invert 2^20 cells", ours=lambda: joint.inverse.apply(released), goal=0.2)
    yield Case("variances of 2^20 cells", ours=lambda: joint.inverse.squared().apply(released), goal=0.2)
    yield Case("likelihood and gradient, 2^20 cells", ours=evaluate, goal=0.6)


@benchmark
def million_intervals() -> Iterator[Case]:
    """Limits for every cell, by inverting a test: no loop over the cells."""
    names = [f"x{i}" for i in range(20)]
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in names})
    scheme = sf.Scheme(schema, {name: c.binary(0.02, 0.01) for name in names})
    released = np.random.default_rng(0).poisson(0.02, 1 << 20).astype(float)
    seen = Seen(tuple(names), blocks(scheme, tuple(names)), released)
    found = Estimate(schema, seen.centre, (seen,), "moment")
    yield Case("95 % intervals of 2^20 cells", ours=lambda: found.interval(), goal=4.0)


@benchmark
def loading() -> Iterator[Case]:
    """Loading the package, in a fresh interpreter and from compiled files, as an installed package is loaded."""
    compiled = tempfile.TemporaryDirectory(prefix="sfumato-bench-")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled.name}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def load(module: str) -> None:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=environment)

    load("sfumato")  # compiles, numpy too

    yield Case("import sfumato", ours=lambda: load("sfumato"), goal=0.5)
    yield Case(
        "import sfumato, relative",
        ours=lambda: load("sfumato"),
        reference=lambda: load("numpy"),
        against="import numpy",
        goal=3,
    )
    compiled.cleanup()
