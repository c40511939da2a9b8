"""What operators configure (`[plugins.seo.config]`), and the names of the background jobs."""

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
    """How far crawls go, and how politely."""

    crawl_pages: dict[str, Pages] = Field(
        default_factory=dict,
        description="How many URLs of a site one crawl requests, by the name of the account's plan.",
    )
    crawl_pages_default: Pages = Field(500, description="The same for plans that `crawl_pages` does not name.")
    crawl_links: int = Field(
        500, ge=0, le=20_000, description="How many images, files and links to other sites one crawl checks."
    )
    own_hosts: tuple[Host, ...] = Field(
        (),
        description=(
            "Hosts, such as `blog.example.org`, whose owner agreed to be crawled without pauses: four requests at "
            "once. Others get one request a second and two at once. Built-in sites are crawled without pauses anyway."
        ),
    )
    lease_seconds: float = Field(
        60,
        ge=1,
        le=600,
        description="Seconds without a sign of life from a process before another one takes over its crawl.",
    )
    kept_reports: int = Field(
        24, ge=1, le=1000, description="Reports of a site whose scores are kept; details are kept of the newest one."
    )
