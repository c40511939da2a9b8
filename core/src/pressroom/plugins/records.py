"""What the host knows of each plugin that it found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal

from pressroom.validation.echo import counted

Status = Literal["active", "available", "disabled", "incompatible", "broken", "conflict"]
"""Where a plugin stands.

`active`: it works. `available`: installed, not named in the configuration, never imported. `disabled`: switched off.
`incompatible`: made for another version of the host. `broken`: something in it failed. `conflict`: it claims what
another plugin claims too.
"""

SLOW_IMPORT_SECONDS = 0.5

Phase = Literal["discover", "select", "compatible", "import", "config", "register", "collect", "validate", "lifespan"]

_NAMED: Final = 3
"""How many contributions a short line names; more are counted."""

_COUNTED: Final = frozenset({"check", "command", "generator", "hook", "job", "route", "tool"})


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """One plugin and its fate.

    `phase` is the one in which it failed, or the last that it passed. `error` is one line; `hint` says what to do.
    `api` is the plugin interface that it is written for. `import_seconds` is 0 if it was not imported. `warnings` are
    what its authors should change before a later host drops it. `folder` is the one of `plugins_dir` for a plugin in
    it, whose `distribution` is the name of its file.
    """

    id: str
    status: Status
    distribution: str
    version: str
    module: str
    builtin: bool = False
    required: bool = False
    title: str = ""
    summary: str = ""
    phase: Phase = "discover"
    error: str = ""
    hint: str = ""
    import_seconds: float = 0.0
    api: str = ""
    contributes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    folder: str = ""

    @property
    def failed(self) -> bool:
        """Whether an operator has to do something about it."""
        return self.status in ("incompatible", "broken", "conflict")

    @property
    def brief(self) -> str:
        """What it contributes, in one short line: by name where that is little, else counted."""
        if len(self.contributes) <= _NAMED:
            return ", ".join(self.contributes)
        kinds = Counter(
            "hook" if name.startswith("pressroom_") else name.partition(" ")[0] for name in self.contributes
        )
        return ", ".join(counted(number, kind) if kind in _COUNTED else kind for kind, number in kinds.items())

    @property
    def imported_slowly(self) -> bool:
        """Whether the import alone took so long that it delays the start of the server."""
        return self.import_seconds >= SLOW_IMPORT_SECONDS
