"""Hooks for parts of the server: stores, tables, routes, pages and indexes."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from pressroom.sdk import (
    Backend,
    IndexEntries,
    Models,
    OverviewSection,
    PluginContext,
    PublishingTargets,
    Route,
    SharedKeys,
    StorageKind,
    VirtualHosts,
)

hookspec = pluggy.HookspecMarker("pressroom")


@hookspec
def pressroom_backends(plugin: PluginContext) -> Iterable[Backend]:
    """Offer an alternative file store, cache or limiter. The operator selects one of each kind by name.

    Example:
        ```python
        @hookimpl
        def pressroom_backends():
            return [Backend("limits", "memcached", lambda settings: MemcachedLimiter(settings))]
        ```
    """


@hookspec
def pressroom_routes(plugin: PluginContext) -> Iterable[Route]:
    """Serve your own pages or endpoints. Each path can only be served once, by the host or by one plugin.

    With `page=DashboardPage("Title")`, a route becomes a page of the dashboard, for users who are signed in. With
    `before_body`, it can refuse a request before the body is read, for example because of a wrong token in the path.

    Example:
        ```python
        async def colophon(request: HttpRequest) -> HttpResponse:
            return HttpResponse(b"<h1>Colophon</h1>")


        @hookimpl
        def pressroom_routes():
            return [Route("/colophon", colophon)]
        ```
    """


@hookspec
def pressroom_virtual_hosts(plugin: PluginContext) -> Iterable[VirtualHosts]:
    """Serve your own host names, such as the domains of users' blogs. Nothing else of the server is available there.

    The names are read again while the server runs, so they can change when users add or remove a domain.

    Example:
        ```python
        async def names() -> list[str]:
            return ["status.example.org"]


        async def status(request: HttpRequest) -> HttpResponse:
            return HttpResponse(b"<h1>All systems operational</h1>")


        @hookimpl
        def pressroom_virtual_hosts():
            return [VirtualHosts("status", names, status)]
        ```
    """


@hookspec
def pressroom_models(plugin: PluginContext) -> Iterable[Models]:
    """Add tables to the server's database, with the plugin's own migrations and version table.

    The database is available as `plugin.services.database` once the server starts.

    Example:
        ```python
        @hookimpl
        def pressroom_models():
            return [Models(Base.metadata, "my_plugin.migrations")]
        ```
    """


@hookspec
def pressroom_shared_keys(plugin: PluginContext) -> Iterable[SharedKeys]:
    """Declare keys that every host with a shared database needs, such as those that encrypt rows.

    A host without the key that the others write with fails at startup, before any of its work can fail.

    Example:
        ```python
        @hookimpl
        def pressroom_shared_keys(plugin):
            return [
                SharedKeys(
                    "note_keys",
                    "[plugins.example.config] note_keys",
                    read=lambda: [b"the key of this host"],
                    configured=True,
                    lost="encrypted notes can no longer be read",
                )
            ]
        ```
    """


@hookspec
def pressroom_storage(plugin: PluginContext) -> Iterable[StorageKind]:
    """Count what you store for accounts against the storage limits of their plans. Reserve space before each write.

    Call `plugin.services.storage.reserve(session, subject, size)` first in the transaction that writes.

    Example:
        ```python
        async def measure(session: object, subject: str) -> int:
            return 0  # SELECT sum(size) FROM notes WHERE user_id = …, by an index


        @hookimpl
        def pressroom_storage():
            return [StorageKind("notes", "notes", measure, advice="delete notes with delete_note")]
        ```
    """


@hookspec
def pressroom_publishing_targets(plugin: PluginContext) -> Iterable[PublishingTargets]:
    """List where your tools publish for an account, such as its websites.

    The consent page shows these names to users before they let an app publish there.

    Example:
        ```python
        async def newsletters(subject: str) -> list[str]:
            return ["The Monday letter"]


        @hookimpl
        def pressroom_publishing_targets():
            return [PublishingTargets("newsletters", newsletters)]
        ```
    """


@hookspec
def pressroom_overview(plugin: PluginContext) -> Iterable[OverviewSection]:
    """Add a section to the first page of the dashboard, with next steps and anything that needs users' attention.

    The sections of all plugins come before the host's own, ordered by their position.

    Example:
        ```python
        async def reading(subject: str) -> str:
            return '<section class="panel"><h2>Reading list</h2><p>Two books to read.</p></section>'


        @hookimpl
        def pressroom_overview():
            return [OverviewSection("reading", reading)]
        ```
    """


@hookspec
def pressroom_index_entries(plugin: PluginContext) -> Iterable[IndexEntries]:
    """Add entries to the text index `/llms.txt`. Sections with the same name are merged and sorted by title.

    Example:
        ```python
        async def guides() -> list[IndexEntry]:
            return [IndexEntry("House style", "/guides/style", "how we write")]


        @hookimpl
        def pressroom_index_entries():
            return [IndexEntries("Docs", guides)]
        ```
    """
