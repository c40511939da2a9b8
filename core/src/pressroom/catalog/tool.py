"""A tool as it was compiled, and as one plan has it: its toolsets, and the access level that it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from pressroom.accounts.records import PlanSummary
from pressroom.config.models import McpSettings
from pressroom.sdk import CachePolicy, Caller, ExecutorName, Generator, McpTool, Params, PluginContext, Rate, ToolInfo
from pressroom.sdk.declaration import ALL, CORE, Access

ANONYMOUS = "anonymous"
"""The plan of callers without a credential."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A generator or an MCP tool, with all that a call of it needs.

    `name` is the generator's slug or the MCP tool's name; `mcp_name` is empty for a generator that is not an MCP tool.
    `context` is that of the plugin that it came from. `params` is the model that its arguments are validated with: the
    declared one, with the choices that this server has; `mcp_schema` is the JSON Schema that models see. `content_salt`
    begins what is hashed to the id of a result. `extensions` are those of the media types that a generator produces.
    `answerable` is the id of the plugin whose function runs: where a wrapper replaced it, that of the wrapper.
    `access` is the least level that a connection needs to use it.
    `timeout` is in seconds.
    """

    name: str
    mcp_name: str
    declaration: Generator | McpTool
    info: ToolInfo
    plugin_version: str
    context: PluginContext
    params: type[Params]
    mcp_schema: Mapping[str, Any]
    timeout: float
    content_salt: bytes
    access: Access
    extensions: Mapping[str, str] = field(default_factory=dict)
    quota: str = ""
    answerable: str = ""

    @property
    def kind(self) -> Literal["generator", "mcp"]:
        """Whether it makes a file or answers a model."""
        return self.info.kind

    @property
    def executor(self) -> ExecutorName:
        """Where it runs."""
        return self.declaration.executor


@dataclass(frozen=True, slots=True)
class LimitRule:
    """A limit that applies to a tool in a plan. `key` tells which callers are counted together."""

    name: str
    rate: Rate
    key: Callable[[Caller], str]


@dataclass(frozen=True, slots=True)
class PlanTool:
    """A tool as one plan has it: its limits, how its results are cached, and how often a month it may be used.

    `quota_limit` is `None` where the plan has no bound for the tool's quota class.
    """

    tool: Tool
    limits: tuple[LimitRule, ...]
    cache: CachePolicy
    quota_limit: int | None = None

    @property
    def advertised_rate(self) -> Rate | None:
        """The limit that a client hears of: the one with the fewest requests a second."""
        rates = [limit.rate for limit in self.limits]
        return min(rates, key=lambda rate: rate.requests / rate.window_seconds, default=None)


@dataclass(frozen=True, slots=True)
class PlanView:
    """Everything that one plan can see. What is not in it is refused as if it did not exist.

    `tools` is in the order of name; `mcp_tools` holds the same by MCP name.
    """

    plan: str
    title: str
    tools: Mapping[str, PlanTool]
    mcp_tools: Mapping[str, PlanTool]
    quotas: Mapping[str, int] = field(default_factory=dict)

    @property
    def generators(self) -> tuple[PlanTool, ...]:
        """The plan's generators, in the order of slug."""
        return tuple(entry for entry in self.tools.values() if entry.tool.kind == "generator")


class PlanViews(dict[str, PlanView]):
    """The view of each plan, by its name. A plan that is not configured sees what `anonymous` sees.

    An account may carry a plan that the operator has since removed: it must not see more than an anonymous caller does.
    """

    def __missing__(self, plan: str) -> PlanView:
        return self[ANONYMOUS]


