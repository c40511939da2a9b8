"""Settings for calls: limits, previews, links of images, and middleware of plugins."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pressroom.config.values import Duration, RateText, Section, WholeNumber


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
