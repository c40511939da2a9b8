"""Describe each stage of a call for `pressroom explain`, as compiled for one tool and one plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pressroom.catalog.tool import PlanTool
from pressroom.host.loaded_app import LoadedApp
from pressroom.pipeline.chain import STAGES
from pressroom.sdk import Authorizer, McpTool, Observer
from pressroom.sdk.declaration import sent_fields


@dataclass(frozen=True, slots=True)
class ExplainedStage:
    """A stage and its effect on calls of this tool."""

    stage: str
    text: str

    def as_data(self) -> dict[str, str]:
        """Return the stage as JSON data."""
        return {"stage": self.stage, "text": self.text}


def explain_tool(compiled: LoadedApp, entry: PlanTool, plan: str) -> list[ExplainedStage]:
    """Return the effect of every stage on a call of this tool on that plan, in pipeline order."""
    return [ExplainedStage(stage.name, STAGE_TEXTS[stage.name](compiled, entry, plan)) for stage in STAGES]


def _admit(compiled: LoadedApp, _entry: PlanTool, _plan: str) -> str:
    server = compiled.settings.server
    if server.forwarded_secret is not None:
        return "the client is the `for` of the Forwarded element that carries the proxies' secret"
    if server.trusted_proxies:
        return f"the client is entry {server.trusted_proxies} from the right of X-Forwarded-For"
    return "the client is the other end of the connection"


def _authenticate(compiled: LoadedApp, _entry: PlanTool, _plan: str) -> str:
    names = [authenticator.name for authenticator in compiled.authenticators()]
    return f"asks {', '.join(names)}" if names else "no authenticators: every caller is anonymous"


def _plan(compiled: LoadedApp, _entry: PlanTool, plan: str) -> str:
    view = compiled.catalog.plans[plan]
    return f"{view.plan} sees {len(view.tools)} of {len(compiled.catalog.tools)} tools, including this one"


def _authorize(compiled: LoadedApp, _entry: PlanTool, _plan: str) -> str:
    names = [contribution.record.name for contribution in compiled.plugins.contributions.of(Authorizer)]
    return f"all of {', '.join(names)} must allow it" if names else "no authorizers: only the plan decides"


def _middleware(compiled: LoadedApp, _entry: PlanTool, _plan: str) -> str:
    names = [contribution.record.name for contribution in compiled.middleware()]
    return f"enters {', then '.join(names)}, and exits in reverse" if names else "no middleware"


def _validate(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    return f"{entry.tool.params.__name__}: {', '.join(sent_fields(entry.tool.params))}"


def _recall(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if not _is_repeatable(entry):
        return "repeats are not recognised: the tool takes no client_request_id"
    return "a call whose client_request_id has a result already gets the same result"


def _cache(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if entry.tool.kind != "generator" or entry.cache.seconds == 0:
        return "not cached"
    audience = "everyone" if entry.cache.share == "everyone" else "the same account"
    return f"results are cached for {entry.cache.seconds} s, for {audience}"


def _limit(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if not entry.limits:
        return "no limit"
    rates = ", ".join(f"{rule.name}: {rule.rate}" for rule in entry.limits)
    return f"{rates}; a cached result counts as {entry.tool.info.cache_discount:g} of a request"


def _quota(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if not entry.tool.quota:
        return "not counted against a quota"
    if entry.quota_limit is None:
        return f"counted as {entry.tool.quota}, unlimited"
    return f"counted as {entry.tool.quota}: {entry.quota_limit} a month for each account"


def _join(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if entry.cache.seconds == 0:
        return "each call runs separately"
    return "a call joins a run for the same content that is in progress"


def _claim(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    if not _is_repeatable(entry):
        return "no claim: the tool takes no client_request_id"
    return "of simultaneous calls with the same client_request_id one runs; the others get its result"


def _is_repeatable(entry: PlanTool) -> bool:
    return isinstance(entry.tool.declaration, McpTool) and entry.tool.declaration.repeatable


def _run(compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    tool = entry.tool
    memory = f", {tool.declaration.memory_mib} MiB" if tool.executor == "process" else ""
    stored = f"; stored in {compiled.settings.storage.files}, as {tool.name}/<id>.<extension>"
    return f"{tool.executor} executor, at most {tool.timeout:g} s{memory}: {tool.declaration.reference}" + (
        stored if tool.kind == "generator" else ""
    )


def _respond(_compiled: LoadedApp, entry: PlanTool, _plan: str) -> str:
    return "a signed URL, or the bytes" if entry.tool.kind == "generator" else "the tool's result"


def _observe(compiled: LoadedApp, _entry: PlanTool, _plan: str) -> str:
    names = [contribution.record.name for contribution in compiled.plugins.contributions.of(Observer)]
    return f"tells {', '.join(names)}" if names else "metrics only"


STAGE_TEXTS: Final[dict[str, Callable[[LoadedApp, PlanTool, str], str]]] = {
    "admit": _admit,
    "authenticate": _authenticate,
    "plan": _plan,
    "authorize": _authorize,
    "middleware": _middleware,
    "validate": _validate,
    "recall": _recall,
    "cache": _cache,
    "limit": _limit,
    "quota": _quota,
    "join": _join,
    "claim": _claim,
    "run": _run,
    "respond": _respond,
    "observe": _observe,
}
"""For each stage, the function that describes its effect on calls of a tool on a plan."""
