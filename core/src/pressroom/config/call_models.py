"""Settings of calls: their limits, what is drawn beside them, and what plugins do around them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pressroom.config.values import Duration, RateText, Section, WholeNumber


class LimitsSettings(Section):
    """`[limits]`: where requests are counted, and how many one caller may have under way."""

    backend: str = Field("auto", description="`memory`, `redis`, a plugin's, or `auto`: redis where it is configured.")
    on_outage: Literal["allow", "refuse"] = Field(
        "allow", description="What happens to calls while the limits cannot be counted."
    )
    default_limit: str = Field(
        "default",
        min_length=1,
        description="Name of the rate limit that applies instead of the server's own, `default`; others add to it.",
    )
    max_keys: WholeNumber = Field(
        100_000, ge=1000, description="How many (tool, client) pairs the memory backend keeps."
    )
    anonymous_concurrency: WholeNumber = Field(
        2,
        ge=0,
        le=10_000,
        description=(
            "Generator runs that one caller without an account may have under way or waiting in one process; 0 means "
            "no bound. Cached results do not count."
        ),
    )


class PreviewsSettings(Section):
    """`[previews]`: what the pages of generators draw while people change a form. No limit of the API counts it."""

    rate_limit: RateText = Field(
        "1200/hour",
        description="Previews that one IP address gets. Fetched or shrunk images count as ten, slow ones as more.",
    )
    slots: WholeNumber = Field(
        0, ge=0, le=256, description="Previews drawn at once; 0 means half as many as worker processes, at least one."
    )
    max_pixels: WholeNumber = Field(
        1_600_000, ge=65_536, le=100_000_000, description="A larger image is made smaller before it is sent."
    )


class ImageLinksSettings(Section):
    """`[image_links]`: lasting URLs of images, which are drawn when somebody fetches them."""

    enabled: bool = Field(True, description="Give lasting URLs, and draw what they hold. Otherwise both answer 404.")
    rate_limit: RateText = Field(
        "600/hour", description="Images that are drawn for one IP address; those from the cache are not counted."
    )
    blocked: tuple[str, ...] = Field(
        (), description="Values of `signature` in URLs that were withdrawn: they answer 403."
    )


class MiddlewareSettings(Section):
    """`[middleware]`: what plugins run around every call, such as to trace it."""

    order: tuple[str, ...] = Field(
        (), description="Middleware of plugins, outermost first; those not named follow in the order of plugin id."
    )
    timeout: Duration = Field(
        1, gt=0, le=60, description="Time that one middleware gets before a call, and again after it."
    )
