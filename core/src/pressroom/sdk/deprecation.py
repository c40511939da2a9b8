"""Deprecation warnings for the plugin API, shown only for plugins that use deprecated features."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A deprecated feature, its replacement, and the version of the plugin API that removes it.

    Each plugin that uses it is warned once per process: in the log, by `pressroom doctor` and `pressroom plugins list`,
    and with a `DeprecationWarning` in its tests. Plugins can announce removals from their contracts in the same way.

    For a function or class, use it as a decorator: `@Deprecation("acme.old()", "acme.new()", "2")`. For an argument or
    the field of a record, call `note()` where it is passed or read. For a name of a module, use `deprecated_names`.
    """

    what: str
    instead: str
    ends: str

    @property
    def message(self) -> str:
        """The warning for plugin authors and operators."""
        return f"{self.what} is deprecated and ends with plugin API {self.ends}: use {self.instead}"

    def note(self) -> None:
        """Warn the plugin whose code made the call. Frames of the host and of the calling package are skipped."""
        caller = _caller()
        _note(self, caller, _package(caller) if caller else "")

    def __call__(self, function: Function) -> Function:
        """Return the function or class, changed to note each use."""
        if isinstance(function, type):
            return cast("Function", _noting_class(self, function))

        @functools.wraps(function)
        def noting(*args: Any, **kwargs: Any) -> Any:
            _note(self, _caller(), _top(function.__module__))
            return function(*args, **kwargs)

        return cast("Function", noting)


def deprecated_names(module: str, names: Mapping[str, tuple[Any, Deprecation]]) -> Callable[[str], Any]:
    """Return the `__getattr__` for a module with deprecated names. Each name has a value and a `Deprecation`.

    Write `__getattr__ = deprecated_names(__name__, {"old_name": (new_name, Deprecation(…))})` at the end of the module.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value, deprecation = names[name]
        _note(deprecation, _caller(), _top(module))
        return value

    return get


Report = Callable[[str, Deprecation], None]

_HOST: Final = "pressroom"
_PASSED_OVER: Final = frozenset({_HOST, "importlib", "functools", "dataclasses", "pluggy"})

_plugins: Final[dict[str, tuple[str, Report]]] = {}
_uses: Final[dict[str, dict[Deprecation, None]]] = {}


def watch(module: str, plugin: str, report: Report) -> None:
    """Attribute the deprecated features that a module and its package use to a plugin. The host calls this.

    `report` is called on the first use of each deprecated feature.
    """
    _plugins[module] = _plugins[module.rpartition(".")[0] or module] = plugin, report


def uses_of(plugin: str) -> tuple[Deprecation, ...]:
    """Return the deprecated features that a plugin has used in this process, in order of first use."""
    return tuple(_uses.get(plugin, ()))


def _note(deprecation: Deprecation, frame: FrameType | None, owner: str) -> None:
    while frame is not None and _package(frame) in (_PASSED_OVER | {owner}):
        frame = frame.f_back
    if frame is None:
        return
    plugin, report = _plugin_of(str(frame.f_globals.get("__name__", "")))
    if plugin:
        if deprecation in _uses.setdefault(plugin, {}):
            return
        _uses[plugin][deprecation] = None
        report(plugin, deprecation)
    warnings.warn_explicit(
        deprecation.message,
        DeprecationWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _noting_class(deprecation: Deprecation, kind: Any) -> Any:
    init = kind.__init__

    @functools.wraps(init)
    def noting(self: Any, *args: Any, **kwargs: Any) -> None:
        _note(deprecation, _caller(), _top(kind.__module__))
        init(self, *args, **kwargs)

    kind.__init__ = noting
    return kind


def _plugin_of(module: str) -> tuple[str, Report]:
    """Return the plugin that owns a module or its nearest watched parent package."""
    while module:
        if module in _plugins:
            return _plugins[module]
        module = module.rpartition(".")[0]
    return "", _nobody


def _nobody(plugin: str, deprecation: Deprecation) -> None:
    """Do nothing: the code does not belong to a plugin."""


def _caller() -> FrameType | None:
    """Return the frame that called the function that calls this one."""
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    return caller.f_back if caller else None


def _package(frame: FrameType) -> str:
    return _top(str(frame.f_globals.get("__name__", "")))


def _top(module: str) -> str:
    return module.partition(".")[0]
