"""The plugin's checks for `pressroom doctor`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pressroom.sdk import Check, CheckResult, PluginContext

from pressroom_images.config import ImagesConfig
from pressroom_images.sources import pexels, pixabay, unsplash
from pressroom_images.tools.search import sources_of

_NEED_KEYS: Final = frozenset({unsplash.NAME, pexels.NAME, pixabay.NAME})


def checks(plugin: PluginContext[ImagesConfig]) -> Iterable[Check]:
    """Return the plugin's checks."""

    async def providers() -> CheckResult:
        return providers_result(plugin)

    return [Check("providers", providers)]


def providers_result(plugin: PluginContext[ImagesConfig]) -> CheckResult:
    """Warn about names in `providers` that no plugin offers. Built-in providers without a key are fine."""
    there = [source.name for source in sources_of(plugin)]
    unknown = sorted(set(plugin.config.providers) - {*there, *_NEED_KEYS})
    if unknown:
        return CheckResult(
            "warning",
            f"providers in [plugins.images.config] names {', '.join(unknown)}, which no plugin offers; there is "
            f"{', '.join(there) or 'none'}",
            "correct the name, or install the plugin that offers it",
        )
    return CheckResult("ok", f"searches {', '.join(there) or 'no provider'}")
