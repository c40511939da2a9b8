"""Hook wrappers, which change the records that other plugins contribute to a hook.

A wrapper is written as in pluggy, with `@hookimpl(wrapper=True)`, but runs once for each other plugin that contributes
to its hook. Its result is validated as if that plugin had contributed it.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from pressroom.errors import PluginError, PressroomError
from pressroom.plugins.contributions import RECORD_TYPES, describe, records_of
from pressroom.plugins.validating import validate
from pressroom.sdk import Models, PluginContext

ARGUMENTS: Final = ("plugin", "owner")
"""Arguments of wrappers: the context of their own plugin, and the ID of the plugin whose records they receive."""

_UNWRAPPABLE_HOOKS: Final = tuple(hook for hook, kind in RECORD_TYPES.items() if kind is Models)
"""Hooks that cannot be wrapped: a plugin's tables belong to its migrations."""

_PATTERN: Final = "write `records = yield`, then return the records"

Collected = Mapping[str, Mapping[str, Sequence[Any]]]
"""The records of each hook, by plugin ID."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A plugin's wrapper function and its hook."""

    hook: str
    function: Callable[..., Any]


def is_wrapper(options: Mapping[str, Any] | None) -> bool:
    """Return whether the options of a mark are those of a wrapper, in pluggy's current or old style."""
    return options is not None and bool(options.get("wrapper") or options.get("hookwrapper"))


def check_wrapper(hook: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Validate a wrapper before its use.

    Raises:
        PluginError: the wrapper is invalid; the message states the reason, the hint the fix.
    """
    if options.get("hookwrapper"):
        raise PluginError(f"its wrapper of {hook} is marked with hookwrapper", hint="mark it with wrapper=True")
    if hook in _UNWRAPPABLE_HOOKS:
        raise PluginError(f"{hook} cannot be wrapped", hint="the tables of a plugin belong to its migrations")
    if not inspect.isgeneratorfunction(function):
        raise PluginError(f"its wrapper of {hook} yields nothing", hint=_PATTERN)


@dataclass(slots=True)
class RunningWrapper:
    """The running wrapper's hook, and the plugin whose records it receives."""

    hook: str = ""
    owner: str = ""

    def __str__(self) -> str:
        """Return its description for error messages."""
        return f"its wrapper of {self.hook}, with what {self.owner} contributes,"


@dataclass(frozen=True, slots=True)
class WrappedRecords:
    """The records of all plugins after the wrappers that have run so far.

    `changes` lists a phrase for each change by plugin. `wrapped_by` maps plugins to those whose wrappers changed their
    contributions. `changed` maps the `id()` of a record to the plugins that changed it.
    """

    records: Collected
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    wrapped_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    changed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def by(
        self,
        wrappers: Sequence[Wrapper],
        context: PluginContext,
        types: Mapping[str, type[Any]],
        claims_of: Callable[[str, Any], Iterable[str]],
        host_claims: Iterable[str],
        running: RunningWrapper,
    ) -> Self:
        """Return a copy in which the wrappers of one plugin have changed the records of all others.

        Args:
            wrappers: the wrappers, in the order in which they run.
            context: the context of the wrappers' plugin.
            types: the record type of each hook.
            claims_of: returns the exclusive claims of a hook's record.
            host_claims: claims of the host, such as the names of its own records.
            running: updated with the wrapper that is running.

        Raises:
            PluginError: a wrapper's result is unusable: not records, invalid records, or a name that is taken.
            Exception: an exception raised by a wrapper.
        """
        records = {plugin: dict(hooks) for plugin, hooks in self.records.items()}
        changes: list[str] = []
        wrapped_by, changed = dict(self.wrapped_by), dict(self.changed)
        for wrapper in wrappers:
            for owner, hooks in records.items():
                before = hooks.get(wrapper.hook, ())
                if owner == context.id or not before:
                    continue
                running.hook, running.owner = wrapper.hook, owner
                after = _passed(wrapper, context, owner, list(before), types[wrapper.hook])
                new_changes = list(_changes(wrapper.hook, owner, before, after))
                earlier = {_called(wrapper.hook, record): changed.get(id(record), ()) for record in before}
                for record in after:
                    if not any(record is previous for previous in before):
                        changed[id(record)] = (*earlier.get(_called(wrapper.hook, record), ()), context.id)
                if new_changes:
                    _check(wrapper.hook, owner, after)
                    hooks[wrapper.hook] = after
                    changes += new_changes
                    wrapped_by[owner] = wrapped_by.get(owner, frozenset()) | {context.id}
        if changes:
            counts = Counter([*host_claims, *_claimed(records, claims_of)])
            duplicates = sorted(claim for claim, count in counts.items() if count > 1)
            if duplicates:
                raise PluginError(f"its wrappers offer {duplicates[0]} twice", hint="give each its own name")
        return type(self)(records, {**self.changes, context.id: tuple(changes)}, wrapped_by, changed)


def _claimed(records: Collected, claims_of: Callable[[str, Any], Iterable[str]]) -> Iterator[str]:
    for hooks in records.values():
        for hook, contributed in hooks.items():
            for record in contributed:
                yield from claims_of(hook, record)


def _passed(
    wrapper: Wrapper, context: PluginContext, owner: str, records: list[Any], record_type: type[Any]
) -> list[Any]:
    """Run one wrapper with the records that one plugin contributed to its hook, and return its result."""
    arguments = {"plugin": context, "owner": owner}
    parameters = inspect.signature(wrapper.function).parameters
    running = wrapper.function(**{name: arguments[name] for name in parameters})
    try:
        next(running)
    except StopIteration:
        raise PluginError(f"its wrapper of {wrapper.hook} ends before it yields", hint=_PATTERN) from None
    try:
        running.send(records)
    except StopIteration as end:
        description = f"its wrapper of {wrapper.hook}"
        if end.value is None:
            raise PluginError(f"{description} returns nothing", hint=_PATTERN) from None
        return records_of(f"{description}, with what {owner} contributes,", end.value, record_type, verb="return")
    running.close()
    raise PluginError(f"its wrapper of {wrapper.hook} yields twice", hint=_PATTERN)


def _check(hook: str, owner: str, records: Sequence[Any]) -> None:
    """Validate the records that a wrapper returned if they are of the host's own types."""
    if hook not in RECORD_TYPES:
        return
    try:
        validate(records)
    except PressroomError as error:
        raise PluginError(f"its wrapper of {hook} breaks {owner}: {error.message}", hint=error.hint) from error


def _changes(hook: str, owner: str, before: Sequence[Any], after: Sequence[Any]) -> Iterator[str]:
    """Yield a phrase for each change, shown in lists among the contributions of the wrapper's plugin."""
    unchanged = {id(record) for record in before} & {id(record) for record in after}
    old, new = (
        [_called(hook, record) for record in records if id(record) not in unchanged] for records in (before, after)
    )
    yield from (f"{'change to' if name in old else 'addition of'} {name} of {owner}" for name in new)
    yield from (f"removal of {name} of {owner}" for name in old if name not in new)
    if not old and not new and [*map(id, before)] != [*map(id, after)]:
        yield f"order of {hook} of {owner}"


def _called(hook: str, record: Any) -> str:
    return describe(record) if hook in RECORD_TYPES else f"{hook} {getattr(record, 'name', '')}".rstrip()
