"""Routes of models that are learned on demand: a tree, rules, a network, a regression, a distribution."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from sfumato.reading.name_lists import listed
from sfumato.service.model_documents import Distribution, Network, RegressionOut, RulesOut, Tree
from sfumato.service.refusals import RefusalError
from sfumato.service.routes.estimates import Level, Names
from sfumato.service.routes.who import allowed, collection

router = APIRouter(prefix="/v1/studies/{study}/models", tags=["models"])

Target = Annotated[str, Query(description="the attribute to tell", max_length=2000)]
Share = Annotated[float, Query(gt=0, lt=1)]
Family = Literal["gaussian", "logistic", "ordinal"]


@router.get("/tree", response_model=Tree)
async def tree(study: str, request: Request, target: Target, names: Names = "", level: Level = 0.95) -> Any:
    """A decision tree that tells one attribute from the others."""
    return await _learned(study, request, "tree", listed(names), level, target)


@router.get("/rules", response_model=RulesOut)
async def rules(
    study: str,
    request: Request,
    names: Names = "",
    target: Target = "",
    support: Share = 0.05,
    confidence: Share = 0.5,
    level: Level = 0.95,
) -> Any:
    """Association rules, of all attributes or only those that conclude one."""
    return await _learned(study, request, "rules", listed(names), level, target, support=support, confidence=confidence)


@router.get("/network", response_model=Network)
async def network(study: str, request: Request, names: Names = "", level: Level = 0.95) -> Any:
    """A Bayesian network."""
    return await _learned(study, request, "network", listed(names), level)


@router.get("/regression", response_model=RegressionOut)
async def regression(
    study: str,
    request: Request,
    target: Target,
    names: Names = "",
    family: Family | None = None,
    event: Annotated[str | None, Query(description="the value whose odds are explained", max_length=2000)] = None,
    level: Level = 0.95,
) -> Any:
    """Coefficients of a regression; without a family, the kind of the target decides."""
    return await _learned(study, request, "regression", listed(names), level, target, family=family, event=event)


@router.get("/distribution", response_model=Distribution)
async def distribution(study: str, request: Request, target: Target, level: Level = 0.95) -> Any:
    """The distribution of an ordered attribute, with a band, beside the numbers as they arrived."""
    return await _learned(study, request, "distribution", [target], level, target)


async def _learned(
    study: str, request: Request, kind: str, names: list[str], level: float, target: str = "", **more: Any
) -> dict[str, Any]:
    who = allowed(request, "admin", "miner", study=study)
    held = collection(request)
    schema = held.studies[study].schema
    chosen = names or list(schema.names)
    if target and target not in schema:
        raise RefusalError(
            "malformed", f"there is no such attribute; the study has {', '.join(schema.names[:20])}", where="target"
        )
    if target and target not in chosen:
        chosen.append(target)
    if kind in ("tree", "regression", "network") and len(chosen) < 2:
        raise RefusalError("malformed", "this needs at least two attributes", where="names")
    asked = {"kind": kind, "names": chosen, "target": target or None, "level": level, **more}
    return await held.models.learn(who.id, asked, lambda: held.learned_from(study, chosen))
