"""The plugin: a generator, and a tool for AI clients."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import (
    Annotations,
    Artifact,
    Call,
    Example,
    Generator,
    Mcp,
    McpTool,
    Plugin,
    generator,
    hookimpl,
    mcp_tool,
    per_hour,
)

from {{ cookiecutter.package }}.params import BadgeParams, BadgeSize, Config, TextParams

PLUGIN = Plugin(
    id="{{ cookiecutter.plugin_id }}",
    api="1",
    title="{{ cookiecutter.title }}",
    summary="Draws badges: a label and a value side by side.",
    config=Config,
)


@generator(
    slug="{{ cookiecutter.name }}",
    name="{{ cookiecutter.title }}",
    summary="Draws a badge as SVG.",
    tags=("badge", "svg"),
    rate_limit=per_hour(300),
    timeout=5,
    produces=("image/svg+xml",),
    details=BadgeSize,
    mcp=Mcp(
        name="{{ cookiecutter.plugin_id }}_draw",
        description=(
            "Draws a badge such as those in READMEs: a label and a value side by side. Use it when someone wants a "
            "status badge. Returns a link to an SVG file that works for three hours, and its size in pixels."
        ),
    ),
    examples=(
        Example("The state of a build", {"label": "build", "value": "passing", "color": "#2f6f4f"}),
        Example("A version", {"label": "version", "value": "1.4.0"}),
    ),
)
def draw(params: BadgeParams, call: Call) -> Artifact:
    """Draws a badge: a label on the left and a value on the right, each half as wide as its text."""
    # Imported here, so that the worker process loads it instead of the server at startup.
    from {{ cookiecutter.package }}.render import render

    config: Config = call.config
    return render(params, config.label_color)


@mcp_tool(
    name="{{ cookiecutter.plugin_id }}_measure",
    title="Measure a badge",
    annotations=Annotations(read_only=True, idempotent=True),
)
async def measure(params: TextParams, call: Call) -> BadgeSize:
    """Tells how large a badge would be, without drawing it. Use it to lay out a page. Returns pixels."""
    from {{ cookiecutter.package }}.render import badge_size

    return badge_size(params)


@hookimpl
def pressroom_generators() -> Iterable[Generator]:
    """Offer the generator."""
    return [draw]


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Offer the tool for AI clients."""
    return [measure]
