"""Structure learning on a million randomized records of 37 attributes, against pgmpy on the raw table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import sfumato as sf
from sfumato.errors import SfumatoWarning
from sfumato.learn.bayesnet.published_networks import random_network

from .harness import Case, benchmark

ROWS, NODES, LINKS = 1_000_000, 37, 1.3


def _release() -> tuple[sf.learn.BayesianNetwork, object, sf.Release]:
    """A network of the size of ALARM (37 nodes of 2 to 4 values, 45 links), raw rows and their release."""
    net = random_network(NODES, 5, (2, 4), links=LINKS)
    rows = net.sample(ROWS, rng=1)
    channels = {name: sf.channels.symmetric(domain.size, 0.1) for name, domain in net.schema_.items()}
    return net, rows, sf.randomize(rows, sf.Scheme(net.schema_, channels), rng=sf.experiment(2))


def _learn(release: sf.Release, order: list[str] | None = None) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)
        return sf.learn.BayesianNetwork(order=order, max_parents=3).fit(sf.evidence(release))


@benchmark
def structure() -> Iterator[Case]:
    """The hill-climb, at most 3 parents, from randomized rows; pgmpy's from the raw ones, which it needs."""
    _, rows, release = _release()
    frame = rows.to_pandas()  # type: ignore[attr-defined]

    def theirs() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgmpy.causal_discovery import HillClimbSearch

            search = HillClimbSearch("bic-d", max_indegree=3, return_type="dag", show_progress=False)
            return search.fit(frame.astype("category"))

    yield Case(
        "hill-climb, 37 attributes, 10^6 records",
        ours=lambda: _learn(release),
        reference=theirs,
        against="pgmpy on raw data",
        goal=0.2,
        repeat=1,
        peak_goal=2000,
    )


@benchmark
def ordered() -> Iterator[Case]:
    """K2 under an order, on the same release."""
    net, _, release = _release()
    order = list(net.schema_.names)
    yield Case(
        "K2, 37 attributes, 10^6 records",
        ours=lambda: _learn(release, order),
        goal=20,
        repeat=1,
    )
