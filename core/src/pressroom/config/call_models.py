"""Settings for calls: limits, previews, image links, plugin middleware, plans and tools."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pressroom.config.values import Duration, QuotaName, RateText, Section, Size, ToolName, WholeNumber


class LimitsSettings(Section):
    """`[limits]`: where requests are counted, and how many runs one caller may have in progress."""

    backend: str = Field(
        "auto", description="`memory`, `redis`, a plugin's backend, or `auto`: `redis` if it is configured."
    )
    on_outage: Literal["allow", "refuse"] = Field(
        "allow", description="What happens to calls while the limits cannot be counted."
    )
    default_limit: str = Field(
        "default",
        min_length=1,
        description="Name of the rate limit that replaces the server's own, `default`; other limits apply as well.",
    )
    max_keys: WholeNumber = Field(
        100_000, ge=1000, description="Maximum number of (tool, client) pairs in the memory backend."
    )
    anonymous_concurrency: WholeNumber = Field(
        2,
        ge=0,
        le=10_000,
        description=(
            "Generator runs that one caller without an account may have running or waiting in one process; 0 means no "
            "limit. Cached results do not count."
        ),
    )


class PreviewsSettings(Section):
    """`[previews]`: previews on the pages of generators, drawn while users edit a form. API limits ignore them."""

    rate_limit: RateText = Field(
        "1200/hour",
        description="Previews for one IP address. Those with fetched or reduced images count as ten, slow ones more.",
    )
    slots: WholeNumber = Field(
        0, ge=0, le=256, description="Previews drawn at once; 0 means half as many as worker processes, at least one."
    )
    max_pixels: WholeNumber = Field(
        1_600_000, ge=65_536, le=100_000_000, description="Larger images are scaled down before they are sent."
    )


class ImageLinksSettings(Section):
    """`[image_links]`: URLs of images that do not expire. The images are drawn when somebody requests them."""

    enabled: bool = Field(
        True, description="Whether to create such URLs and serve their images. If false, both return 404."
    )
    rate_limit: RateText = Field(
        "600/hour", description="Images drawn for one IP address; images from the cache do not count."
    )
    blocked: tuple[str, ...] = Field(
        (), description="Values of `signature` in URLs that were withdrawn; these URLs return 403."
    )


class MiddlewareSettings(Section):
    """`[middleware]`: what plugins run around every call, for example to trace it."""

    order: tuple[str, ...] = Field(
        (), description="Middleware of plugins, outermost first; any others follow, ordered by plugin ID."
    )
    timeout: Duration = Field(
        1, gt=0, le=60, description="Time that one middleware may take before a call, and again after it."
    )


class PlanSettings(Section):
    """`[plans.<name>]`: the tools, limits and quotas of a plan."""

    title: str = Field("", description="Name that users see.")
    tools: tuple[str, ...] = Field(("*",), description="Tools of the plan: slugs or MCP names, with * and ?.")
    rate_limits: dict[ToolName, RateText] = Field(
        default_factory=dict, description="Limits of this plan, by tool; they replace the tool's own limits."
    )
    quotas: dict[QuotaName, WholeNumber] = Field(
        default_factory=dict, description="Monthly amount by quota class; a class that is left out has no limit."
    )
    storage: Size = Field(
        5_000_000_000,
        ge=0,
        description=(
            "Total bytes that an account may store, including articles with their versions, images, exports and what "
            "other plugins keep for it; 0 means no limit."
        ),
    )


class ToolSettings(Section):
    """`[tools.<slug>]`: changes to one tool."""

    enabled: bool = Field(True, description="Whether the tool can be used at all.")
    rate_limit: RateText | None = Field(
        None, description='Rate limit, such as "300/hour"; replaces the tool\'s own limit.'
    )
    timeout: Duration | None = Field(None, gt=0, le=600, description="Time that one run may take.")
    cache_seconds: Duration | None = Field(
        None, ge=0, description="How long results are served from the cache; 0 means never."
    )
