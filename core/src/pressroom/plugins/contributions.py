"""The records that plugins contribute: collect them, check their types, and look them up.

Python does not enforce the annotations of a dataclass. Without these checks, a rate limit given as text or a title
given as a number would fail only when a page lists all tools.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar, Union, cast

import click
import pluggy

from pressroom.errors import PluginError
from pressroom.gate.failures import describe_value
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    CacheRule,
    CallMiddleware,
    Check,
    Generator,
    IndexEntries,
    Instructions,
    Job,
    Lifespan,
    McpTool,
    Models,
    Observer,
    OverviewSection,
    PluginContext,
    PublishingTargets,
    RateLimit,
    Route,
    SharedKeys,
    StorageKind,
    VirtualHosts,
)

Record = TypeVar("Record")

RECORD_TYPES: Final[Mapping[str, type[Any]]] = MappingProxyType(
    {
        "pressroom_generators": Generator,
        "pressroom_mcp_tools": McpTool,
        "pressroom_mcp_instructions": Instructions,
        "pressroom_authenticators": Authenticator,
        "pressroom_authorizers": Authorizer,
        "pressroom_rate_limits": RateLimit,
        "pressroom_cache_rules": CacheRule,
        "pressroom_branding": Brander,
        "pressroom_backends": Backend,
        "pressroom_routes": Route,
        "pressroom_virtual_hosts": VirtualHosts,
        "pressroom_models": Models,
        "pressroom_shared_keys": SharedKeys,
        "pressroom_jobs": Job,
        "pressroom_storage": StorageKind,
        "pressroom_publishing_targets": PublishingTargets,
        "pressroom_overview": OverviewSection,
        "pressroom_index_entries": IndexEntries,
        "pressroom_call_middleware": CallMiddleware,
        "pressroom_observers": Observer,
        "pressroom_checks": Check,
        "pressroom_commands": click.Command,
        "pressroom_lifespan": Lifespan,
    }
)
"""The host's hooks and the record type of each."""


@dataclass(frozen=True, slots=True)
class Contribution(Generic[Record]):
    """A record and the plugin that contributed it. `wrapped_by` lists the plugins whose wrappers changed the record."""

    plugin: str
    record: Record
    wrapped_by: tuple[str, ...] = ()


class Contributions:
    """All contributions of the active plugins, ordered by plugin ID."""

    def __init__(self, contributions: Iterable[Contribution[Any]] = ()) -> None:
        self._all = tuple(contributions)

    def of(self, record_type: type[Record]) -> tuple[Contribution[Record], ...]:
        """Return the contributions of a record type."""
        return tuple(
            cast("Contribution[Record]", contribution)
            for contribution in self._all
            if isinstance(contribution.record, record_type)
        )

    def without(self, plugin: str) -> Contributions:
        """Return the contributions of all plugins except one."""
        return Contributions(contribution for contribution in self._all if contribution.plugin != plugin)


def describe(record: Any) -> str:
    """Return the display name of a record for lists: its kind and its name."""
    if isinstance(record, Backend):
        return f"{record.kind} backend {record.name}"
    kind, name = next((kind, name) for type_, (kind, name) in _NAMES.items() if isinstance(record, type_))
    return f"{kind} {getattr(record, name)}"


_NAMES: Final[Mapping[type[Any], tuple[str, str]]] = MappingProxyType(
    {
        Generator: ("generator", "slug"),
        McpTool: ("tool", "name"),
        Instructions: ("instructions", "beginning"),
        Authenticator: ("authenticator", "name"),
        Authorizer: ("authorizer", "name"),
        RateLimit: ("rate limit", "name"),
        CacheRule: ("cache rule", "name"),
        Brander: ("brander", "name"),
        Route: ("route", "path"),
        VirtualHosts: ("virtual hosts", "name"),
        Models: ("models", "migrations"),
        SharedKeys: ("shared keys", "name"),
        Job: ("job", "kind"),
        StorageKind: ("storage", "name"),
        PublishingTargets: ("publishing targets", "name"),
        OverviewSection: ("overview section", "name"),
        IndexEntries: ("index", "section"),
        CallMiddleware: ("middleware", "name"),
        Observer: ("observer", "name"),
        Check: ("check", "name"),
        click.Command: ("command", "name"),
        Lifespan: ("lifespan", "name"),
    }
)
"""The kind of each record type, and the attribute that holds its name."""