@dataclass(frozen=True, slots=True)
class Catalog:
    """What all plugins came to. It never changes while the process lives.

    `mcp_tools` holds the tools that have an MCP name, by it. `unavailable` are the tools that cannot work on this
    server as it is configured, each with the reason; the other members do not have them. `warnings` are sentences for
    the operator, about names in the configuration that nothing answers to.
    """

    tools: Mapping[str, Tool]
    plans: PlanViews
    mcp_tools: Mapping[str, Tool] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def plans_with(self, mcp_name: str) -> tuple[str, ...]:
        """Return the titles of the plans that have a tool, by its MCP name."""
        return tuple(
            view.title for view in self.plans.values() if view.plan != ANONYMOUS and mcp_name in view.mcp_tools
        )

    def why_not(self, mcp_name: str, plan: str) -> str:
        """Return why an account on a plan may not use a tool that its plan has not, and which plans have it."""
        if plan not in self.plans:
            gone = f"the plan {plan!r} of this account is no longer offered"
            return f"{mcp_name} cannot be used: {gone}; ask the operator"
        others = self.plans_with(mcp_name)
        where = f"it is in {_enumerated(others)}" if others else "no plan of this server has it"
        return f"{mcp_name} is not in the plan {self.plans[plan].title}; {where}"

    def summary(self, plan: str) -> PlanSummary:
        """Return what accounts on a plan are told of it."""
        view = self.plans[plan]
        counted = {entry.tool.quota for entry in view.mcp_tools.values() if entry.tool.quota}
        return PlanSummary(
            title=view.title,
            quotas={quota: view.quotas.get(quota) for quota in sorted({*view.quotas, *counted})},
            tools={name: view.mcp_tools[name].tool.access for name in sorted(view.mcp_tools)},
            hidden_tools={name: self.plans_with(name) for name in sorted(self.mcp_tools.keys() - view.mcp_tools)},
            unavailable_tools=self.unavailable,
        )


def _enumerated(titles: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]]))


def tools_by_set(plan: PlanView) -> dict[str, list[Tool]]:
    """Return the tools of each set that a plan has tools of, by MCP name; the core comes first."""
    found: dict[str, list[Tool]] = {}
    for name in sorted(plan.mcp_tools):
        tool = plan.mcp_tools[name].tool
        for toolset in tool.info.toolsets:
            found.setdefault(toolset, []).append(tool)
    return {name: found[name] for name in sorted(found, key=lambda name: (name != CORE, name))}


def default_toolsets(plan: PlanView, settings: McpSettings) -> frozenset[str]:
    """Return the sets that are listed where neither a request nor the owner of its connection chose any.

    `all` stands for every tool: that is what a small plan lists whole.
    """
    if len(plan.mcp_tools) <= settings.list_all_up_to or ALL in settings.toolsets:
        return frozenset({ALL})
    return frozenset(settings.toolsets).intersection(tools_by_set(plan)) or frozenset({CORE})


@dataclass(frozen=True, slots=True)
class AccessLevel:
    """A level as people choose it.

    `description` says in a sentence what connections of this level do, `adds` what a tool does that needs this level.
    """

    name: Access
    title: str
    description: str
    adds: str


LEVELS: Final = (
    AccessLevel("read", "Read only", "Reads what is in your account, and changes nothing.", "only reads"),
    AccessLevel(
        "drafts",
        "Write drafts",
        "Also writes and edits, but changes nothing on your live websites and deletes nothing.",
        "changes what your account holds",
    ),
    AccessLevel(
        "publish",
        "Write and publish",
        "Also publishes and updates articles on your live websites.",
        "changes what visitors of your websites see",
    ),
    AccessLevel(
        "full",
        "Everything",
        "Also deletes, disconnects websites, and overwrites what cannot be restored.",
        "can delete or overwrite what cannot be restored",
    ),
)
"""The levels, each of which allows what those before it allow."""

BY_NAME: Final[Mapping[str, AccessLevel]] = MappingProxyType({level.name: level for level in LEVELS})

_RANKS: Final[Mapping[str, int]] = MappingProxyType({level.name: rank for rank, level in enumerate(LEVELS)})


def needed_access(declaration: Generator | McpTool) -> Access:
    """Return the least level that a connection must have to use a tool.

    A generator makes a file of its parameters and changes nothing of anyone's. Of what a tool declares, what does the
    most harm decides.
    """
    if isinstance(declaration, Generator):
        return "read"
    if declaration.annotations.destructive:
        return "full"
    if declaration.publishes:
        return "publish"
    return "read" if declaration.annotations.read_only else "drafts"


def allows(access: str, tool: Tool) -> bool:
    """Tell whether a connection of this level may use a tool; one of a level that nobody knows may use none."""
    return _RANKS.get(access, -1) >= _RANKS[tool.access]
