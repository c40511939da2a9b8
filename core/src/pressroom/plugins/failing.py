"""The records of plugins that fail: what is wrong, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pressroom import sdk
from pressroom.errors import PressroomError
from pressroom.gate import PluginFailed
from pressroom.gate.wording import one_line, squeezed
from pressroom.plugins.discovery import editable_folder
from pressroom.plugins.records import Phase, PluginRecord, Status
from pressroom.plugins.registering import IncompatibleApi
from pressroom.plugins.validating import Reason
from pressroom.validation.echo import nearest

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
