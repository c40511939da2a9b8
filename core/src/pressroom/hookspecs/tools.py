"""Hooks for tools and their instructions, jobs, checks, commands and lifespans."""

from __future__ import annotations

from collections.abc import Iterable

import click
import pluggy

from pressroom.sdk import (
    Check,
    Generator,
    Instructions,
    Job,
    Lifespan,
    McpTool,
    PluginContext,
)

hookspec = pluggy.HookspecMarker("pressroom")


@hookspec
def pressroom_generators(plugin: PluginContext) -> Iterable[Generator]:
    """Offer generators: tools that produce a file.

    The generators of all plugins are combined; each slug must be unique. A plugin without this hook offers the
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
    without this hook offers the tools at the top level of its module, except those whose names begin with an
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
    """Tell models how your tools work together: which to call first, and what only the user can do.

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
    """Open a resource when the process starts and close it when the process stops, in reverse order.

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
