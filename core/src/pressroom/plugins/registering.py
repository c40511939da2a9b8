"""Registering a plugin's hooks, and checking them before anything is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from types import MethodType, ModuleType
from typing import Any, Final

import pluggy

from pressroom import hookspecs
from pressroom.errors import PluginError
from pressroom.wire.nearest import nearest

HOOK_PREFIX: Final = "pressroom_"
"""What the names of the host's own hooks begin with."""

_MARK: Final = "pressroom_impl"


def new_manager() -> pluggy.PluginManager:
    """Return a plugin manager that knows the host's hooks, and no plugin."""
    manager = pluggy.PluginManager("pressroom")
    manager.add_hookspecs(hookspecs)
    return manager


def offered_hooks(offered: Any) -> frozenset[str]:
    """Return the names of the hooks that a plugin offers to others with `Plugin(hookspecs=…)`.

    Raises:
        PluginError: there is none, or one has a name that belongs to the host.
    """
    scratch = pluggy.PluginManager("pressroom")
    try:
        scratch.add_hookspecs(offered)
    except ValueError as error:
        hint = 'mark each of them with pluggy.HookspecMarker("pressroom")'
        raise PluginError("its hookspecs hold no hook specification", hint=hint) from error
    names = frozenset(vars(scratch.hook))
    for name in sorted(names):
        if name.startswith(HOOK_PREFIX):
            raise PluginError(
                f"it offers a hook {name}", hint=f"names with {HOOK_PREFIX} are the host's; choose another"
            )
    return names


def register(manager: pluggy.PluginManager, module: ModuleType, name: str) -> None:
    """Register the hooks of a plugin under its id.

    Raises:
        PluginError: a hook is misspelt, takes arguments that it does not get, or is not a plain function.
    """
    known = _known_hooks(manager)
    for attribute, function, options in _hook_functions(module, known):
        if options is None:
            raise PluginError(f"{attribute} is not marked as a hook", hint="put @hookimpl above it")
        hook = options.get("specname") or attribute
        _check_function(attribute, function, options)
        if hook in known:
            _check_arguments(hook, function, known[hook])
        elif hook.startswith(HOOK_PREFIX) or not options.get("optionalhook"):
            raise PluginError(f"there is no hook {hook}", hint=_did_you_mean(hook, known))
    other = manager.get_name(module)
    if other is not None:
        raise PluginError(f"its module is that of the plugin {other!r}", hint="give each plugin a module of its own")
    manager.register(module, name=name)


def unregister(manager: pluggy.PluginManager, name: str) -> None:
    """Take a plugin's hooks out again; one that is not registered is no error."""
    if manager.has_plugin(name):
        manager.unregister(name=name)


def _known_hooks(manager: pluggy.PluginManager) -> Mapping[str, tuple[str, ...]]:
    """Return the arguments of each hook that somebody has specified."""
    callers = vars(manager.hook).items()
    return {
        name: (*caller.spec.argnames, *caller.spec.kwargnames) for name, caller in callers if caller.spec is not None
    }


def _hook_functions(
    module: ModuleType, known: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Any, dict[str, Any] | None]]:
    """Yield what is marked as a hook or named like one, with the options of the mark.

    Only functions are asked for their mark: other objects of a module, such as proxies, may answer to any name.
    """
    for name, value in sorted(vars(module).items()):
        function = value.__func__ if isinstance(value, MethodType) else value
        if inspect.isfunction(function):
            options = getattr(function, _MARK, None)
            if isinstance(options, dict) or name.startswith(HOOK_PREFIX):
                yield name, value, options
        elif name in known:
            raise PluginError(f"{name} is no function", hint=f"write `def {name}(plugin)`")


def _check_function(name: str, function: Any, options: Mapping[str, Any]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(f"{name} is async", hint="hooks run once at start-up: write `def`, not `async def`")
    if options.get("wrapper") or options.get("hookwrapper"):
        raise PluginError(f"{name} is a wrapper", hint="plugins yield records of their own; they cannot wrap a hook")


def _check_arguments(hook: str, function: Any, offered: tuple[str, ...]) -> None:
    parameters = inspect.signature(function).parameters
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes = " and ".join(f"`{name}`" for name in offered)
    unknown = [name for name, one in parameters.items() if name not in offered or one.kind not in positional]
    if unknown:
        raise PluginError(
            f"{hook} takes {', '.join(str(parameters[name]) for name in unknown)}, which it is not given",
            hint=f"the hook takes {takes}, or nothing" if offered else "the hook takes nothing",
        )
    defaults = [name for name, one in parameters.items() if one.default is not one.empty]
    if defaults:
        raise PluginError(f"{hook} gives {', '.join(defaults)} a default", hint="hook arguments take no default")


def _did_you_mean(hook: str, known: Mapping[str, Any]) -> str:
    # The prefix alone would make any two names similar.
    shortened = {name.removeprefix(HOOK_PREFIX): name for name in known}
    similar = nearest(hook.removeprefix(HOOK_PREFIX), shortened)
    return f"did you mean {shortened[similar]}?" if similar else f"the hooks are {', '.join(sorted(known))}"
