"""Plugins as installed distributions: those that work, and every way to be broken.

`BROKEN` maps a name to a function that installs that plugin into a folder. The result contains the `[plugins]` tables
for it, and the expected report to the operator: status, phase, and parts of the error and the hint.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from support.faults import hooks, imports, records, shared
from support.plugin_source import SOUND, Distribution, Expected, Factory, install_plugin, slug_of

__all__ = ["BROKEN", "EXEMPLARY", "Distribution", "Expected", "Factory", "healthy", "slow", "slug_of"]

BROKEN: Final[dict[str, Factory]] = {**imports.FAULTS, **hooks.FAULTS, **records.FAULTS, **shared.FAULTS}
"""Every fault that shows before the server starts."""

EXEMPLARY: Final = (
    "import_error",
    "system_exit",
    "syntax_error",
    "wrong_signature",
    "misspelt_hook",
    "bad_config",
    "duplicate_slug",
    "two_distributions",
    "api_too_new",
    "missing_required_plugin",
    "hook_raises",
    "hook_yields_rubbish",
)
"""Names of the faults in `BROKEN` that represent the others in tests where all would take too long."""

SLOW_SECONDS: Final = 0.6
"""Minimum import time of the slow plugin."""


def healthy(folder: Path, id_: str = "healthy") -> Distribution:
    """Install a working plugin. Its generator's slug is `slug_of(id_)`, and it runs in the async executor."""
    return install_plugin(folder, id_)


def slow(folder: Path) -> Distribution:
    """Install a working plugin that takes long to import."""
    return install_plugin(folder, "slow", f"import time; time.sleep({SLOW_SECONDS})\n{SOUND}")
