"""Registering a plugin's hooks, and checking them before anything is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pluggy

from pressroom.errors import PluginError
from pressroom.wire.nearest import nearest

HOOK_PREFIX = "pressroom_"


def register(manager: pluggy.PluginManager, module: ModuleType, name: str) -> None:
    """Register the hooks of a plugin under its id.

    Raises:
        PluginError: a hook is misspelt, takes arguments that it does not get, or is not a plain function.
    """
    for hook, function, marked in _hook_functions(module):
        if not marked:
            raise PluginError(f"{hook} is not marked as a hook", hint="put @hookimpl above it")
        _check_function(hook, function)
    try:
        manager.register(module, name=name)
    except pluggy.PluginValidationError as error:
        raise PluginError(_one_line(error), hint="a hook takes `plugin`, or nothing") from error
    for caller in manager.get_hookcallers(module) or ():
        if not caller.has_spec():
            known = sorted(hook for hook in vars(manager.hook) if getattr(manager.hook, hook).has_spec())
            similar = nearest(caller.name, known)
            raise PluginError(
                f"there is no hook {caller.name}",
                hint=f"did you mean {similar}?" if similar else f"the hooks are {', '.join(known)}",
            )


def unregister(manager: pluggy.PluginManager, name: str) -> None:
    """Take a plugin's hooks out again; one that is not registered is no error."""
    if manager.has_plugin(name):
        manager.unregister(name=name)


def _hook_functions(module: ModuleType) -> Iterator[tuple[str, Any, bool]]:
    for name, value in sorted(vars(module).items()):
        options = getattr(value, f"{HOOK_PREFIX}impl", None)
        if isinstance(options, dict):
            yield name, value, True
        elif name.startswith(HOOK_PREFIX) and inspect.isfunction(value):
            yield name, value, False


def _check_function(hook: str, function: Any) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(f"{hook} is async", hint="hooks run once at start-up: write `def`, not `async def`")
    defaults = [
        name for name, value in inspect.signature(function).parameters.items() if value.default is not value.empty
    ]
    if defaults:
        raise PluginError(f"{hook} gives {', '.join(defaults)} a default", hint="hook arguments take no default")
    options = getattr(function, f"{HOOK_PREFIX}impl")
    if options.get("wrapper") or options.get("hookwrapper"):
        raise PluginError(f"{hook} is a wrapper", hint="plugins yield records of their own; they cannot wrap a hook")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
