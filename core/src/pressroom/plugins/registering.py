"""Import plugin modules and register their hooks, undoing both on failure.

The record of a failed plugin states the problem and how to fix it.
"""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MethodType, ModuleType, SimpleNamespace
from typing import Any, Final, get_args, get_type_hints

import pluggy
import structlog

from pressroom import hookspecs, sdk
from pressroom.errors import PluginError, PressroomError
from pressroom.gate import PluginFailed
from pressroom.gate.failures import one_line, squeezed
from pressroom.plugins.contributions import DECORATED, RECORD_TYPES, decorated_in, shape_problems
from pressroom.plugins.discovery import Candidate, Phase, PluginRecord, Status, editable_folder
from pressroom.plugins.folder import NOTHING_OFFERED, OFFER_SOMETHING, make_importable
from pressroom.plugins.validating import Reason
from pressroom.plugins.wrapping import ARGUMENTS, Wrapper, check_wrapper, is_wrapper
from pressroom.sdk.deprecation import Deprecation, uses_of, watch
from pressroom.sdk.plain_functions import in_words
from pressroom.sdk.plugin import API, FIRST_API, Plugin
from pressroom.validation.echo import nearest

log = structlog.get_logger()

ACCEPTED_APIS: Final = frozenset({API, str(int(API) - 1)} - {"0"})
"""The plugin API versions that this host accepts: the current and the previous one."""


class IncompatibleApi(PluginError):
    """The plugin is written for an API version that this host does not support."""


def import_plugin(candidate: Candidate) -> tuple[ModuleType, Plugin]:
    """Import a plugin's module, and return it with its `PLUGIN` or the declaration implied by its contents.

    If this fails, modules of the plugin's package imported here are removed from `sys.modules`. Later failures do not
    remove them, since another plugin of the same package may already use them.

    Raises:
        IncompatibleApi: the plugin is made for another API version.
        PluginError: the module offers nothing, or `PLUGIN` does not match the entry point.
        BaseException: any exception of the module during its import.
    """
    before = set(sys.modules)
    module_name, _, attribute = candidate.module.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise PluginError(
            f"its entry point {candidate.module!r} names no module",
            hint=f'the package must say {candidate.id} = "package.module"; tell its authors',
        )
    watch(module_name, candidate.id, _report_deprecation)
    if candidate.folder is not None:
        make_importable(candidate.folder)
    try:
        module = importlib.import_module(module_name)
        return module, _declaration(module, attribute or "PLUGIN", candidate)
    except BaseException:
        _forget(module_name, before)
        raise


def warnings_of(record: PluginRecord, plugin: Plugin | None) -> PluginRecord:
    """Return the record with warnings for the plugin's authors about uses that a later host will not support."""
    messages = [deprecation.message for deprecation in uses_of(record.id)]
    if plugin is not None and not plugin.api:
        declaration = f"PLUGIN = {_declared(record.id, FIRST_API)}"
        messages.insert(0, f"it does not say which plugin API it is written for: say so with {declaration}")
    return replace(record, warnings=tuple(messages))


def _report_deprecation(plugin: str, deprecation: Deprecation) -> None:
    log.warning(
        "a plugin uses what is deprecated",
        plugin=plugin,
        deprecated=deprecation.what,
        instead=deprecation.instead,
        ends_with_api=deprecation.ends,
    )


def _declared(id_: str, api: str = API) -> str:
    return f'Plugin(id="{id_}", api="{api}", title=…, summary=…)'