def claims(record: Any) -> tuple[str, ...]:
    """Return the exclusive claims of a record. Two plugins with the same claim are in conflict.

    Slugs, MCP names and aliases share one namespace: `[tools.<name>]` and plans refer to tools by all of them, clients
    by the last two.
    """
    match record:
        case Generator():
            names = {record.slug, record.mcp.name} if record.mcp else {record.slug}
            return tuple(f"the tool name {name}" for name in sorted(names))
        case McpTool():
            return tuple(f"the tool name {name}" for name in sorted({record.name, *record.aliases}))
        case Route():
            methods = {method.upper() for method in record.methods}
            if "GET" in methods:
                methods.add("HEAD")
            path = re.sub(r"<[^<>]*+>", "<…>", record.path.rstrip("/") or "/")
            return tuple(f"the route {method} {path}" for method in sorted(methods))
        case Backend():
            return (f"the {record.kind} backend {record.name}",)
        case Models():
            return (f"the {describe(record)}", *(f"the table {name}" for name in sorted(record.metadata.tables)))
        case Authenticator() | Brander() | CallMiddleware() | Job() | SharedKeys() | StorageKind() | VirtualHosts():
            return (f"the {describe(record)}",)
        case _:
            return ()


def claims_of(unique: Mapping[str, str], hook: str, record: Any) -> tuple[str, ...]:
    """Return the claims of a record of any hook. `unique` maps hooks offered by plugins to the attribute with the name.

    Raises:
        PluginError: that attribute is not a non-empty string.
    """
    if hook in RECORD_TYPES:
        return claims(record)
    if hook not in unique:
        return ()
    name = getattr(record, unique[hook], None)
    if not isinstance(name, str) or not name:
        raise PluginError(f"{hook}: {unique[hook]} must be a text that is not empty, not {describe_value(name)}")
    return (f"the name {name} in {hook}",)


_SDK: Final = "pressroom.sdk"


def shape_problems(record: Any, path: str = "") -> Iterator[str]:
    """Yield a phrase for each field, including those of nested records, whose value does not match its type."""
    kind = _sdk_type(record)
    if kind is None:
        return
    for name, fits, annotation in _fields(kind):
        value = getattr(record, name)
        if not fits(value):
            yield f"{path}{name} must be {annotation}, not {describe_value(value)}"
            continue
        for member in value if isinstance(value, tuple) else (value,):
            if _sdk_type(member) is not None:
                yield from shape_problems(member, f"{path}{name}.")


_Fits = Callable[[Any], bool]
"""Checks whether a value matches a type hint. An `int` matches `float`; a `bool` matches neither number type."""


def _fitting(hint: Any) -> _Fits:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda _value: True
    if origin in (Union, types.UnionType):
        choices = [_fitting(argument) for argument in arguments]
        return lambda value: any(fits(value) for fits in choices)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in arguments
    if origin is tuple:
        member = _fitting(arguments[0])
        return lambda value: isinstance(value, tuple) and all(map(member, value))
    if origin is type:
        return lambda value: isinstance(value, type) and issubclass(value, arguments[0])
    if origin is collections.abc.Callable:
        return callable
    if hint in (int, float):
        numbers = int if hint is int else (int, float)
        return lambda value: isinstance(value, numbers) and not isinstance(value, bool)
    kind = Mapping if origin is collections.abc.Mapping else hint
    return lambda value: isinstance(value, kind)


def _sdk_type(record: Any) -> type | None:
    """Return the SDK dataclass of a record, which can be a base class of its type, or `None`."""
    kind: type = type(record)
    return _sdk_base(kind)


@lru_cache(maxsize=1024)
def _sdk_base(kind: type) -> type | None:
    return next(
        (base for base in kind.__mro__ if base.__module__.startswith(_SDK) and dataclasses.is_dataclass(base)),
        None,
    )


@cache
def _fields(kind: type) -> Sequence[tuple[str, _Fits, str]]:
    """Return the name of each field, the check of its value, and its type as worded in errors."""
    hints = typing.get_type_hints(kind)
    return [
        (field.name, _fitting(hints[field.name]), _worded(hints[field.name], field.type))
        for field in dataclasses.fields(kind)
    ]


