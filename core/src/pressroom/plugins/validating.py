"""Validate the records of one plugin, independently of other plugins."""

from __future__ import annotations

import importlib.resources
import inspect
import json
import math
import pickle
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import click
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue

from pressroom.errors import PluginError
from pressroom.gate.failures import describe_value, one_line
from pressroom.plugins.contributions import describe, shape_problems
from pressroom.plugins.json_types import unsendable_problems
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    CallMiddleware,
    Check,
    Generator,
    IndexEntries,
    Instructions,
    Job,
    McpTool,
    Models,
    OverviewSection,
    PublishingTargets,
    RateLimit,
    Route,
    StorageKind,
    VirtualHosts,
)
from pressroom.validation.messages import input_error

Reason = tuple[str, str]
"""An error message and a hint."""


HTTP_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

RESERVED_SLUGS: Final = frozenset({"api", "static"})
"""Segments below `/tools/` that are not slugs: the catalog, and the static files of pages."""

_ASYNC: Final[Mapping[type[Any], tuple[str, ...]]] = {
    Authenticator: ("authenticate",),
    Authorizer: ("authorize",),
    Check: ("run",),
    IndexEntries: ("entries",),
    OverviewSection: ("html",),
    PublishingTargets: ("names",),
    Route: ("handler", "before_body"),
    StorageKind: ("measure", "make_room"),
    VirtualHosts: ("hosts", "handler"),
}
"""The record functions that the host awaits."""

_JOB_KIND: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)

_TYPE: Final = re.compile(r"[a-z]+(=.*)?", re.ASCII)
"""Patterns that Sanic would interpret as one of its parameter types: a number, or a path of several segments."""

_PATH: Final = re.compile(r"(/([A-Za-z0-9._~-]+|<[a-z_][a-z0-9_]*(:[^/:<>\s]+)?>))+/?|/", re.ASCII)


def validate(records: Iterable[Any]) -> None:
    """Validate the records of one plugin, independently of other plugins.

    Raises:
        PluginError: a record is invalid; the message names it and lists all its problems.
    """
    names: set[str] = set()
    for record in records:
        problems = _all_problems(record)
        if problems:
            raise PluginError(f"{_name(record)}: {'; '.join(problems)}")
        name = describe(record)
        if isinstance(record, RateLimit | click.Command | Job) and name in names:
            raise PluginError(f"{name} is offered twice", hint="give each its own name")
        if isinstance(record, Models) and any(other.startswith("models ") for other in names):
            raise PluginError("models are offered twice", hint="put all tables into one MetaData")
        names.add(name)


def _name(record: Any) -> str:
    try:
        return describe(record)
    except Exception:  # noqa: BLE001 - what is wrong with the record may be its name
        return type(record).__name__


def _all_problems(record: Any) -> list[str]:
    try:
        return list(shape_problems(record)) or list(_problems(record))
    except Exception as error:  # noqa: BLE001 - models and validators are the plugin's
        return [f"it cannot be checked, {one_line(error)}"]


def _problems(record: Any) -> Iterator[str]:
    match record:
        case Generator() | McpTool():
            declared = [*record.problems(), *_own_problems(record)]
            yield from declared or _deeper_problems(record)
        case Instructions():
            yield from record.problems()
        case Route():
            yield from _async_problems(record)
            yield from _route_problems(record)
        case CallMiddleware(enter=None, exit=None):
            yield "it needs enter, exit or both"
        case Models():
            yield from _models_problems(record)
        case Job():
            yield from _job_problems(record)
        case click.Command() if not record.name:
            yield "it needs a name"
        case _:
            yield from _async_problems(record)


def _own_problems(tool: Generator | McpTool) -> Iterator[str]:
    if not math.isfinite(tool.timeout):
        yield f"timeout must be a number of seconds (got {tool.timeout})"
    if isinstance(tool, Generator) and tool.slug in RESERVED_SLUGS:
        yield f"slug {tool.slug!r} is part of the host's own URLs; choose another"
    if tool.memory_mib < 1:
        yield f"memory_mib must be at least 1 (got {tool.memory_mib})"


def _deeper_problems(tool: Generator | McpTool) -> Iterator[str]:
    """Yield problems that can only be found in a valid declaration."""
    if tool.executor == "process":
        yield from _process_executor_problems(tool)
    yield from _schema_problems(tool.params, "validation") or _unsendable(tool.params)
    output = tool.result if isinstance(tool, McpTool) else tool.details
    if output is not None:
        yield from _schema_problems(output, "serialization")
    if isinstance(tool, Generator):
        yield from _example_problems(tool)


def _process_executor_problems(tool: Generator | McpTool) -> Iterator[str]:
    module_name, _, name = tool.reference.partition(":")
    attribute = getattr(importlib.import_module(module_name), name, None) if module_name else None
    if getattr(attribute, "function", attribute) is not tool.function:
        yield (
            f"worker processes cannot import {tool.reference!r}; define the function at the top level of its module, "
            "under its own name, and pass its reference where it replaces another one"
        )
    try:
        pickle.dumps(tool.params)
    except Exception:  # noqa: BLE001 - pickle reports in several ways
        yield f"worker processes cannot import {tool.params.__qualname__!r}; define it at the top level of its module"


class _SchemaGenerator(GenerateJsonSchema):
    """Generates a schema, and records whether it was customised by functions from outside pydantic."""

    own_functions = False

    def generate_inner(self, schema: Any) -> JsonSchemaValue:
        metadata = schema.get("metadata") or {}
        functions = (
            *metadata.get("pydantic_js_functions", ()),
            *metadata.get("pydantic_js_annotation_functions", ()),
            metadata.get("pydantic_js_extra"),
        )
        for function in functions:
            module = getattr(getattr(function, "func", function), "__module__", "") or ""
            if callable(function) and module.partition(".")[0] != "pydantic":
                self.own_functions = True
        return super().generate_inner(schema)


