"""Plugins as installed distributions: those that work, and every way of being broken.

`BROKEN` maps a name to a function that installs that plugin into a folder. What comes back says which `[plugins]`
tables name it, and what an operator must be told: status, phase, and words of the error and the hint.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from support.faults import hooks, imports, records, shared
from support.plugin_source import SOUND, Distribution, Expected, Factory, install_plugin, slug_of

__all__ = ["BROKEN", "EXEMPLARY", "Distribution", "Expected", "Factory", "healthy", "slow", "slug_of"]

BROKEN: Final[dict[str, Factory]] = {**imports.FAULTS, **hooks.FAULTS, **records.FAULTS, **shared.FAULTS}
"""Every way of being broken that shows before the server starts."""

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
"""The names of those in `BROKEN` that stand for the others, where all would take too long."""

SLOW_SECONDS: Final = 0.6
"""How long the import of the slow plugin takes at least."""


def healthy(folder: Path, id_: str = "healthy") -> Distribution:
    """Install a plugin that works; its generator's slug is `slug_of(id_)`, and it runs in the async executor."""
    return install_plugin(folder, id_)


def slow(folder: Path) -> Distribution:
    """Install a plugin that works, but takes long to import."""
    return install_plugin(folder, "slow", f"import time; time.sleep({SLOW_SECONDS})\n{SOUND}")