def _worded(hint: Any, annotation: Any) -> str:
    choices = typing.get_args(hint) if typing.get_origin(hint) is Literal else ()
    if choices:
        return f"one of {', '.join(choices)}"
    if typing.get_origin(hint) is type:
        return f"a class derived from {typing.get_args(hint)[0].__name__}"
    return str(annotation)


MAX_RECORDS: Final = 1000
"""Maximum records that a hook of one plugin can yield; guards against endless iterators."""

_DECORATORS: Final = {
    "pressroom_generators": "@generator(…)",
    "pressroom_mcp_tools": "@mcp_tool(…)",
    "pressroom_commands": "@click.command()",
}


DECORATED: Final[Mapping[str, type[Generator | McpTool]]] = MappingProxyType(
    {"pressroom_generators": Generator, "pressroom_mcp_tools": McpTool}
)
"""Hooks that a plugin can omit. The decorated tools in its module are then used instead."""


def decorated_in(module: types.ModuleType, record_type: type[Any]) -> list[Any]:
    """Return the tools of this type with public names in a module that its own package defines."""
    package = module.__name__.partition(".")[0]
    tools = {
        id(value): value
        for name, value in vars(module).items()
        if isinstance(value, record_type)
        and not name.startswith("_")
        and value.reference.partition(":")[0].partition(".")[0] == package
    }
    return list(tools.values())


def collect(
    manager: pluggy.PluginManager,
    context: PluginContext,
    hooks: Mapping[str, type[Any]] = RECORD_TYPES,
    module: types.ModuleType | None = None,
) -> dict[str, list[Any]]:
    """Call the hooks of one plugin and return the records of each. `hooks` maps each hook to its record type.

    For hooks of `DECORATED` that the plugin does not implement, return the decorated tools in its `module`.

    Raises:
        PluginError: a hook did not return an iterable of its record type.
        Exception: an exception raised by a hook.
    """
    other_plugins = [plugin for name, plugin in manager.list_name_plugin() if name != context.id]
    records: dict[str, list[Any]] = {}
    for hook, record_type in hooks.items():
        implementations = _implementations(manager, hook, context.id)
        if not implementations:
            tools = decorated_in(module, record_type) if module is not None and hook in DECORATED else []
            records[hook] = tools
            continue
        results = manager.subset_hook_caller(hook, other_plugins)(plugin=context)
        if len(results) < implementations:
            # pluggy omits results that are None, which usually means a missing `return`.
            raise PluginError(f"{hook} must return {_expected(record_type)}, it returned None", hint="return a list")
        records[hook] = [record for result in results for record in records_of(hook, result, record_type)]
    return records


def _implementations(manager: pluggy.PluginManager, hook: str, plugin: str) -> int:
    implementations = getattr(manager.hook, hook).get_hookimpls()
    return sum(1 for implementation in implementations if implementation.plugin_name == plugin)


def records_of(hook: str, result: Any, record_type: type, *, verb: str = "yield") -> list[Any]:
    """Return the records in a hook's result. `hook` and `verb` are the words for it in error messages.

    Raises:
        PluginError: the result is not an iterable of that type, or has more than `MAX_RECORDS`.
    """
    expected = _expected(record_type)
    if inspect.iscoroutine(result):
        result.close()
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, dict)):
        raise PluginError(f"{hook} must return {expected}, it returned {describe_value(result)}", hint="return a list")
    records = list(islice(result, MAX_RECORDS + 1))
    if len(records) > MAX_RECORDS:
        raise PluginError(f"{hook} {verb}s more than {MAX_RECORDS} records", hint="a hook must end")
    for record in records:
        if not isinstance(record, record_type):
            problem = f"{hook} must {verb} {expected}, it {verb}ed {describe_value(record)}"
            raise PluginError(problem, hint=_hint(hook, record))
    return records


def _expected(record_type: type) -> str:
    return f"an iterable of {record_type.__name__}"


def _hint(hook: str, record: Any) -> str:
    right = next((name for name, kind in RECORD_TYPES.items() if isinstance(record, kind)), None)
    if right is not None:
        return f"yield it from {right}"
    if hook in _DECORATORS and inspect.isroutine(record):
        return f"put {_DECORATORS[hook]} above the function"
    return ""
