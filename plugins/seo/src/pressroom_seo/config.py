"""Operator settings (`[plugins.seo.config]`) and the names of the background jobs."""

from __future__ import annotations

from typing import Annotated, Final

from pressroom.sdk import PluginConfig
from pydantic import Field

CRAWL: Final = "seo.crawl"
CHECK_LINKS: Final = "seo.check_links"
TIDY: Final = "seo.tidy"

Host = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[^/@\s]+$")]
Pages = Annotated[int, Field(ge=1, le=100_000)]


class SeoConfig(PluginConfig):
    """Limits for crawls, and how politely they proceed."""

    crawl_pages: dict[str, Pages] = Field(
        default_factory=dict,
        description="Maximum number of URLs that one crawl of a site requests, by the name of the account's plan.",
    )
    crawl_pages_default: Pages = Field(500, description="The same for plans that are not in `crawl_pages`.")
    crawl_links: int = Field(
        500,
        ge=0,
        le=20_000,
        description="Maximum number of images, files and links to other sites that one crawl checks.",
    )
    own_hosts: tuple[Host, ...] = Field(
        (),
        description=(
            "Hosts, such as `blog.example.org`, whose owner has agreed to crawls without pauses, with four requests at "
            "once. Others get one request per second and two at once. Built-in sites are always crawled without pauses."
        ),
    )
    lease_seconds: float = Field(
        60,
        ge=1,
        le=600,
        description="Lease in seconds: how long a process may be unresponsive before another one takes over its crawl.",
    )
    kept_reports: int = Field(
        24,
        ge=1,
        le=1000,
        description="Number of reports of a site whose scores are kept; details are only kept for the newest one.",
    )