def _declaration(module: ModuleType, attribute: str, candidate: Candidate) -> Plugin:
    plugin = getattr(module, attribute, None)
    if plugin is None and attribute == "PLUGIN":
        plugin = _implied(module, candidate)
    if not isinstance(plugin, Plugin):
        raise PluginError(
            f"{candidate.module.partition(':')[0]} has no {attribute}",
            hint=f"add {attribute} = {_declared(candidate.id)} beside the hooks",
        )
    problems = list(shape_problems(plugin))
    if problems:
        raise PluginError(f"{attribute}: {'; '.join(problems)}", hint=f"correct {attribute}, or tell the authors")
    if candidate.folder is not None and not plugin.api:
        # A one-file plugin is written for the server that it is on, so it uses the current API.
        plugin = replace(plugin, api=API)
    if plugin.id != candidate.id and candidate.folder is not None:
        raise PluginError(
            f"its {attribute} has the id {plugin.id!r}, which cannot be read from {candidate.distribution} without "
            "running it",
            hint=f'write id="{plugin.id}" as a plain string in the call of Plugin, or name the file {plugin.id}.py',
        )
    if plugin.id != candidate.id:
        raise PluginError(
            f"its {attribute} has the id {plugin.id!r}, its entry point is named {candidate.id!r}",
            hint="give both the same name",
        )
    if plugin.written_for not in ACCEPTED_APIS:
        raise IncompatibleApi(
            f"it is written for plugin API {plugin.written_for}, this host offers {API}",
            hint="upgrade pressroom, or install an older version of the plugin",
        )
    return plugin


def _implied(module: ModuleType, candidate: Candidate) -> Plugin:
    """Return the declaration of a module without `PLUGIN` that has hooks or decorated tools.

    Raises:
        PluginError: the module offers nothing, or its `Plugin` has another name.
    """
    name = next((name for name, value in vars(module).items() if isinstance(value, Plugin)), "")
    if name:
        raise PluginError(f"its Plugin is named {name}", hint="name it PLUGIN")
    hooks = [name for name, value in vars(module).items() if inspect.isfunction(value) and _is_hook(name, value)]
    if not hooks and not any(decorated_in(module, kind) for kind in DECORATED.values()):
        if candidate.folder is not None:
            raise PluginError(f"{candidate.distribution} {NOTHING_OFFERED}", hint=OFFER_SOMETHING)
        hint = f"put @mcp_tool or @generator above a function, or add PLUGIN = {_declared(candidate.id)}"
        raise PluginError(f"{module.__name__} {NOTHING_OFFERED}", hint=hint)
    title, documented = in_words(candidate.id), module.__doc__ if isinstance(module.__doc__, str) else ""
    summary = squeezed(inspect.cleandoc(documented).partition("\n\n")[0]) or title
    return Plugin(id=candidate.id, title=title, summary=summary)


def _forget(module_name: str, before: set[str]) -> None:
    package = module_name.partition(".")[0]
    for name in set(sys.modules) - before:
        if name == package or name.startswith(f"{package}."):
            del sys.modules[name]


HOOK_PREFIX: Final = "pressroom_"
"""The prefix of the host's own hooks."""

_MARK: Final = "pressroom_impl"


class _PluginManager(pluggy.PluginManager):
    """Ignores wrappers, which `pressroom.plugins.wrapping` runs: pluggy would run all in one call, failing together."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        # Only functions can be hooks. pluggy inspects every other name of a module at length before it skips it.
        if isinstance(plugin, ModuleType) and not inspect.isroutine(vars(plugin).get(name)):
            return None
        options = super().parse_hookimpl_opts(plugin, name)
        return None if is_wrapper(options) else options


def new_manager() -> pluggy.PluginManager:
    """Return a plugin manager with the host's hook specifications and without plugins."""
    manager = _PluginManager("pressroom")
    manager.add_hookspecs(hookspecs)
    return manager


