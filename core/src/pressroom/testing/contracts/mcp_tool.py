"""The contract of an MCP tool (`pressroom.sdk.McpTool`), checked through the MCP endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from pressroom.sdk import McpTool
from pressroom.testing.contracts.generator import UNKNOWN_FIELD, expect_texts
from pressroom.testing.contracts.records import RecordInHost
from pressroom.testing.contracts.suite import ContractSuite, PromiseBroken, expect, shorten
from pressroom.testing.running import RunningHost, ToolFailed

Subject: TypeAlias = RecordInHost[McpTool]

MCP_TOOL: Final = ContractSuite[Subject]("MCP tool")
_FAILURES: Final = ("internal_error", "timeout")
_MAX_CHOICES: Final = 12
_LISTED: Final[WeakKeyDictionary[RunningHost, dict[str, dict[str, Any]]]] = WeakKeyDictionary()
"""A cache of the input schemas that each host lists."""

_BY_TYPE: Final[Mapping[str, Any]] = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}


@MCP_TOOL.promise("its texts tell models what it does", fix="write a title, and a description of a sentence or more")
async def _texts(subject: Subject) -> None:
    expect_texts({"title": subject.record.title, "description": subject.record.description})


@MCP_TOOL.promise(
    "tools/list shows it with an object schema in which every parameter has a description",
    fix="add Field(description=…) to the parameters; see the server's log if the tool is missing",
)
async def _listed(subject: Subject) -> None:
    if subject.record.name in subject.running.host.compiled.catalog.unavailable:
        return
    schema = await _schema(subject)
    expect(schema.get("type") == "object", schema)
    undescribed = [name for name, field in schema.get("properties", {}).items() if not field.get("description")]
    expect(not undescribed, f"no description for {', '.join(undescribed)}")


@MCP_TOOL.promise("an unknown field is refused by name", fix="let the params inherit from pressroom.sdk.Params")
async def _unknown_field(subject: Subject) -> None:
    if not _callable(subject):
        return
    failure = await _code(subject, {**example_arguments(await _schema(subject)), UNKNOWN_FIELD: 1})
    expect(failure is not None and failure.code == "validation_error" and UNKNOWN_FIELD in failure.message, failure)


@MCP_TOOL.promise(
    "a value of the wrong type is refused as validation_error",
    fix="let validators check the type of a value before they use it, and raise ValueError",
)
async def _wrong_types(subject: Subject) -> None:
    if not _callable(subject):
        return
    schema = await _schema(subject)
    for name in schema.get("properties", {}):
        failure = await _code(subject, {**example_arguments(schema), name: [{UNKNOWN_FIELD: []}]})
        code = failure.code if failure is not None else ""
        expect(code not in _FAILURES, f"{failure} for {name}")


@MCP_TOOL.promise(
    "calls with documented values succeed, or are refused with an explanation",
    fix="raise InvalidInput, NotFound or a CallError with its own code for what callers can fix; the log has "
    "the traceback",
)
async def _documented_values(subject: Subject) -> None:
    if not _callable(subject) or subject.record.annotations.open_world:
        return
    schema = await _schema(subject)
    for arguments in _documented(schema):
        failure = await _code(subject, arguments)
        code = failure.code if failure is not None else ""
        expect(code not in _FAILURES, f"{failure} for {shorten(json.dumps(arguments))}")


@MCP_TOOL.promise(
    "a result has text content, and structured content that matches the declared result",
    fix="return an instance of the declared result model, or ToolResult with one as data and a text",
)
async def _result(subject: Subject) -> None:
    if not _callable(subject) or subject.record.annotations.open_world:
        return
    result = await subject.mcp(
        "tools/call", {"name": subject.record.name, "arguments": example_arguments(await _schema(subject))}
    )
    texts = [block.get("text", "") for block in result.get("content", []) if block.get("type") == "text"]
    expect(any(text.strip() for text in texts), f"no text in {shorten(json.dumps(result))}")
    if result.get("isError"):
        return
    try:
        subject.record.result.model_validate_json(json.dumps(result.get("structuredContent")))
    except ValidationError as error:
        first = error.errors()[0]
        raise PromiseBroken(f"{first['msg']} at {'.'.join(map(str, first['loc']))}") from error


def _callable(subject: Subject) -> bool:
    """Return whether the tool is available on this host."""
    return subject.record.name in subject.running.host.compiled.catalog.mcp_tools


async def _schema(subject: Subject) -> dict[str, Any]:
    schemas = _LISTED.get(subject.running)
    if schemas is None:
        schemas = _LISTED[subject.running] = {tool["name"]: tool["inputSchema"] async for tool in _tools(subject)}
    if subject.record.name not in schemas:
        raise PromiseBroken("no such tool in tools/list")
    return schemas[subject.record.name]


async def _tools(subject: Subject) -> AsyncIterator[dict[str, Any]]:
    cursor: dict[str, Any] = {}
    while True:
        page = await subject.mcp("tools/list", cursor)
        for tool in page["tools"]:
            yield tool
        if not page.get("nextCursor"):
            return
        cursor = {"cursor": page["nextCursor"]}


async def _code(subject: Subject, arguments: Mapping[str, Any]) -> ToolFailed | None:
    """Call the tool, and return the error, or `None` if the call succeeded."""
    try:
        await asyncio.to_thread(subject.running.call_tool, subject.record.name, arguments)
    except ToolFailed as refused:
        return refused
    return None


def _documented(schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the required arguments alone, then together with each documented value of each parameter."""
    required = example_arguments(schema)
    yield required
    for name, field in schema.get("properties", {}).items():
        values = [*field.get("enum", [])[:_MAX_CHOICES], *field.get("examples", [])[:_MAX_CHOICES]]
        values += [field["default"]] if "default" in field else []
        yield from ({**required, name: value} for value in values)


def example_arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the required arguments, with values that the schema allows."""
    return {name: _value(schema["properties"][name]) for name in schema.get("required", [])}


def _value(field: Mapping[str, Any]) -> Any:
    for source in ("examples", "enum"):
        if field.get(source):
            return field[source][0]
    for source in ("default", "const"):
        if source in field:
            return field[source]
    kind = field.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array" and field.get("minItems"):
        return [_value(field.get("items", {}))] * field["minItems"]
    if kind == "object":
        return example_arguments(field)
    if kind in ("integer", "number"):
        return field.get("minimum", 1)
    return _BY_TYPE.get(kind, "example".ljust(field.get("minLength", 0), "e")[: field.get("maxLength", 1000)])
