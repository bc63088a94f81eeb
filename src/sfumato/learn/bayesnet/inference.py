"""What a network answers: marginals, queries, predictions, likelihoods, samples, distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError, SfumatoError
from sfumato.evidence import Evidence
from sfumato.evidence.table import Table, eliminate
from sfumato.learn.arguments import whole
from sfumato.learn.bayesnet.learned import LearnedNetwork
from sfumato.learn.bayesnet.pgmpy_model import ask
from sfumato.learn.bayesnet.structure import topological
from sfumato.printable import label_text
from sfumato.randomness import numpy_generator
from sfumato.reading import tables
from sfumato.schema import Schema

#: The most cells of a table on the way to an answer.
MOST_CELLS = 1 << 24


def marginal(net: LearnedNetwork, names: Sequence[str]) -> Array:
    """Pr(names); only the ancestors of the names matter."""
    if len(set(names)) != len(names):
        raise EstimationError(f"name each attribute once, got {', '.join(names)}")
    for name in names:
        net.cpt(name)
    return eliminate(_above(net, names), names, MOST_CELLS).values


def query(net: LearnedNetwork, target: list[str], given: Mapping[str, Any], engine: str) -> dict[Any, float]:
    """Pr(target | given) by value, by tuple of values for several targets."""
    if not isinstance(given, Mapping):
        raise EstimationError(f"given must look like {{'attribute': value, ...}}, got {given!r} instead")
    for name in (*target, *given):
        net.cpt(name)
    codes = {name: _code(net, name, value) for name, value in given.items()}
    if set(target) & set(codes) or not target or len(set(target)) != len(target):
        raise EstimationError("ask for at least one attribute, for each once, and for none that is given")
    if engine == "pgmpy":
        found = ask(net, target, codes)
    elif engine == "own":
        above = _above(net, [*target, *codes])
        found = eliminate([table.at(codes) for table in above], target, MOST_CELLS).values
    else:
        raise EstimationError(f"engine must be own or pgmpy, got {engine!r} instead")
    total = float(found.sum())
    if not total > 0:
        raise EstimationError("what is given cannot happen under this network")
    labels = [net.schema_[name].labels for name in target]
    out = {}
    for place in np.ndindex(*found.shape):
        value = tuple(label[code] for label, code in zip(labels, place, strict=True))
        out[value[0] if len(value) == 1 else value] = float(found[place]) / total
    return out


def predict_proba(net: LearnedNetwork, table: Any, target: str) -> Array:
    """Pr(target | its Markov blanket) in each row."""
    net.cpt(target)
    around = [node for node, held in net.parents_.items() if target in (node, *held)]
    blanket = {name for node in around for name in (node, *net.parents_[node])} - {target}
    missing = sorted(blanket - set(tables.column_names(table)))
    if missing:
        raise EstimationError(f"predicting {target} needs column {missing[0]!r}, which the table does not have")
    codes = net.schema_.select(sorted(blanket)).encode(table) if blanket else {}
    rows = len(next(iter(codes.values()))) if codes else count_rows(net, table)
    out = np.zeros((rows, net.schema_[target].size))
    for node in around:
        names = (*net.parents_[node], node)
        axis = names.index(target)
        logs = _log(np.moveaxis(net.cpts_[node].values, axis, -1))
        out += logs[tuple(codes[name] for name in names if name != target)] if len(names) > 1 else logs
    best = out.max(axis=1, keepdims=True)
    weights = np.where(np.isfinite(best), np.exp(out - np.where(np.isfinite(best), best, 0.0)), 1.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def predict(net: LearnedNetwork, table: Any, target: str) -> NDArray[Any]:
    """The most probable value in each row."""
    return np.asarray(net.schema_[target].label_array[predict_proba(net, table, target).argmax(axis=1)])


def log_likelihood(net: LearnedNetwork, data: Any) -> float:
    """Σ_i Σ_jk N_ijk log θ_ijk, -inf if something that occurs is impossible."""
    if isinstance(data, Evidence):
        _same_values(net, data.schema, "the network and the evidence")
        total = 0.0
        for node, held in net.parents_.items():
            names, values = (*held, node), net.cpts_[node].values
            counts = data.counts(names, quiet=True).table
            # a negative count of what is impossible is noise around none
            total += _weighted(np.where((values == 0) & (counts < 0), 0.0, counts), values)
        return total
    codes = net.schema_.encode(data)
    total = 0.0
    for node, held in net.parents_.items():
        total += float(_log(net.cpts_[node].values)[tuple(codes[name] for name in (*held, node))].sum())
    return total


def count_rows(net: LearnedNetwork, table: Any) -> int:
    """How many rows a table has."""
    known = tables.count_rows(table) if not isinstance(table, Mapping) else len(next(iter(table.values()), ()))
    return len(next(iter(net.schema_.encode(table).values()))) if known is None else known


def kl(reference: LearnedNetwork, net: LearnedNetwork) -> float:
    """Σ_x P(x) log P(x)/Q(x), family by family, without the joint table."""
    if set(reference.schema_.names) != set(net.schema_.names):
        raise EstimationError("the two networks have different attributes")
    _same_values(net, reference.schema_, "the two networks")
    total = 0.0
    for sign, other in ((1.0, reference), (-1.0, net)):
        for node, held in other.parents_.items():
            total += sign * _weighted(marginal(reference, (*held, node)), other.cpts_[node].values)
    return max(total, 0.0) if np.isfinite(total) else float("inf")


def sample(net: LearnedNetwork, n: int, rng: np.random.Generator | int | None) -> Any:
    """Rows drawn parents first."""
    n = whole("n", n, 1)
    draw = numpy_generator(rng)
    codes: dict[str, Any] = {}
    for node in topological(net.parents_):
        cpt = net.cpts_[node]
        steps = np.cumsum(cpt.values, axis=-1)
        steps = steps / steps[..., -1:]
        rows = steps[tuple(codes[name] for name in cpt.parents)] if cpt.parents else steps[None]
        codes[node] = (draw.random(n)[:, None] >= rows[:, :-1]).sum(axis=1)
    return net.schema_.decode({name: codes[name] for name in net.schema_.names})


def _above(net: LearnedNetwork, names: Sequence[str]) -> list[Table]:
    wanted, stack = set(names), list(names)
    while stack:
        for parent in net.parents_[stack.pop()]:
            if parent not in wanted:
                wanted.add(parent)
                stack.append(parent)
    return [Table((*cpt.parents, node), cpt.values) for node, cpt in net.cpts_.items() if node in wanted]


def _same_values(net: LearnedNetwork, other: Schema, who: str) -> None:
    """Tables are compared place by place, so the values must be the same, in the same order."""
    for name, domain in net.schema_.items():
        ours, theirs = ([str(label) for label in one.labels] for one in (domain, other[name]))
        if ours != theirs:
            order = sorted(ours) == sorted(theirs)
            kind = "the same values in another order" if order else "different values"
            raise EstimationError(f"{who} have {kind} of {name!r}: {', '.join(ours)} and {', '.join(theirs)}")


def _code(net: LearnedNetwork, name: str, value: Any) -> int:
    try:
        return net.schema_[name].code(value)
    except SfumatoError:
        values = ", ".join(label_text(label) for label in net.schema_[name].labels)
        raise EstimationError(f"{name} has no value {value!r}; it has {values}") from None


def _log(values: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _weighted(counts: Array, values: Array) -> float:
    logs = _log(values)
    return float(np.where(counts != 0, counts * np.where(counts != 0, logs, 0.0), 0.0).sum())
