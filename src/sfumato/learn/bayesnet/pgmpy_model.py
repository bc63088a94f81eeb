"""To pgmpy and back, for those who have it: the extra ``bayes``."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError, MissingPartError
from sfumato.learn.bayesnet.learned import LearnedNetwork
from sfumato.schema import Categorical, Schema


def _pgmpy(*parts: str) -> list[Any]:
    try:
        with warnings.catch_warnings(action="ignore"):  # pgmpy announces its own deprecations on import
            return [importlib.import_module(f"pgmpy.{part}") for part in parts]
    except ImportError:
        raise MissingPartError.named("exchange with pgmpy", "pgmpy", "bayes") from None


def to_pgmpy(net: LearnedNetwork) -> Any:
    """A pgmpy DiscreteBayesianNetwork with the same nodes, state names and tables."""
    models, factors = _pgmpy("models", "factors.discrete")
    with warnings.catch_warnings(action="ignore"):
        model = models.DiscreteBayesianNetwork()
        model.add_nodes_from(list(net.schema_.names))
        model.add_edges_from([(parent, node) for node, held in net.parents_.items() for parent in held])
        for node, cpt in net.cpts_.items():
            table = np.moveaxis(cpt.values, -1, 0).reshape(cpt.shape[-1], -1)
            table = table / table.sum(axis=0, keepdims=True)
            states = {name: list(domain.labels) for name, domain in cpt.schema.items()}
            held = list(cpt.parents)
            model.add_cpds(
                factors.TabularCPD(
                    node, cpt.shape[-1], table, held or None, list(cpt.shape[:-1]) or None, state_names=states
                )
            )
        model.check_model()
    return model


def from_pgmpy(model: Any) -> tuple[Schema, dict[str, tuple[str, ...]], dict[str, Array]]:
    """The attributes, the parents and the tables of a pgmpy network."""
    if not hasattr(model, "get_cpds"):
        raise EstimationError(f"from_pgmpy takes a pgmpy DiscreteBayesianNetwork, got {type(model).__name__} instead")
    domains: dict[str, Any] = {}
    parents: dict[str, tuple[str, ...]] = {}
    tables = {}
    for cpd in model.get_cpds():
        node, *held = cpd.variables
        domains[node] = Categorical(tuple(cpd.state_names[node]))
        parents[node] = tuple(held)
        tables[node] = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
    missing = [node for node in model.nodes() if node not in domains]
    if missing:
        raise EstimationError(f"the pgmpy model has no probabilities for {missing[0]!r}: fit it first")
    order = list(model.nodes())
    return Schema({node: domains[node] for node in order}), {node: parents[node] for node in order}, tables


def ask(net: LearnedNetwork, target: list[str], codes: dict[str, int]) -> Array:
    """Pr(target | codes) by pgmpy's variable elimination, with the axes in the order of the target."""
    (inference,) = _pgmpy("inference")
    given = {name: net.schema_[name].labels[code] for name, code in codes.items()}
    with warnings.catch_warnings(action="ignore"):
        found = inference.VariableElimination(to_pgmpy(net)).query(target, evidence=given, show_progress=False)
    return np.asarray(found.values).transpose([found.variables.index(name) for name in target])
