"""Importing a plugin's module and registering its hooks, and undoing both where that fails.

The record of a plugin that fails says what is wrong, and what to do about it.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MethodType, ModuleType
from typing import Any, Final, get_args, get_type_hints

import pluggy
import structlog

from pressroom import hookspecs, sdk
from pressroom.errors import PluginError, PressroomError
from pressroom.gate import PluginFailed
from pressroom.gate.wording import one_line, squeezed
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
"""The plugin interfaces that this host works with: its own and the one before."""


class IncompatibleApi(PluginError):
    """The plugin is written for an interface that this host does not offer."""


def import_plugin(candidate: Candidate) -> tuple[ModuleType, Plugin]:
    """Import the module of a plugin and return it with its `PLUGIN`, or with what a module without one implies.

    Where that fails, the modules that the plugin's package brought are forgotten. What fails later leaves them: another
    plugin of the same package may work with them by then.

    Raises:
        IncompatibleApi: the plugin is made for another interface.
        PluginError: there is nothing to offer, or `PLUGIN` is not what the entry point promises.
        BaseException: whatever the module itself raises while it is imported.
    """
    before = set(sys.modules)
    module_name, _, attribute = candidate.module.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise PluginError(
            f"its entry point {candidate.module!r} names no module",
            hint=f'the package must say {candidate.id} = "package.module"; tell its authors',
        )
    watch(module_name, candidate.id, _tell)
    if candidate.folder is not None:
        make_importable(candidate.folder)
    try:
        module = importlib.import_module(module_name)
        return module, _declaration(module, attribute or "PLUGIN", candidate)
    except BaseException:
        _forget(module_name, before)
        raise


def warnings_of(record: PluginRecord, plugin: Plugin | None) -> PluginRecord:
    """Return the record of a plugin with what its authors should change before a later host drops it."""
    found = [deprecation.message for deprecation in uses_of(record.id)]
    if plugin is not None and not plugin.api:
        stated = f"PLUGIN = {_declared(record.id, FIRST_API)}"
        found.insert(0, f"it does not say which plugin API it is written for: say so with {stated}")
    return replace(record, warnings=tuple(found))


def _tell(plugin: str, deprecation: Deprecation) -> None:
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
        # Who writes a file for a server of their own writes it for the interface of that server.
        plugin = replace(plugin, api=API)
    if plugin.id != candidate.id and candidate.folder is not None:
        raise PluginError(
            f"its {attribute} has the id {plugin.id!r}, which {candidate.distribution} tells only when it is run",
            hint=f'write id="{plugin.id}" in the call of Plugin, or name the file {plugin.id}.py',
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
    """Return the declaration of a module that has no `PLUGIN`, but hooks or decorated tools.

    Raises:
        PluginError: it offers nothing either, or its `Plugin` has another name.
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
"""What the names of the host's own hooks begin with."""

_MARK: Final = "pressroom_impl"


class _PluginManager(pluggy.PluginManager):
    """Leaves wrappers to `pressroom.plugins.wrapping`: pluggy would run all of them in one call, and fail with each."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        options = super().parse_hookimpl_opts(plugin, name)
        return None if is_wrapper(options) else options


def new_manager() -> pluggy.PluginManager:
    """Return a plugin manager that knows the host's hooks, and no plugin."""
    manager = _PluginManager("pressroom")
    manager.add_hookspecs(hookspecs)
    return manager


def offered_hooks(offered: Any) -> dict[str, type[Any]]:
    """Return the hooks that a plugin offers to others with `Plugin(hookspecs=…)`, and what each is to yield.

    The type is read from the annotation of what the hook returns, `Iterable[SomeRecord]`; without one it is `object`.

    Raises:
        PluginError: none was found, or one has the name of a hook of the host.
    """
    scratch = pluggy.PluginManager("pressroom")
    try:
        scratch.add_hookspecs(offered)
    except ValueError as error:
        hint = 'mark each of them with pluggy.HookspecMarker("pressroom")'
        raise PluginError("its hookspecs hold no hook specification", hint=hint) from error
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
    try:
        returned = get_type_hints(specification).get("return")
    except (NameError, TypeError, AttributeError):
        return object
    arguments = get_args(returned)
    return arguments[0] if len(arguments) == 1 and isinstance(arguments[0], type) else object


