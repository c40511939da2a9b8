"""The plugin: a backend for the cache index."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import Backend, CacheIndex, Plugin, hookimpl

PLUGIN = Plugin(
    id="{{ cookiecutter.plugin_id }}",
    api="1",
    title="{{ cookiecutter.title }}",
    summary="Keeps the cache index in memory.",
)


def create(settings: object) -> CacheIndex:
    """Return a new index. The server calls this once in each process, and `open` before any other method."""
    from {{ cookiecutter.package }}.index import MemoryIndex

    return MemoryIndex()


@hookimpl
def pressroom_backends() -> Iterable[Backend]:
    """Offer the backend under the name that operators write into their configuration."""
    return [Backend("cache", "{{ cookiecutter.plugin_id }}", create)]
