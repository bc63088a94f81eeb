"""Wrong links: the Wald score against fixed penalties and thresholds, and the bound on extra links."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato import channels as c
from sfumato.evidence import contrasts, independence
from sfumato.learn.bayesnet.published_networks import NETWORKS, gallery, random_network
from sfumato.learn.bayesnet.scores import Bayes, Bic, Wald
from sfumato.learn.bayesnet.search import hill_climb, k2
from sfumato.learn.bayesnet.structure import wrong_links
from sfumato.papers.ma06.experiment4 import variable_eta
from sfumato.papers.ma06.networks import network_5_3 as network


def families(net, p: float, n: int, seed: int) -> sf.Evidence:
    scheme = sf.Scheme(net.schema_, {name: c.symmetric(domain.size, p) for name, domain in net.schema_.items()})
    return sf.evidence(sf.randomize(net.sample(n, rng=seed), scheme, rng=seed + 1))


def test_few_extra_links_on_six_nodes_and_many_without_the_test() -> None:
    net = network()
    order = net.schema_.names
    ours, theirs = [], []
    for seed in range(60):
        seen = families(net, 0.2, 10_000, 20_000 + 10 * seed)
        ours.append(wrong_links(k2(Wald(seen), order, 3), net.parents_))
        if seed < 10:
            theirs.append(wrong_links(k2(Bic(seen), order, 3), net.parents_))
    extra, missing = np.mean(ours, axis=0)
    assert extra <= 0.2 and missing <= 0.5
    assert np.mean(theirs, axis=0)[0] > 2


def test_at_most_half_the_wrong_links_of_the_best_constant() -> None:
    """At 50 000 records, where most links can be found at all; see docs/measured/bayesnet.md for fewer."""
    nets = [gallery(name) for name in NETWORKS]
    nets += [random_network(6, 9000 + seed) for seed in range(4)]
    nets += [random_network(9, 9100 + seed, links=1.5) for seed in range(2)]
    nets += [random_network(6, 9200 + seed, (2, 4)) for seed in range(4)]
    nets += [random_network(8, 9300 + seed, (3, 3), links=1.3) for seed in range(2)]
    wrong: dict[str, list[int]] = {"wald": [], "1": [], "4": [], "8": [], "eta": []}
    for i, net in enumerate(nets):
        for p in (0.1, 0.2, 0.3):
            seen = families(net, p, 50_000, 1000 * i)
            scores = {"wald": Wald(seen), "eta": Bayes(seen, variable_eta(p))}
            scores |= {name: Bic(seen, float(name)) for name in ("1", "4", "8")}
            for name, score in scores.items():
                wrong[name].append(sum(wrong_links(k2(score, net.schema_.names, 3), net.parents_)))
    means = {name: float(np.mean(values)) for name, values in wrong.items()}
    assert means["wald"] <= 0.5 * min(means[name] for name in ("1", "4", "8", "eta")), means


def test_the_climb_brings_evidence_to_one_scale(monkeypatch) -> None:
    """The negative control: summed as they come, W prefers what is least noisy, with more wrong links."""
    nets = [random_network(7, 5000 + seed, links=1.5) for seed in range(5)]
    seen = [families(net, 0.1, 50_000, 77 + seed) for seed, net in enumerate(nets)]

    def wrong() -> float:
        pairs = zip(nets, seen, strict=True)
        return np.mean([sum(wrong_links(hill_climb(Wald(f), n.schema_.names, 3), n.parents_)) for n, f in pairs])

    scaled = wrong()
    monkeypatch.setattr(independence, "judge", lambda found: (*contrasts.judge(found)[:2], 1.0))
    plain = wrong()
    assert scaled <= 1.0 and scaled < plain, (scaled, plain)
