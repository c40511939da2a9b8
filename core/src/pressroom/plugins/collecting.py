"""Asking one plugin for its records, and checking them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

import pluggy

from pressroom.errors import PluginError
from pressroom.plugins.contributions import RECORD_TYPES
from pressroom.plugins.explaining import shown
from pressroom.sdk import PluginContext

MAX_RECORDS: Final = 1000
"""How many records one hook of one plugin may yield; a hook that never ends is stopped there."""

_DECORATORS: Final = {
    "pressroom_generators": "@generator(…)",
    "pressroom_mcp_tools": "@mcp_tool(…)",
    "pressroom_commands": "@click.command()",
}


def collect(
    manager: pluggy.PluginManager, context: PluginContext, hooks: Mapping[str, type[Any]] = RECORD_TYPES
) -> dict[str, list[Any]]:
    """Call hooks of one plugin and return the records of each. `hooks` holds the type that each must yield.

    Raises:
        PluginError: a hook returned something else than an iterable of its record type.
        Exception: whatever a hook raises.
    """
    others = [plugin for name, plugin in manager.list_name_plugin() if name != context.id]
    records: dict[str, list[Any]] = {}
    for hook, record_type in hooks.items():
        answers = manager.subset_hook_caller(hook, others)(plugin=context)
        if len(answers) < _implementations(manager, hook, context.id):
            # pluggy leaves out what is None: most likely a `return` was forgotten.
            raise PluginError(f"{hook} must return {_expected(record_type)}, it returned None", hint="return a list")
        records[hook] = [record for answer in answers for record in _records(hook, answer, record_type)]
    return records


def _implementations(manager: pluggy.PluginManager, hook: str, plugin: str) -> int:
    implementations = getattr(manager.hook, hook).get_hookimpls()
    return sum(1 for implementation in implementations if implementation.plugin_name == plugin)


def _records(hook: str, answer: Any, record_type: type) -> list[Any]:
    expected = _expected(record_type)
    if inspect.iscoroutine(answer):
        answer.close()
    if not isinstance(answer, Iterable) or isinstance(answer, (str, bytes, dict)):
        raise PluginError(f"{hook} must return {expected}, it returned {shown(answer)}", hint="return a list")
    found = list(islice(answer, MAX_RECORDS + 1))
    if len(found) > MAX_RECORDS:
        raise PluginError(f"{hook} yields more than {MAX_RECORDS} records", hint="a hook must end")
    for record in found:
        if not isinstance(record, record_type):
            raise PluginError(f"{hook} must yield {expected}, it yielded {shown(record)}", hint=_hint(hook, record))
    return found


def _expected(record_type: type) -> str:
    return f"an iterable of {record_type.__name__}"


def _hint(hook: str, record: Any) -> str:
    right = next((name for name, kind in RECORD_TYPES.items() if isinstance(record, kind)), None)
    if right is not None:
        return f"yield it from {right}"
    if hook in _DECORATORS and inspect.isroutine(record):
        return f"put {_DECORATORS[hook]} above the function"
    return ""
