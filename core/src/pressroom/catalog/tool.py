"""Compiled tools, their view in a plan, their toolsets, and the access levels they need."""

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
    """A generator or an MCP tool, with everything that a call needs.

    `name` is the generator's slug or the MCP tool's name; `mcp_name` is empty for a generator that is not an MCP tool.
    `context` is that of the contributing plugin. `params` is the model that validates the arguments: the declared one,
    with this server's choices. `mcp_schema` is the JSON Schema for models. `content_salt` is the prefix of the input
    that is hashed into a result's ID. `extensions` maps the media types that a generator produces to file extensions.
    `answerable` is the ID of the plugin whose function runs: if a wrapper replaced it, that of the wrapper. `access` is
    the minimum access level of a connection. `timeout` is in seconds.
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
        """Either `generator`, which makes a file, or `mcp`, which responds to a model."""
        return self.info.kind

    @property
    def executor(self) -> ExecutorName:
        """The executor that runs the tool."""
        return self.declaration.executor


@dataclass(frozen=True, slots=True)
class LimitRule:
    """A rate limit of a tool in a plan. Callers for which `key` returns the same string are counted together."""

    name: str
    rate: Rate
    key: Callable[[Caller], str]


@dataclass(frozen=True, slots=True)
class PlanTool:
    """A tool in a plan: its rate limits, the caching of its results, and its monthly quota.

    `quota_limit` is `None` if the plan does not limit the tool's quota class.
    """

    tool: Tool
    limits: tuple[LimitRule, ...]
    cache: CachePolicy
    quota_limit: int | None = None

    @property
    def advertised_rate(self) -> Rate | None:
        """The rate limit shown to clients: the one that allows the fewest requests a second."""
        rates = [limit.rate for limit in self.limits]
        return min(rates, key=lambda rate: rate.requests / rate.window_seconds, default=None)


@dataclass(frozen=True, slots=True)
class PlanView:
    """Everything visible in one plan. Other tools are refused as if they did not exist.

    `tools` is ordered by name; `mcp_tools` holds those with an MCP name, by that name.
    """

    plan: str
    title: str
    tools: Mapping[str, PlanTool]
    mcp_tools: Mapping[str, PlanTool]
    quotas: Mapping[str, int] = field(default_factory=dict)

    @property
    def generators(self) -> tuple[PlanTool, ...]:
        """The plan's generators, ordered by slug."""
        return tuple(entry for entry in self.tools.values() if entry.tool.kind == "generator")


class PlanViews(dict[str, PlanView]):
    """The plan views by plan name. A plan that is not configured gets the view of `anonymous`.

    An account can have a plan that the operator has since removed; it must not see more than an anonymous caller.
    """

    def __missing__(self, plan: str) -> PlanView:
        return self[ANONYMOUS]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The compiled contributions of all plugins. It never changes during the life of the process.

    `mcp_tools` holds the tools with an MCP name, by that name. `unavailable` maps tools that cannot work in this
    configuration to the reason; they are in no other member. `warnings` are sentences for the operator about names in
    the configuration that match nothing, and settings without effect.
    """

    tools: Mapping[str, Tool]
    plans: PlanViews
    mcp_tools: Mapping[str, Tool] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def plans_with(self, mcp_name: str) -> tuple[str, ...]:
        """Return the titles of the plans, except `anonymous`, that include a tool, by its MCP name."""
        return tuple(
            view.title for view in self.plans.values() if view.plan != ANONYMOUS and mcp_name in view.mcp_tools
        )

    def exclusion_reason(self, mcp_name: str, plan: str) -> str:
        """Return why an account cannot use a tool that its plan does not include, and which plans include it."""
        if plan not in self.plans:
            reason = f"the plan {plan!r} of this account is no longer offered"
            return f"{mcp_name} cannot be used: {reason}; ask the operator"
        plans = self.plans_with(mcp_name)
        availability = f"it is in {_enumerated(plans)}" if plans else "no plan of this server has it"
        return f"{mcp_name} is not in the plan {self.plans[plan].title}; {availability}"

    def summary(self, plan: str) -> PlanSummary:
        """Return the public description of a plan."""
        view = self.plans[plan]
        tool_quotas = {entry.tool.quota for entry in view.mcp_tools.values() if entry.tool.quota}
        return PlanSummary(
            title=view.title,
            quotas={quota: view.quotas.get(quota) for quota in sorted({*view.quotas, *tool_quotas})},
            tools={name: view.mcp_tools[name].tool.access for name in sorted(view.mcp_tools)},
            hidden_tools={name: self.plans_with(name) for name in sorted(self.mcp_tools.keys() - view.mcp_tools)},
            unavailable_tools=self.unavailable,
        )


def _enumerated(titles: tuple[str, ...]) -> str:
    return " and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]]))


def tools_by_set(plan: PlanView) -> dict[str, list[Tool]]:
    """Return a plan's MCP tools by toolset, ordered by MCP name; the core toolset comes first."""
    by_set: dict[str, list[Tool]] = {}
    for name in sorted(plan.mcp_tools):
        tool = plan.mcp_tools[name].tool
        for toolset in tool.info.toolsets:
            by_set.setdefault(toolset, []).append(tool)
    return {name: by_set[name] for name in sorted(by_set, key=lambda name: (name != CORE, name))}


def default_toolsets(plan: PlanView, settings: McpSettings) -> frozenset[str]:
    """Return the toolsets listed if neither the request nor the connection's owner chose any.

    `all` stands for every tool; small plans list everything.
    """
    if len(plan.mcp_tools) <= settings.list_all_up_to or ALL in settings.toolsets:
        return frozenset({ALL})
    return frozenset(settings.toolsets).intersection(tools_by_set(plan)) or frozenset({CORE})


@dataclass(frozen=True, slots=True)
class AccessLevel:
    """An access level with its texts for people.

    `description` is a sentence about connections of this level. `adds` describes the tools that require it.
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
"""The access levels in ascending order; each includes the ones before it."""

BY_NAME: Final[Mapping[str, AccessLevel]] = MappingProxyType({level.name: level for level in LEVELS})

_RANKS: Final[Mapping[str, int]] = MappingProxyType({level.name: rank for rank, level in enumerate(LEVELS)})


def needed_access(declaration: Generator | McpTool) -> Access:
    """Return the minimum access level of a connection for using a tool.

    A generator only makes a file from its parameters, so it needs `read`. For other tools, the most harmful declared
    effect decides.
    """
    if isinstance(declaration, Generator):
        return "read"
    if declaration.annotations.destructive:
        return "full"
    if declaration.publishes:
        return "publish"
    return "read" if declaration.annotations.read_only else "drafts"


def allows(access: str, tool: Tool) -> bool:
    """Return whether a connection's access level is sufficient for a tool; an unknown level never is."""
    return _RANKS.get(access, -1) >= _RANKS[tool.access]
