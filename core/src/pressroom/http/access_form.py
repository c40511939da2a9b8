"""Form options for the access level and toolsets of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast, get_args

import structlog

from pressroom.accounts.records import AccessChoice
from pressroom.catalog.tool import LEVELS, PlanView, Tool, allows, tools_by_set
from pressroom.errors import InvalidInput
from pressroom.http.browser_sessions import Fields
from pressroom.http.page_frame import clip, title_of
from pressroom.plugins.contributions import Contributions
from pressroom.sdk import Generator, PublishingTargets
from pressroom.sdk.declaration import ALL, CORE, Access, toolset_problems
from pressroom.validation.echo import printable

log = structlog.get_logger()

TARGETS_SECONDS: Final = 1.0
"""Timeout in seconds for all plugins together to list their publishing targets."""

_MAX_TARGETS: Final = 100
_MAX_LISTED_TARGETS: Final = 5
_MAX_TARGET_LENGTH: Final = 60
_CORE_DESCRIPTION: Final = "The tools that take an idea to a live article."


@dataclass(frozen=True, slots=True)
class LevelOption:
    """An access level to choose. `tools` states how many tools of the plan it allows."""

    name: Access
    title: str
    description: str
    tools: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class ToolsetOption:
    """A toolset to choose. `tools` states how many tools of the plan it contains."""

    name: str
    title: str
    description: str
    tools: str
    chosen: bool


def level_options(plan: PlanView, selected: Access, targets: Sequence[str] = ()) -> list[LevelOption]:
    """Return the access levels. `targets` are the names of publishing targets to mention."""
    tools = [entry.tool for entry in plan.mcp_tools.values()]
    options = []
    for level in LEVELS:
        description = level.description
        if level.name == "publish" and targets:
            description = f"{description.removesuffix('.')}: {_enumerated(targets)}."
        count = sum(allows(level.name, tool) for tool in tools)
        options.append(LevelOption(level.name, level.title, description, counted(count), level.name == selected))
    return options


def toolset_options(plan: PlanView, chosen: frozenset[str] | None, default: frozenset[str]) -> list[ToolsetOption]:
    """Return the toolsets of a plan, core first, then by name. `default` is selected if `chosen` is `None`."""
    selected = default if chosen is None else chosen
    options = []
    for name, tools in tools_by_set(plan).items():
        titles = _CORE_DESCRIPTION if name == CORE else clip(", ".join(title_of_tool(tool) for tool in tools))
        options.append(ToolsetOption(name, title_of(name), titles, counted(len(tools)), bool(selected & {name, ALL})))
    return options


def title_of_tool(tool: Tool) -> str:
    """Return the display title of a tool."""
    return tool.declaration.name if isinstance(tool.declaration, Generator) else tool.declaration.title


def counted(tools: int) -> str:
    """Return a number of tools as text: `1 tool`."""
    return f"{tools} tool{'' if tools == 1 else 's'}"


def read_choice(fields: Fields, current: AccessChoice, default: frozenset[str]) -> AccessChoice:
    """Return the choice in a submitted form. Settings that the form did not include keep their current values.

    Toolsets that the form did not show keep their state. An empty selection, or one equal to `default`, means the
    server's default.

    Raises:
        InvalidInput: a field has another value than a form of this server sends.
    """
    access = fields.get("access", [current.access])[0]
    if access not in get_args(Access):
        raise InvalidInput("access", f"must be one of {', '.join(get_args(Access))}")
    visible, ticked = frozenset(fields.get("shown_set", ())), frozenset(fields.get("set", ()))
    if problems := toolset_problems(sorted(visible | ticked)):
        raise InvalidInput("set", problems[0].removeprefix("toolsets: "))
    if not visible:
        return AccessChoice(cast("Access", access), current.toolsets)
    toolsets = ((current.toolsets or frozenset()) - visible) | (visible & ticked)
    is_default = not toolsets or toolsets == (visible if ALL in default else default)
    return AccessChoice(cast("Access", access), None if is_default else toolsets)


async def publishing_targets(contributions: Contributions, subject: str) -> list[str]:
    """Return the names of an account's publishing targets, such as its websites, without those of failing plugins."""
    names: list[str] = []
    try:
        async with asyncio.timeout(TARGETS_SECONDS):
            for contribution in contributions.of(PublishingTargets):
                names += await _names(contribution.record, subject)
    except TimeoutError:
        log.warning("publishing targets were not named in time", seconds=TARGETS_SECONDS)
    return list(dict.fromkeys(names))


async def _names(provider: PublishingTargets, subject: str) -> list[str]:
    try:
        names = list(await provider.names(subject))[:_MAX_TARGETS]
    except TimeoutError:
        raise
    except Exception:  # noqa: BLE001 - the gate has named it; a page that asks for consent never fails with a plugin
        return []
    return [clipped for name in names if (clipped := clip(printable(name), _MAX_TARGET_LENGTH))]


def _enumerated(names: Iterable[str]) -> str:
    names = list(names)
    listed = names[:_MAX_LISTED_TARGETS]
    if len(names) > _MAX_LISTED_TARGETS:
        more = "many more" if len(names) >= _MAX_TARGETS else f"{len(names) - _MAX_LISTED_TARGETS} more"
        return f"{', '.join(listed)} and {more}"
    return " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))