@lru_cache(maxsize=2048)
def _schema(model: type[BaseModel], mode: JsonSchemaMode) -> tuple[dict[str, Any], bool]:
    """Return the JSON Schema of a model, and whether it is constant: not if a function of the model takes part in it.

    Cached, since generating it takes milliseconds.
    """
    generators: list[_SchemaGenerator] = []

    def generator(**options: Any) -> _SchemaGenerator:
        generators.append(_SchemaGenerator(**options))
        return generators[0]

    schema = model.model_json_schema(schema_generator=generator, mode=mode)  # type: ignore[arg-type] # it is called, no more
    # A model with its own `model_json_schema` may not need the generator.
    return schema, bool(generators) and not any(generator.own_functions for generator in generators)


def model_schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return the current JSON Schema of a model. Functions of a plugin can add contributions of other plugins to it."""
    schema, fixed = _schema(model, mode)
    return dict(schema) if fixed else model.model_json_schema(mode=mode)


@lru_cache(maxsize=2048)
def _schema_problems(model: type[BaseModel], mode: JsonSchemaMode) -> tuple[str, ...]:
    """Return the problems of a model's schema."""
    try:
        schema, _ = _schema(model, mode)
        json.dumps(schema, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - pydantic, or whatever the model adds to its schema
        return (f"{model.__name__} has no JSON Schema, {one_line(error)}",)
    if _refers_to_itself(schema):
        return (f"{model.__name__} contains itself; nest models to a fixed depth",)
    if schema.get("type") != "object" or {"oneOf", "anyOf", "allOf"} & schema.keys():
        return (f"{model.__name__} must be one plain object in JSON Schema, without oneOf, anyOf or allOf at the root",)
    return ()


def _unsendable(model: type[BaseModel]) -> Iterator[str]:
    return unsendable_problems(model, _schema(model, "validation")[0])


def _refers_to_itself(schema: dict[str, Any]) -> bool:
    references = {name: set(_references(definition)) for name, definition in schema.get("$defs", {}).items()}
    while leaves := [name for name, inner in references.items() if not inner & references.keys()]:
        for name in leaves:
            del references[name]
    return bool(references)


def _references(node: Any) -> Iterator[str]:
    """Yield the names of the definitions that part of a schema refers to."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from _references(child)


def _example_problems(generator: Generator) -> Iterator[str]:
    for example in generator.examples:
        try:
            generator.params.model_validate(dict(example.params))
            json.dumps(dict(example.params), allow_nan=False)
        except ValidationError as error:
            yield f"the example {example.title!r} is not valid: {input_error(error, generator.params)}"
        except (TypeError, ValueError) as error:
            yield f"the example {example.title!r} is not JSON: {error}"


def _models_problems(models: Models) -> Iterator[str]:
    from sqlalchemy import MetaData  # noqa: PLC0415 - takes a while, and many commands see no tables

    if not isinstance(models.metadata, MetaData):
        yield f"metadata must be a sqlalchemy.MetaData, not {describe_value(models.metadata)}"
    versions = importlib.resources.files(models.migrations) / "versions"
    if not versions.is_dir():
        yield f"the package {models.migrations} has no folder versions; put the Alembic revisions there"


def _async_problems(record: Any) -> Iterator[str]:
    """Yield awaited functions that are not defined as async and not annotated as returning an awaitable."""
    for kind, names in _ASYNC.items():
        if isinstance(record, kind):
            yield from (f"{name} must be an async function" for name in names if _is_plain(getattr(record, name)))


def _is_plain(function: Any) -> bool:
    is_function = inspect.isfunction(function) or inspect.ismethod(function)
    if not is_function or inspect.iscoroutinefunction(function) or function.__name__ == "<lambda>":
        return False
    returned = str(getattr(function, "__annotations__", {}).get("return", ""))
    return not any(word in returned for word in ("Awaitable", "Coroutine", "Future", "Task"))


def _job_problems(job: Job) -> Iterator[str]:
    if not _JOB_KIND.fullmatch(job.kind):
        yield f"the kind {job.kind!r} must be 1 to 64 lower-case letters, digits, dots, hyphens and underscores"
    if inspect.isroutine(job.run) and not inspect.iscoroutinefunction(job.run):
        yield "run must be an async function"
    if job.attempts < 1:
        yield f"attempts must be at least 1 (got {job.attempts})"
    for name, seconds in (("lease", job.lease), ("timeout", job.timeout), ("every", job.every)):
        if seconds is not None and not 1 <= seconds < math.inf:
            yield f"{name} must be at least one second (got {seconds})"


def _route_problems(route: Route) -> Iterator[str]:
    if not _PATH.fullmatch(route.path):
        yield f"the path {route.path!r} must begin with a slash, and consist of plain segments and <name> segments"
        return
    for segment in route.path.split("/"):
        pattern = segment.removesuffix(">").partition(":")[2]
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"the pattern {pattern!r} of the path is not a regular expression: {error}"
        if _TYPE.fullmatch(pattern):
            yield f"the pattern {pattern!r} of the path matches only itself; write one such as [0-9]+"
    if route.page is not None and route.before_body is not None:
        yield "before_body is not for pages of the dashboard, whose bodies the host checks itself"
    if not route.methods:
        yield "methods must name at least one HTTP method"
    for method in route.methods:
        if method.upper() not in HTTP_METHODS:
            yield f"{method!r} is not an HTTP method; known are {', '.join(sorted(HTTP_METHODS))}"
