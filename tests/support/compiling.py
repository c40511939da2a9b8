"""What tests do with a compiled host; `Compile` is the type of their `compile_with` fixture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pressroom.host import Compiled
from pressroom.plugins.records import PluginRecord

from support.plugin_distributions import Distribution


class Compile(Protocol):
    """Compiles a host which finds the distributions and names the plugins in them."""

    def __call__(
        self, *distributions: Distribution, plugins: Mapping[str, Any] | None = None, **config: Any
    ) -> Compiled: ...


def record_of(compiled: Compiled, id_: str) -> PluginRecord:
    """Return the record of a plugin that one distribution offers."""
    (record,) = (record for record in compiled.plugins.records if record.id == id_)
    return record


def statuses(compiled: Compiled) -> dict[str, str]:
    """Return the status of each plugin that is not built in."""
    return {record.id: record.status for record in compiled.plugins.records if not record.builtin}
