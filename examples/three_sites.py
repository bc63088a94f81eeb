"""
Three sites learn one network (Ma 2006, experiment 1)
=====================================================

Three sites hold different columns of the same patients and learn one Bayesian network.

With a data miner, every site randomizes its sensitive columns and sends them to the miner, who joins them. Without one,
each site sends only randomized cross parents to the sites that need them; each learns the probabilities of its own
nodes from its own raw columns and what it received, and they share the probabilities.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.errors import SfumatoWarning
from sfumato.learn.bayesnet import parties
from sfumato.papers.ma06.experiment1 import PARENTS, SITES, channels, network
from sfumato.randomness import Source

N = 20_000
LINK = sf.new_link_key()  # shared by the sites, so that their pseudonyms match


def site_scheme(schema: sf.Schema, names: tuple[str, ...]) -> sf.Scheme:
    """What a site agrees to release of some of its columns."""
    treated = {name: channels()[name] for name in names if name in channels()}
    return sf.Scheme(schema.select(names), treated, clear=[name for name in names if name not in treated])


def with_miner(tables: dict[str, pa.Table], schema: sf.Schema, rng: Source) -> sf.learn.BayesianNetwork:
    """Every site releases everything; the miner joins and learns."""
    releases = [
        sf.randomize(tables[site], site_scheme(schema, SITES[site]), id="id", link_key=LINK, rng=rng) for site in SITES
    ]
    joined = releases[0]
    for release in releases[1:]:
        joined = joined.join(release)
    return sf.learn.BayesianNetwork(PARENTS).fit(sf.evidence(joined))


def without_miner(tables: dict[str, pa.Table], schema: sf.Schema, rng: Source) -> sf.learn.BayesianNetwork:
    """Only cross parents travel, each randomized once (if it is sensitive), whoever receives it."""
    sent = parties.cross_parents(PARENTS, SITES)
    public = {}
    for site, names in SITES.items():
        leaving = tuple(name for name in names if any(name in what for (who, _), what in sent.items() if who == site))
        if leaving:
            public[site] = sf.randomize(tables[site], site_scheme(schema, leaving), id="id", link_key=LINK, rng=rng)
    learned = []
    for site, names in SITES.items():
        seen = sf.Release.raw(tables[site], schema.select(names), id="id", link_key=LINK)
        for (sender, receiver), what in sent.items():
            if receiver == site:
                said = [f"{name} {'randomized' if name in channels() else 'as it is'}" for name in what]
                print(f"  site {sender} sends {', '.join(said)} to site {receiver}")
                seen = seen.join(public[sender])
        learned.append(sf.learn.BayesianNetwork(PARENTS).fit(sf.evidence(seen), nodes=names))
    return sf.learn.BayesianNetwork.merge(learned)


def main(seed: int = 1) -> dict[str, float]:
    """Learn both ways and compare with the truth; returns the distances."""
    warnings.simplefilter("ignore", SfumatoWarning)
    truth = network()
    rng = sf.experiment(seed)
    rows = truth.sample(N, rng=seed).append_column("id", pa.array(np.arange(N)))
    tables = {site: rows.select([*names, "id"]) for site, names in SITES.items()}
    for site, names in parties.cross_variables(PARENTS, SITES).items():
        print(f"site {site} holds {', '.join(SITES[site])}; cross variables: {', '.join(names) or 'none'}")
    nets = {
        "raw data": sf.learn.BayesianNetwork(PARENTS).fit(sf.evidence(rows, truth.schema_)),
        "with a data miner": with_miner(tables, truth.schema_, rng),
        "without one": without_miner(tables, truth.schema_, rng),
    }
    print("\nPr(E = 1 | L, T), true and learned")
    print("  true               ", np.round(truth.cpt("E").values[..., 0].reshape(-1), 3))
    for how, net in nets.items():
        print(f"  {how:<19}", np.round(net.cpt("E").values[..., 0].reshape(-1), 3))
    distances = {how: net.score(truth) for how, net in nets.items()}
    print("\nKullback-Leibler distance from the truth, in nats")
    for how, distance in distances.items():
        print(f"  {how:<19} {distance:.5f}")
    print("\nAll probabilities, with a data miner, several times: sfumato reproduce ma06_table5_2")
    return distances


if __name__ == "__main__":
    main()
