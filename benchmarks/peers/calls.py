"""How each peer is called, as its documentation shows. Run by the peer's own interpreter, beside numpy alone.

A task of shares gets values 0 .. k - 1 and epsilon and gives estimated shares. Peers that handle a record at a time are
called for one record after another; where that takes long, fewer records are asked, and the caller scales up.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

Shares = Callable[[np.ndarray, int, float], np.ndarray]


def multi_freq_ldpy(mechanism: str) -> Shares:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

    client, aggregate = {
        "GRR": (GRR.GRR_Client, GRR.GRR_Aggregator_MI),
        "OUE": (UE.UE_Client, lambda reports, k, epsilon: UE.UE_Aggregator_MI(reports, epsilon)),
        "OLH": (LH.LH_Client, LH.LH_Aggregator_MI),
        "SS": (SS.SS_Client, SS.SS_Aggregator_MI),
    }[mechanism]
    return lambda values, k, epsilon: aggregate([client(value, k, epsilon) for value in values], k, epsilon)


def pure_ldp(mechanism: str) -> Shares:
    from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, local_hashing, unary_encoding

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        same = {"epsilon": epsilon, "d": k, "index_mapper": int}
        if mechanism == "HR":
            server = hadamard_response.HadamardResponseServer(**same)
            client = hadamard_response.HadamardResponseClient(**same, hash_funcs=server.get_hash_funcs())
        else:
            made = {
                "GRR": (direct_encoding.DEServer, direct_encoding.DEClient, {}),
                "OUE": (unary_encoding.UEServer, unary_encoding.UEClient, {"use_oue": True}),
                "OLH": (local_hashing.LHServer, local_hashing.LHClient, {"use_olh": True}),
            }[mechanism]
            server, client = made[0](**same, **made[2]), made[1](**same, **made[2])
        for value in values.tolist():
            server.aggregate(client.privatise(value))
        return np.array([server.estimate(value, suppress_warnings=True) for value in range(k)]) / len(values)

    return shares


def ldp_toolbox(mechanism: str) -> Shares:
    from ldp_toolbox.protocols.frequency import grr, lh, ss, ue

    made = {
        "GRR": grr.GeneralizedRandomizedResponse,
        "OUE": ue.UnaryEncoding,
        "OLH": lh.LocalHashing,
        "SS": ss.SubsetSelection,
    }[mechanism]

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        protocol = made(k, epsilon)
        return np.asarray(protocol.estimate([protocol.obfuscate(value) for value in values.tolist()]))

    return shares


def qif(mechanism: str) -> Shares:
    import qif

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        channel = qif.mechanism.d_privacy.randomized_response(k, epsilon)
        out = np.array([qif.probab.sample(channel[value]) for value in values])
        return qif.channel.iterative_bayesian_update(channel, np.bincount(out, minlength=k) / len(values))[0]

    return shares


def opendp(mechanism: str) -> Shares:
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        keep = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        answer = dp.m.make_randomized_response(list(range(k)), prob=keep)
        return _from_grr(np.array([answer(value) for value in values.tolist()]), k, epsilon)

    return shares


def diffprivlib(mechanism: str) -> Shares:
    from diffprivlib.mechanisms import ExponentialCategorical

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        pairs = [[str(a), str(b), 1.0] for a, b in combinations(range(k), 2)]
        answer = ExponentialCategorical(epsilon=epsilon, utility_list=pairs)
        # the exponential mechanism weighs a match with exp(epsilon / 2)
        return _from_grr(np.array([int(answer.randomise(str(value))) for value in values]), k, epsilon / 2)

    return shares


def pram(mechanism: str) -> Shares:
    import pandas as pd
    from pram import Pram

    def shares(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
        out = Pram.pram(pd.DataFrame({"x": values}), columns=["x"])
        return np.bincount(out["x"].astype(int), minlength=k) / len(values)  # it has no estimator

    return shares


def _from_grr(out: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    """The matrix inverse of randomized response, for peers that have no estimator."""
    e = math.exp(epsilon)
    return (np.bincount(out, minlength=k) / len(out) * (e + k - 1) - 1) / (e - 1)


SHARES = {
    "multi-freq-ldpy": multi_freq_ldpy,
    "pure-ldp": pure_ldp,
    "ldp-toolbox": ldp_toolbox,
    "qif": qif,
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "pram": pram,
}


def shares(peer: str, given: Any, options: dict[str, Any]) -> tuple[float, int, list[np.ndarray]]:
    """Time as many records as fit the budget; then repeat on fewer, for the error."""
    k, epsilon, values = options["k"], options["epsilon"], given["values"]
    estimate = SHARES[peer](options["mechanism"])
    estimate(values[:20], k, epsilon)  # compiles
    few = timed(lambda: estimate(values[:200], k, epsilon))[0]
    n = int(min(len(values), max(200, 200 * options["budget"] / max(few, 1e-6))))
    seconds, _ = timed(lambda: estimate(values[:n], k, epsilon))
    repeats = min(options["repeats"], int(options["budget"] / max(seconds * len(given["small"]) / n, 1e-6)))
    found = [np.asarray(estimate(given["small"], k, epsilon), dtype=float) for _ in range(repeats)]
    return seconds, n, found


def unfold(peer: str, given: Any, options: dict[str, Any]) -> tuple[float, int, list[np.ndarray]]:
    """The density behind counts of noisy values, from the matrix of the noise."""
    counts, matrix = given["counts"], given["matrix"]  # P[x, y]
    if peer == "scikit-image":
        from skimage.restoration import richardson_lucy

        image = (counts / counts.max())[:, None].astype(float)
        point = given["kernel"][:, None]
        seconds, found = timed(lambda: richardson_lucy(image, point, num_iter=30, clip=False)[:, 0])
        return seconds, int(counts.sum()), [found / found.sum()]
    from pyunfold import iterative_unfold

    cells, seen = matrix.shape
    seconds, found = timed(
        lambda: iterative_unfold(
            data=counts,
            data_err=np.sqrt(np.maximum(counts, 1)),
            response=matrix.T,
            response_err=np.zeros((seen, cells)),
            efficiencies=matrix.sum(axis=1),
            efficiencies_err=np.zeros(cells),
        )["unfolded"]
    )
    return seconds, int(counts.sum()), [found / found.sum()]


def itemsets(peer: str, given: Any, options: dict[str, Any]) -> tuple[float, int, list[np.ndarray]]:
    from efficient_apriori import apriori

    baskets = [tuple(np.flatnonzero(row).tolist()) for row in given["items"]]
    seconds, (sets, _) = timed(lambda: apriori(baskets, min_support=options["support"], min_confidence=0.5))
    return seconds, len(baskets), [np.array(sum(map(len, sets.values())))]


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = action()
    return time.process_time() - start, found


def main() -> None:
    request = json.load(sys.stdin)
    with np.load(request["given"]) as given:
        task = {"shares": shares, "unfold": unfold, "itemsets": itemsets}[request["task"]]
        seconds, records, found = task(request["peer"], given, request["options"])
    arrays = {f"found{i}": one for i, one in enumerate(found)}
    np.savez(request["got"], seconds=seconds, records=records, **arrays)


if __name__ == "__main__":
    main()