def offered_hooks(offered: Any) -> dict[str, type[Any]]:
    """Return the hooks that a plugin offers with `Plugin(hookspecs=…)`, each with the type of its records.

    The type is taken from the return annotation, `Iterable[SomeRecord]`, and is `object` without one.

    Raises:
        PluginError: there are no hook specifications, one has the name of a host hook, or takes other arguments than
            `plugin`.
    """
    scratch = pluggy.PluginManager("pressroom")
    try:
        scratch.add_hookspecs(offered)
    except ValueError as error:
        hint = 'mark each of them with pluggy.HookspecMarker("pressroom")'
        raise PluginError("its hookspecs contain no hook specification", hint=hint) from error
    hooks = {}
    for name in sorted(vars(scratch.hook)):
        if name in RECORD_TYPES:
            raise PluginError(f"it offers a hook {name}", hint="the host has a hook of that name; choose another")
        further = set(getattr(scratch.hook, name).spec.argnames) - {"plugin"}
        if further:
            raise PluginError(
                f"its hook {name} takes {', '.join(sorted(further))}", hint="a hook takes `plugin`, or nothing"
            )
        hooks[name] = _yielded_type(getattr(offered, name))
    return hooks


def _yielded_type(specification: Any) -> type[Any]:
    # Only this annotation is read: that of `plugin`, and often `Iterable`, are imported for type checkers alone.
    names = {name: getattr(collections.abc, name) for name in collections.abc.__all__}
    try:
        written = SimpleNamespace(__annotations__={"return": specification.__annotations__.get("return")})
        returned = get_type_hints(written, {**names, **specification.__globals__}).get("return")
    except (NameError, TypeError, AttributeError):
        return object
    arguments = get_args(returned)
    return arguments[0] if len(arguments) == 1 and isinstance(arguments[0], type) else object


def register(manager: pluggy.PluginManager, module: ModuleType, name: str) -> tuple[Wrapper, ...]:
    """Register a plugin's hooks under its ID. Return its wrappers, which are not registered with the manager.

    Raises:
        PluginError: a hook is misspelt, takes unsupported arguments, or is not a plain function; or the module is
            already registered for another plugin.
    """
    known = _known_hooks(manager)
    wrappers = []
    for attribute, function, options in _hook_functions(module, known):
        if options is None:
            raise PluginError(f"{attribute} is not marked as a hook", hint="put @hookimpl above it")
        hook = options.get("specname") or attribute
        _check_function(attribute, function)
        if hook in known and is_wrapper(options):
            check_wrapper(hook, function, options)
            _check_arguments(hook, function, ARGUMENTS)
            wrappers.append(Wrapper(hook, function))
        elif hook in known:
            _check_arguments(hook, function, known[hook])
        elif not options.get("optionalhook") or _similar(hook, RECORD_TYPES):
            raise PluginError(f"there is no hook {hook}", hint=_did_you_mean(hook, known))
    other_id = manager.get_name(module)
    if other_id is not None:
        raise PluginError(f"its module is that of the plugin {other_id!r}", hint="give each plugin a module of its own")
    manager.register(module, name=name)
    return tuple(wrappers)


def unregister(manager: pluggy.PluginManager, name: str) -> None:
    """Unregister a plugin's hooks. Does nothing if it is not registered."""
    if manager.has_plugin(name):
        manager.unregister(name=name)


def _known_hooks(manager: pluggy.PluginManager) -> Mapping[str, tuple[str, ...]]:
    """Return the arguments of each specified hook."""
    callers = vars(manager.hook).items()
    return {
        name: (*caller.spec.argnames, *caller.spec.kwargnames) for name, caller in callers if caller.spec is not None
    }


def _hook_functions(
    module: ModuleType, known: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Any, dict[str, Any] | None]]:
    """Yield functions that are marked as hooks or named like them, with the options of the mark or `None`.

    Only functions are inspected for the mark, since other objects, such as proxies, can have arbitrary attributes.
    """
    for name, value in sorted(vars(module).items()):
        function = value.__func__ if isinstance(value, MethodType) else value
        if inspect.isfunction(function):
            if _is_hook(name, function):
                yield name, value, getattr(function, _MARK, None)
        elif name in known:
            raise PluginError(f"{name} is not a function", hint=f"write `def {name}(plugin)`")


def _is_hook(name: str, function: Any) -> bool:
    return name.startswith(HOOK_PREFIX) or isinstance(getattr(function, _MARK, None), dict)


