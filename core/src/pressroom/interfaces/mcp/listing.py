"""`tools/list`: the tools that a request lists, encoded at start-up and served from memory.

A request can narrow the list with `toolsets` and `readonly`, in the URL or in headers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import orjson
from sanic import Request

from pressroom.catalog.descriptor import model_input_schema, model_output_schema
from pressroom.catalog.schema import file_schema, input_schema, output_schema
from pressroom.catalog.tool import ANONYMOUS, Catalog, PlanTool, allows, default_toolsets
from pressroom.config.models import McpSettings
from pressroom.http.compression import PrecompressedText
from pressroom.interfaces.mcp.protocol import INVALID_PARAMS, Incoming, RpcError
from pressroom.interfaces.mcp.tool_search import CALL_TOOL, FIND_TOOLS, CallParams, FindableTool, FindParams, ToolIndex
from pressroom.sdk import Annotations, Caller, Generator, McpTool
from pressroom.sdk.declaration import ALL, CORE, Access
from pressroom.validation.echo import nearest, quoted

TOOLSETS_HEADER: Final = "x-mcp-toolsets"
READ_ONLY_HEADER: Final = "x-mcp-readonly"

MAX_LENGTH: Final = 2048
"""Maximum length of a query or header, in characters."""

Value = TypeVar("Value")

_TOOLSETS: Final = "toolsets"
_READ_ONLY: Final = "readonly"
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}

_VIEWS_IN_MEMORY: Final = 128
"""Number of complete lists kept in memory, each for a plan with its toolsets, disabled tools and access level."""

_FILE_ANNOTATIONS: Final = Annotations(read_only=True, idempotent=True)


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection in a request. `toolsets` is `None` if it contains none."""

    toolsets: frozenset[str] | None = None
    read_only: bool = False


NO_SELECTION: Final = Selection()


def read_selection(request: Request) -> Selection:
    """Parse the selection in a request's URL and headers. Unknown toolsets are not detected here.

    Raises:
        RpcError: A value is invalid, or the URL and a header disagree.
    """
    query, headers = request.query_string, request.headers
    if not query and TOOLSETS_HEADER not in headers and READ_ONLY_HEADER not in headers:
        return NO_SELECTION
    in_headers = {
        name: headers.getall(header)
        for name, header in ((_TOOLSETS, TOOLSETS_HEADER), (_READ_ONLY, READ_ONLY_HEADER))
        if header in headers
    }
    if len(query) > MAX_LENGTH or any(len(value) > MAX_LENGTH for values in in_headers.values() for value in values):
        raise RpcError(INVALID_PARAMS, f"toolsets and readonly may have at most {MAX_LENGTH:,} characters")
    in_url: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        in_url.setdefault(name.lower(), []).append(value)
    sources = (in_url, in_headers)
    sets = _agreed(_TOOLSETS, *(_sets(source[_TOOLSETS]) if _TOOLSETS in source else None for source in sources))
    read_only = _agreed(
        _READ_ONLY, *(_flag(source[_READ_ONLY]) if _READ_ONLY in source else None for source in sources)
    )
    return Selection(sets, bool(read_only))


def _sets(values: Iterable[str]) -> frozenset[str]:
    names = frozenset(name for value in values for part in value.split(",") if (name := part.strip().lower()))
    if not names:
        raise RpcError(
            INVALID_PARAMS, "toolsets is empty; name sets, such as toolsets=core,seo, or all, or leave it out"
        )
    return names


def _flag(values: Iterable[str]) -> bool:
    flags = {_BOOLEANS.get(value.strip().lower()) for value in values}
    if len(flags) != 1 or None in flags:
        raise RpcError(INVALID_PARAMS, f"readonly must be true or false (got {quoted(', '.join(values))})")
    return flags == {True}


def _agreed(name: str, in_url: Value | None, in_header: Value | None) -> Value | None:
    if in_url is not None and in_header is not None and in_url != in_header:
        raise RpcError(
            INVALID_PARAMS,
            f"{name} in the URL ({_value_text(in_url)}) and in the header X-MCP-{name.capitalize()} "
            f"({_value_text(in_header)}) disagree; send one of them",
        )
    return in_header if in_url is None else in_url


def _value_text(value: object) -> str:
    if isinstance(value, frozenset):
        return quoted(",".join(sorted(value)))
    return str(value).lower()


def unknown_sets(requested: Iterable[str], known: Iterable[str]) -> RpcError:
    """Return the error for a request with toolsets that no tool of this server belongs to."""
    return RpcError(INVALID_PARAMS, f"{'; '.join(_unknown(sorted(requested), sorted(known)))}")


