"""`tools/list`: what each tool is told about, compiled at start-up and served from memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import orjson

from pressroom.catalog.schema import file_schema, input_schema, output_schema
from pressroom.catalog.tool import Catalog, PlanTool
from pressroom.sdk import Annotations, Generator, McpTool

_LISTS_IN_MEMORY: Final = 128
"""How many lists, of a plan with some tools switched off, are kept whole."""

_FILE_ANNOTATIONS: Final = Annotations(read_only=True, idempotent=True)


class ToolLists:
    """The lists of tools, for each plan and each set of tools that a connection has switched off."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tools = {plan: dict(_definitions(view.mcp_tools.values())) for plan, view in catalog.plans.items()}
        self._slugs = {
            entry.tool.name: entry.tool.mcp_name for view in catalog.plans.values() for entry in view.mcp_tools.values()
        }
        self._list = lru_cache(maxsize=_LISTS_IN_MEMORY)(self._joined)

    def of(self, plan: str, disabled: frozenset[str]) -> bytes:
        """Return the result of `tools/list` as JSON. `disabled` holds MCP names, or slugs of generators."""
        known = self._catalog.plan(plan).plan
        if disabled:
            off = {self._slugs.get(name, name) for name in disabled}
            disabled = frozenset(off & self._tools[known].keys())
        return self._list(known, disabled)

    def _joined(self, plan: str, disabled: frozenset[str]) -> bytes:
        return b'{"tools":[%b]}' % b",".join(
            definition for name, definition in self._tools[plan].items() if name not in disabled
        )


def _definitions(entries: Iterable[PlanTool]) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(entries, key=lambda entry: entry.tool.mcp_name):
        yield entry.tool.mcp_name, orjson.dumps(definition(entry))


def definition(entry: PlanTool) -> dict[str, Any]:
    """Return the definition of a tool (MCP 2025-06-18, `Tool`), as its plan has it."""
    declaration = entry.tool.declaration
    if isinstance(declaration, Generator):
        title, annotations = declaration.name, _FILE_ANNOTATIONS
        description = (declaration.mcp.description if declaration.mcp else "") or declaration.description
        output = file_schema(declaration.details)
    else:
        title, annotations, description = declaration.title, declaration.annotations, declaration.description
        output = output_schema(declaration.result)
    return {
        "name": entry.tool.mcp_name,
        "title": title,
        "description": f"{description.strip()}\n\n{_cost(entry)}",
        "inputSchema": {"properties": {}, **input_schema(entry.tool.params)},
        "outputSchema": {"properties": {}, **output},
        "annotations": {
            "title": title,
            "readOnlyHint": annotations.read_only,
            "destructiveHint": annotations.destructive,
            "idempotentHint": annotations.idempotent,
            "openWorldHint": annotations.open_world,
        },
    }


def _cost(entry: PlanTool) -> str:
    """Return what a call costs, in words for a model."""
    sentences = []
    if entry.tool.quota and entry.quota_limit is not None:
        sentences.append(f"a call uses one of the plan's {entry.quota_limit} {entry.tool.quota} a month")
        declaration = entry.tool.declaration
        if isinstance(declaration, McpTool) and declaration.free:
            sentences.append(f"free: {declaration.free}")
    if entry.advertised_rate is not None:
        sentences.append(f"calls are limited to {entry.advertised_rate}")
        if entry.tool.info.cache_discount < 1:
            sentences.append(f"a file that was made before counts as {entry.tool.info.cache_discount:g} of a call")
    if not sentences and entry.tool.quota:
        sentences.append(f"none, the plan does not limit {entry.tool.quota}")
    return f"Cost: {'; '.join(sentences) or 'none'}."


def aliases(catalog: Catalog) -> dict[str, str]:
    """Return the MCP name behind each alias. Plugins whose names collide are not loaded, so that each has one."""
    return {
        alias: tool.mcp_name
        for tool in catalog.tools.values()
        if isinstance(tool.declaration, McpTool)
        for alias in tool.declaration.aliases
    }
