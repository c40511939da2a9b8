"""Asking one plugin for its records, and checking them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import pluggy
from pydantic import BaseModel, ValidationError

from pressroom.errors import PluginError
from pressroom.plugins.contributions import RECORD_TYPES, describe
from pressroom.sdk import Generator, McpTool, PluginContext, Route
from pressroom.wire.messages import input_error

MOST_RECORDS: Final = 1000
"""How many records one hook of one plugin may yield; a hook that never ends is stopped there."""


def collect(manager: pluggy.PluginManager, context: PluginContext) -> tuple[Any, ...]:
    """Call every hook of one plugin and return its records.

    Raises:
        PluginError: a hook returned something else than an iterable of its record type.
        Exception: whatever a hook raises.
    """
    others = [plugin for name, plugin in manager.list_name_plugin() if name != context.id]
    records: list[Any] = []
    for hook, record_type in RECORD_TYPES.items():
        caller = manager.subset_hook_caller(hook, others)
        for answer in caller(plugin=context):
            records += _records(hook, answer, record_type)
    return tuple(records)


def _records(hook: str, answer: Any, record_type: type) -> list[Any]:
    expected = f"an iterable of {record_type.__name__}"
    if not isinstance(answer, Iterable) or isinstance(answer, (str, bytes, dict)):
        raise PluginError(f"{hook} must return {expected}, it returned {type(answer).__name__}")
    found = list(islice(answer, MOST_RECORDS + 1))
    if len(found) > MOST_RECORDS:
        raise PluginError(f"{hook} yields more than {MOST_RECORDS} records")
    for record in found:
        if not isinstance(record, record_type):
            hint = "put the decorator above the function" if callable(record) else ""
            raise PluginError(f"{hook} must yield {expected}, it yielded {_short(record)}", hint=hint)
    return found


def validate(records: Iterable[Any]) -> None:
    """Check the records of one plugin by themselves.

    Raises:
        PluginError: one of them cannot work; the message names it and lists everything that is wrong with it.
    """
    for record in records:
        problems = _problems(record)
        if problems:
            raise PluginError(f"{describe(record)}: {'; '.join(problems)}")


def _problems(record: Any) -> list[str]:
    match record:
        case Generator():
            return record.problems() or [*_schema_problems(record), *_example_problems(record)]
        case McpTool():
            return record.problems() or _schema_problems(record)
        case Route():
            return [] if record.path.startswith("/") else [f"the path {record.path!r} must begin with a slash"]
        case _:
            return []


def _schema_problems(tool: Generator | McpTool) -> list[str]:
    problems = []
    if tool.lane == "process" and not _can_be_imported(tool):
        problems.append(
            f"the process lane cannot import {tool.reference!r}; "
            "define the function at the top level of its module, under its own name"
        )
    models: list[type[BaseModel]] = [tool.params]
    if isinstance(tool, McpTool):
        models.append(tool.result)
    elif tool.details is not None:
        models.append(tool.details)
    for model in models:
        schema = model.model_json_schema()
        if schema.get("type") != "object" or {"oneOf", "anyOf", "allOf"} & schema.keys():
            problems.append(f"{model.__name__} must be one plain object in JSON Schema")
    return problems


def _can_be_imported(tool: Generator | McpTool) -> bool:
    module_name, _, qualified_name = tool.reference.partition(":")
    found = getattr(importlib.import_module(module_name), qualified_name, None)
    return found is tool or found is tool.function


def _example_problems(generator: Generator) -> list[str]:
    problems = []
    for example in generator.examples:
        try:
            generator.params.model_validate(dict(example.params))
        except ValidationError as error:
            problems.append(f"the example {example.title!r} is not valid: {input_error(error, generator.params)}")
    return problems


def _short(value: Any) -> str:
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) <= 80 else f"{text[:79]}…"