def _unknown(requested: list[str], known: list[str]) -> Iterator[str]:
    for name in requested:
        similar = nearest(name, known)
        yield f"there is no toolset {quoted(name, 64)}" + (f", did you mean {similar}?" if similar else "")
    yield f"this server has {', '.join([*known, 'all'])}"


@dataclass(frozen=True, slots=True)
class ToolListView:
    """The part of a plan that a request sees.

    `listed` are the names in `tools/list`. `allowed` are the names of all tools that the connection can use; those not
    listed are run through `call_tool`. `selection` are the toolsets that apply. `result` is the result of `tools/list`.
    """

    listed: frozenset[str]
    allowed: frozenset[str]
    selection: frozenset[str]
    index: ToolIndex
    result: PrecompressedText


class ToolLists:
    """The lists of tools for each combination of plan, toolsets, disabled tools and access level."""

    def __init__(self, catalog: Catalog, settings: McpSettings) -> None:
        self._catalog = catalog
        self._defaults = {plan: default_toolsets(view, settings) for plan, view in catalog.plans.items()}
        self._indexes = {
            plan: ToolIndex(_findable(entry) for entry in view.mcp_tools.values())
            for plan, view in catalog.plans.items()
        }
        self._encoded = {
            plan: {name: orjson.dumps(tool.definition) for name, tool in sorted(index.tools.items())}
            for plan, index in self._indexes.items()
        }
        self._slugs = {
            entry.tool.name: entry.tool.mcp_name for view in catalog.plans.values() for entry in view.mcp_tools.values()
        }
        self.known = frozenset(name for tool in catalog.mcp_tools.values() for name in tool.info.toolsets) | {CORE}
        self._view = lru_cache(maxsize=_VIEWS_IN_MEMORY)(self._compiled)

    def check(self, selection: Selection) -> None:
        """Raise `RpcError` if a request selects toolsets that this server does not have."""
        requested = (selection.toolsets or frozenset()) - {ALL}
        if requested - self.known:
            raise unknown_sets(requested - self.known, self.known)

    def seen_by(self, incoming: Incoming) -> tuple[Caller, ToolListView]:
        """Return the caller, restricted to the access that the request asks for, and the caller's view.

        The request's toolsets apply, else those of its connection, else the server's.

        Raises:
            RpcError: The request selects a toolset that this server, or the caller's plan, does not have.
        """
        selection = read_selection(incoming.http)
        caller = replace(incoming.caller, access="read") if selection.read_only else incoming.caller
        return caller, self._visible_tools(caller, selection)

    def _visible_tools(self, caller: Caller, selection: Selection) -> ToolListView:
        plan = self._catalog.plans[caller.plan].plan
        disabled = caller.disabled_tools
        if disabled:
            off = {self._slugs.get(name, name) for name in disabled}
            disabled = frozenset(off & self._encoded[plan].keys())
        return self._view(plan, self._requested_sets(plan, caller, selection), disabled, caller.access)

    def _requested_sets(self, plan: str, caller: Caller, selection: Selection) -> frozenset[str]:
        if selection.toolsets is not None:
            self.check(selection)
            self._check_plan(plan, selection.toolsets)
            return selection.toolsets
        if caller.toolsets is None:
            return self._defaults[plan]
        return caller.toolsets & (self.known | {ALL}) or self._defaults[plan]

    def _check_plan(self, plan: str, requested: frozenset[str]) -> None:
        plan_sets = {name for tool in self._indexes[plan].tools.values() for name in tool.toolsets}
        missing = sorted(requested - plan_sets - {ALL, CORE})
        if missing:
            plan_titles = [view.title for name, view in self._catalog.plans.items() if self._has(name, missing)]
            where = f"; the plans with them: {', '.join(sorted(plan_titles))}" if plan_titles else ""
            raise RpcError(
                INVALID_PARAMS,
                f"the plan {self._catalog.plans[plan].title} has no tool of {' and '.join(missing)}{where}. "
                f"It has {', '.join(sorted(plan_sets))}",
            )

    def _has(self, plan: str, toolsets: Collection[str]) -> bool:
        tools = self._indexes[plan].tools.values()
        return plan != ANONYMOUS and any(set(toolsets) & set(tool.toolsets) for tool in tools)

    def _compiled(self, plan: str, requested: frozenset[str], disabled: frozenset[str], access: Access) -> ToolListView:
        index, encoded = self._indexes[plan], self._encoded[plan]
        entries = self._catalog.plans[plan].mcp_tools
        allowed = frozenset(name for name in encoded if name not in disabled and allows(access, entries[name].tool))
        listed = frozenset(name for name in allowed if ALL in requested or requested & set(index.tools[name].toolsets))
        definitions = {name: definition for name, definition in encoded.items() if name in listed}
        if listed != allowed:
            definitions |= _HOST_TOOLS[access == "read"]
        ordered = [definitions[name] for name in sorted(definitions)]
        result = PrecompressedText(b'{"tools":[%b]}' % b",".join(ordered))
        return ToolListView(listed, allowed, requested, index, result)


