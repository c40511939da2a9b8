"""Every hook that a plugin may implement.

Hooks are synchronous, run once while the server starts, and return an iterable of records from `pressroom.sdk`. They
take `plugin`, the context of the plugin that is asked, or no argument. The result does not depend on the order in which
plugins are asked. Import `hookimpl` from `pressroom.sdk` and name the function after the hook.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
import pluggy

from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    CacheRule,
    CallMiddleware,
    Check,
    Generator,
    IndexEntries,
    Instructions,
    Job,
    Lifespan,
    McpTool,
    Models,
    Observer,
    OverviewSection,
    PluginContext,
    PublishingTargets,
    RateLimit,
    Route,
    SharedKeys,
    StorageKind,
    VirtualHosts,
)

hookspec = pluggy.HookspecMarker("pressroom")


@hookspec
def pressroom_generators(plugin: PluginContext) -> Iterable[Generator]:
    """Offer generators: tools that produce a file.

    The generators of all plugins are combined; each slug must be unique. A plugin that leaves out this hook offers the
    generators at the top level of its module, except those whose names begin with an underscore.

    Example:
        ```python
        @generator(
            slug="shout",
            name="Shout",
            summary="Text in capitals.",
            rate_limit=per_hour(60),
            produces=("text/plain",),
        )
        def shout(params: ShoutParams, call: Call) -> Artifact:
            return Artifact(params.text.upper().encode(), "text/plain")


        @hookimpl
        def pressroom_generators():
            return [shout]
        ```
    """


@hookspec
def pressroom_mcp_tools(plugin: PluginContext) -> Iterable[McpTool]:
    """Offer tools for AI clients.

    The tools of all plugins are combined with the generators that have an MCP name; each name must be unique. A plugin
    that leaves out this hook offers the tools at the top level of its module, except those whose names begin with an
    underscore.

    Example:
        ```python
        @mcp_tool(name="count_words", title="Count words", description="Counts the words of a text.")
        async def count_words(params: TextParams, call: Call) -> WordCount:
            return WordCount(words=len(params.text.split()))


        @hookimpl
        def pressroom_mcp_tools():
            return [count_words]
        ```
    """


@hookspec
def pressroom_mcp_instructions(plugin: PluginContext) -> Iterable[Instructions]:
    """Tell models how your tools work together: which comes first, and what only the user can do.

    The texts of all plugins, ordered by plugin id, become part of the `instructions` that `initialize` returns, unless
    the operator has configured other instructions.

    Example:
        ```python
        @hookimpl
        def pressroom_mcp_instructions():
            return [Instructions("Count words with count_words before you shorten a text.")]
        ```
    """


@hookspec
def pressroom_authenticators(plugin: PluginContext) -> Iterable[Authenticator]:
    """Recognise credentials.

    Authenticators are asked in the order of `[auth] authenticators`, then by name. The first identity wins. `Rejected`
    is final. They are asked about every call, including calls without `Authorization`, whose `bearer` is empty: a
    credential may be any header, such as `credentials.headers.get("x-company-key")`, or a cookie, such as
    `credentials.cookies.get("badge")`.

    Example:
        ```python
        async def badge(credentials: Credentials) -> Identity | None:
            if not credentials.bearer.startswith("badge_"):
                return None
            if credentials.bearer not in KNOWN_BADGES:
                raise Rejected("This badge is no longer valid; ask the front desk for a new one.")
            return Identity(subject=credentials.bearer, plan="staff")


        @hookimpl
        def pressroom_authenticators():
            return [Authenticator("badge", badge)]
        ```
    """


@hookspec
def pressroom_authorizers(plugin: PluginContext) -> Iterable[Authorizer]:
    """Refuse calls that the plan would allow. A call runs only if all authorizers allow it.

    Example:
        ```python
        async def office_network_only(caller: Caller, tool: ToolInfo) -> str | None:
            return None if caller.client_ip.startswith("10.") else "This tool only works from the office network."


        @hookimpl
        def pressroom_authorizers():
            return [Authorizer("office network", office_network_only)]
        ```
    """


@hookspec
def pressroom_rate_limits(plugin: PluginContext) -> Iterable[RateLimit]:
    """Limit how often tools are used. All limits apply; the one with the least left is reported.

    If the operator names one of your limits as `[limits] default_limit`, it replaces the host's own limit, which reads
    the limits of tools and plans. In that case, return `tool.rate_limit` for tools that keep their limit.

    Example:
        ```python
        def thousand_a_day(tool: ToolInfo, plan: str) -> Rate | None:
            return per_day(1000) if plan == "anonymous" else None


        @hookimpl
        def pressroom_rate_limits():
            return [RateLimit("daily", thousand_a_day)]
        ```
    """


@hookspec
def pressroom_cache_rules(plugin: PluginContext) -> Iterable[CacheRule]:
    """Decide how long results are served from the cache. The shortest time and the narrowest sharing win.

    So a rule can only shorten the host's own time, `[cache] seconds`, unless the operator names the rule as
    `[cache] default_rule`, which makes it replace the host's own.

    Example:
        ```python
        def never_for_secrets(tool: ToolInfo, plan: str) -> CachePolicy | None:
            return CachePolicy(0) if "secret" in tool.toolsets else None


        @hookimpl
        def pressroom_cache_rules():
            return [CacheRule("no secrets", never_for_secrets)]
        ```
    """


@hookspec
def pressroom_branding(plugin: PluginContext) -> Iterable[Brander]:
    """Create the promotional block of responses. The operator selects a brander with `[branding] brander`.

    Example:
        ```python
        def short_block(branding: Branding) -> Mapping[str, str]:
            return {"name": branding.name, "mcpUrl": branding.mcp_url}


        @hookimpl
        def pressroom_branding():
            return [Brander("short", short_block)]
        ```
    """


@hookspec
def pressroom_backends(plugin: PluginContext) -> Iterable[Backend]:
    """Offer another file store, cache, limiter or the like. The operator selects one of each kind by name.

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
    """Keep tables in the server's database, with the plugin's own migrations and version table.

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
    """Name keys that every host with a shared database needs, such as those that encrypt rows.

    A host that does not have the key that the others write with is refused at its start, before its work can fail.

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
def pressroom_jobs(plugin: PluginContext) -> Iterable[Job]:
    """Run background jobs that survive a restart. Enqueue them with `plugin.services.jobs`.

    Example:
        ```python
        async def crawl(run: JobRun) -> Mapping[str, int]:
            await run.progress(0.5, "half of the pages")
            return {"pages": 12}


        @hookimpl
        def pressroom_jobs():
            return [Job("crawl", crawl)]
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
    """Name where your tools publish for an account, such as its websites.

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
    """Show users on the first page of the dashboard what is next in your plugin, and what needs their attention.

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


@hookspec
def pressroom_call_middleware(plugin: PluginContext) -> Iterable[CallMiddleware]:
    """Run something before and after each call of a tool, for example to trace, audit or time it.

    Middleware is entered in the order of `[middleware] order`, then of plugin id, and left in reverse. It cannot change
    a response: a failure is logged and counted, and middleware that takes longer than `[middleware] timeout` is
    cancelled. If you only need to know about finished calls, use an observer, which is cheaper: it does not delay the
    response.

    Example:
        ```python
        async def begin(call: CallInfo) -> float:
            IN_FLIGHT[call.tool.name] += 1
            return time.monotonic()


        async def end(began: float, record: CallRecord) -> None:
            IN_FLIGHT[record.tool] -= 1
            SECONDS[record.tool, record.code] += time.monotonic() - began


        @hookimpl
        def pressroom_call_middleware():
            return [CallMiddleware("stopwatch", begin, end)]
        ```
    """


@hookspec
def pressroom_observers(plugin: PluginContext) -> Iterable[Observer]:
    """Watch finished calls. Failures are counted and never reach a client.

    An observer that waits for something, such as a request, must be a coroutine function, so that it does not delay the
    response.

    Example:
        ```python
        def count(record: CallRecord) -> None:
            TOTALS[record.tool] += 1


        @hookimpl
        def pressroom_observers():
            return [Observer("totals", count)]
        ```
    """


@hookspec
def pressroom_checks(plugin: PluginContext) -> Iterable[Check]:
    """Add rows to `pressroom doctor`.

    Example:
        ```python
        async def fonts() -> CheckResult:
            return CheckResult("warning", "no CJK font", hint="install the extra `cjk`")


        @hookimpl
        def pressroom_checks():
            return [Check("fonts", fonts)]
        ```
    """


@hookspec
def pressroom_commands(plugin: PluginContext) -> Iterable[click.Command]:
    """Add commands under `pressroom x <plugin>`.

    A command runs without a server: `plugin.config` and `plugin.data_folder` are available, but `plugin.services` is
    not. If you need the database, write a tool, a page of the dashboard or a job instead.

    Example:
        ```python
        @click.command()
        def warm() -> None:
            click.echo("warm")


        @hookimpl
        def pressroom_commands():
            return [warm]
        ```
    """


@hookspec
def pressroom_lifespan(plugin: PluginContext) -> Iterable[Lifespan]:
    """Open something when the process starts and close it when the process stops: last in, first out.

    Example:
        ```python
        @asynccontextmanager
        async def connection():
            client = await connect()
            try:
                yield
            finally:
                await client.close()


        @hookimpl
        def pressroom_lifespan():
            return [Lifespan("connection", connection)]
        ```
    """