def _check_function(name: str, function: Any) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(f"{name} is async", hint="hooks run once at start-up: write `def`, not `async def`")


def _check_arguments(hook: str, function: Any, offered: tuple[str, ...]) -> None:
    parameters = inspect.signature(function).parameters
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    takes = " and ".join(f"`{name}`" for name in offered)
    unknown = [
        name for name, parameter in parameters.items() if name not in offered or parameter.kind not in positional
    ]
    if unknown:
        raise PluginError(
            f"{hook} takes {', '.join(str(parameters[name]) for name in unknown)}, which it is not given",
            hint=f"the hook takes {takes}, or nothing" if offered else "the hook takes nothing",
        )
    defaults = [name for name, parameter in parameters.items() if parameter.default is not parameter.empty]
    if defaults:
        raise PluginError(f"{hook} gives {', '.join(defaults)} a default", hint="hook arguments take no default")


def _did_you_mean(hook: str, known: Mapping[str, Any]) -> str:
    similar = _similar(hook, known)
    return f"did you mean {similar}?" if similar else f"the hooks are {', '.join(sorted(known))}"


def _similar(hook: str, known: Mapping[str, Any]) -> str | None:
    # Without removing the prefix, any two names would look similar.
    shortened = {name.removeprefix(HOOK_PREFIX): name for name in known}
    similar = nearest(hook.removeprefix(HOOK_PREFIX), shortened)
    return shortened[similar] if similar else None


_NOT_IN_SDK: Final = re.compile(r"cannot import name '(\w+)' from")

_REPORT: Final = "report it to the authors of {distribution}, or set enabled = false in [plugins.{id}]"

_CORRECT: Final = "correct {distribution} in {folder}, or set enabled = false in [plugins.{id}]"

_HINTS: Final[Mapping[Phase, str]] = {
    "compatible": "install another version of {distribution}",
    "import": "reinstall or upgrade {distribution} with all that it needs, or set enabled = false in [plugins.{id}]",
    "config": "correct [plugins.{id}.config]; `pressroom config show --origin` says where each value comes from",
    "register": _REPORT,
    "collect": _REPORT,
    "validate": _REPORT,
    "wrap": _REPORT,
    "lifespan": "see the log for the details, then restart; or set enabled = false in [plugins.{id}]",
}


def excluded(record: PluginRecord, status: Status, phase: Phase, reason: Reason) -> PluginRecord:
    """Return the record of a plugin that is not used, without contributions."""
    error, hint = reason
    return replace(record, status=status, phase=phase, error=error, hint=hint, contributes=())


def failed(record: PluginRecord, status: Status, phase: Phase, error: BaseException) -> PluginRecord:
    """Return the record of a plugin that raised an error in a phase, without contributions."""
    timed_out = isinstance(error, PluginFailed) and error.reason != "failed"
    if isinstance(error, PluginFailed) and not timed_out:
        error = error.cause
    if isinstance(error, IncompatibleApi):
        status, phase = "incompatible", "compatible"
    error_hint = getattr(error, "hint", "") if isinstance(error, PressroomError) else _name_hint(error)
    folder = record.folder or editable_folder(record.distribution)
    # With the source at hand, the operator is probably the author.
    advice = _CORRECT if folder and phase not in ("compatible", "config") else _HINTS.get(phase, _REPORT)
    names = {"id": record.id, "distribution": record.distribution, "folder": folder}
    hint = squeezed(str(error_hint)) or advice.format_map(names)
    return excluded(record, status, phase, (one_line(error, record.module), hint))


def _name_hint(error: BaseException) -> str:
    """Return a hint with the intended SDK name for a failed import from the SDK, otherwise an empty string."""
    match = _NOT_IN_SDK.match(str(error)) if isinstance(error, ImportError) and error.name == sdk.__name__ else None
    similar = nearest(match[1], sdk.__all__) if match else None
    return f"did you mean {similar}? The names are in the reference of the SDK" if similar else ""