def _findable(entry: PlanTool) -> FindableTool:
    declaration = entry.tool.declaration
    return FindableTool(
        name=entry.tool.mcp_name,
        toolsets=entry.tool.info.toolsets,
        definition=definition(entry),
        destructive=isinstance(declaration, McpTool) and declaration.annotations.destructive,
    )


def definition(entry: PlanTool) -> dict[str, Any]:
    """Return the definition of a tool in its plan (MCP 2025-06-18, `Tool`)."""
    declaration = entry.tool.declaration
    if isinstance(declaration, Generator):
        title, annotations = declaration.name, _FILE_ANNOTATIONS
        description = (declaration.mcp.description if declaration.mcp else "") or declaration.description
        output = file_schema(declaration.details)
    else:
        title, annotations, description = declaration.title, declaration.annotations, declaration.description
        output = output_schema(declaration.result)
    return _definition(
        entry.tool.mcp_name,
        title,
        " ".join(filter(None, [description.strip(), _cost(entry)])),
        entry.tool.mcp_schema,
        output,
        annotations,
    )


def _definition(
    name: str,
    title: str,
    description: str,
    parameters: Mapping[str, Any],
    output: Mapping[str, Any],
    annotations: Annotations,
) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": model_input_schema(parameters),
        "outputSchema": model_output_schema(output),
        "annotations": _hints(annotations),
    }


def _hints(annotations: Annotations) -> dict[str, bool]:
    """Return the hints that differ from their defaults (MCP 2025-06-18, `ToolAnnotations`)."""
    hints = {}
    if annotations.read_only:
        hints["readOnlyHint"] = True
    else:
        if not annotations.destructive:
            hints["destructiveHint"] = False
        if annotations.idempotent:
            hints["idempotentHint"] = True
    if not annotations.open_world:
        hints["openWorldHint"] = False
    return hints


def _cost(entry: PlanTool) -> str:
    """Describe a call's cost to a model; empty if it has none."""
    sentences = []
    if entry.tool.quota and entry.quota_limit is not None:
        sentences.append(f"Uses one of the plan's {entry.quota_limit} {entry.tool.quota} a month")
        declaration = entry.tool.declaration
        if isinstance(declaration, McpTool) and declaration.free:
            sentences[-1] += f"; free: {declaration.free}"
    if entry.advertised_rate is not None:
        sentences.append(f"Limited to {entry.advertised_rate}")
        if entry.tool.info.cache_discount < 1:
            sentences[-1] += f"; a repeat counts as {entry.tool.info.cache_discount:g}"
    return " ".join(f"{sentence}." for sentence in sentences)


def _host_tools(*, read_only: bool) -> dict[str, bytes]:
    schema = {"type": "object", "properties": {"tools": {"type": "array", "items": {"type": "object"}}}}
    tools = (
        _definition(
            FIND_TOOLS,
            "Find tools",
            "Finds tools that are not listed here, by words: deleting, versions, redirects, keywords, exports, images "
            "and more. Returns names, descriptions and input schemas; run one with call_tool.",
            input_schema(FindParams),
            {**schema, "required": ["tools"]},
            Annotations(read_only=True),
        ),
        _definition(
            CALL_TOOL,
            "Call a tool",
            "Runs a tool that find_tools returned, with arguments that fit its inputSchema, and returns its result. "
            "Call listed tools directly. Destructive tools are refused: the user has to switch on their toolset.",
            input_schema(CallParams),
            {"type": "object"},
            Annotations(read_only=read_only, open_world=True),
        ),
    )
    return {tool["name"]: orjson.dumps(tool) for tool in tools}


_HOST_TOOLS: Final = tuple(_host_tools(read_only=read_only) for read_only in (False, True))


def aliases(catalog: Catalog) -> dict[str, str]:
    """Map each alias to its MCP name. Plugins with colliding names are not loaded, so aliases are unique."""
    return {
        alias: tool.mcp_name
        for tool in catalog.tools.values()
        if isinstance(tool.declaration, McpTool)
        for alias in tool.declaration.aliases
    }