def register(manager: pluggy.PluginManager, module: ModuleType, name: str) -> tuple[Wrapper, ...]:
    """Register the hooks of a plugin under its id, and return its wrappers, which the manager does not know.

    Raises:
        PluginError: a hook is misspelt, takes arguments that it does not get, or is not a plain function.
    """
    known = _known_hooks(manager)
    wrappers = []
    for attribute, function, options in _hook_functions(module, known):
        if options is None:
            raise PluginError(f"{attribute} is not marked as a hook", hint="put @hookimpl above it")
        hook = options.get("specname") or attribute
        _check_function(attribute, function, options)
        if hook in known and is_wrapper(options):
            check_wrapper(hook, function, options)
            _check_arguments(hook, function, ARGUMENTS)
            wrappers.append(Wrapper(hook, function))
        elif hook in known:
            _check_arguments(hook, function, known[hook])
        elif not options.get("optionalhook") or _similar(hook, RECORD_TYPES):
            raise PluginError(f"there is no hook {hook}", hint=_did_you_mean(hook, known))
    other = manager.get_name(module)
    if other is not None:
        raise PluginError(f"its module is that of the plugin {other!r}", hint="give each plugin a module of its own")
    manager.register(module, name=name)
    return tuple(wrappers)


def unregister(manager: pluggy.PluginManager, name: str) -> None:
    """Take a plugin's hooks out again; one that is not registered is not an error."""
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
            if _is_hook(name, function):
                yield name, value, getattr(function, _MARK, None)
        elif name in known:
            raise PluginError(f"{name} is not a function", hint=f"write `def {name}(plugin)`")


def _is_hook(name: str, function: Any) -> bool:
    return name.startswith(HOOK_PREFIX) or isinstance(getattr(function, _MARK, None), dict)


def _check_function(name: str, function: Any, options: Mapping[str, Any]) -> None:
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise PluginError(f"{name} is async", hint="hooks run once at start-up: write `def`, not `async def`")


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
    similar = _similar(hook, known)
    return f"did you mean {similar}?" if similar else f"the hooks are {', '.join(sorted(known))}"


def _similar(hook: str, known: Mapping[str, Any]) -> str | None:
    # The prefix alone would make any two names similar.
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


def taken_out(record: PluginRecord, status: Status, phase: Phase, reason: Reason) -> PluginRecord:
    """Return the record of a plugin that is not used, with nothing left of what it contributed."""
    error, hint = reason
    return replace(record, status=status, phase=phase, error=error, hint=hint, contributes=())


def fallen(record: PluginRecord, status: Status, phase: Phase, error: BaseException) -> PluginRecord:
    """Return the record of a plugin that raised an error in a phase, with nothing left of what it contributed."""
    late = isinstance(error, PluginFailed) and error.reason != "failed"
    if isinstance(error, PluginFailed) and not late:
        error = error.cause
    if isinstance(error, IncompatibleApi):
        status, phase = "incompatible", "compatible"
    own = getattr(error, "hint", "") if isinstance(error, PressroomError) else _name_meant(error)
    folder = record.folder or editable_folder(record.distribution)
    # Whoever has the source is most likely its author.
    advice = _CORRECT if folder and phase not in ("compatible", "config") else _HINTS.get(phase, _REPORT)
    names = {"id": record.id, "distribution": record.distribution, "folder": folder}
    hint = squeezed(str(own)) or advice.format_map(names)
    return taken_out(record, status, phase, (one_line(error, record.module), hint))


def _name_meant(error: BaseException) -> str:
    """Return which name of the SDK was meant, where a plugin imports one that is not there; or nothing."""
    wanted = _NOT_IN_SDK.match(str(error)) if isinstance(error, ImportError) and error.name == sdk.__name__ else None
    similar = nearest(wanted[1], sdk.__all__) if wanted else None
    return f"did you mean {similar}? The names are in the reference of the SDK" if similar else ""
