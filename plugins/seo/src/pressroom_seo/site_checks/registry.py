"""All checks of a site, by their ids."""

from __future__ import annotations

from typing import Final

from pressroom_seo.site_checks import (
    page_delivery,
    page_indexing,
    page_media,
    page_status,
    page_text,
    site_content,
    site_indexing,
    site_links,
    site_whole,
)
from pressroom_seo.site_checks.model import CrawlCheck, PageCheck, RecordCheck, SiteCheck

OF_PAGES: Final[tuple[RecordCheck | PageCheck, ...]] = (
    *page_status.RECORD_CHECKS,
    *page_status.PAGE_CHECKS,
    *page_text.CHECKS,
    *page_indexing.CHECKS,
    *page_media.CHECKS,
    *page_delivery.CHECKS,
)
"""Checks of one URL, made while the site is read."""

OF_SITES: Final[tuple[SiteCheck, ...]] = (
    *site_links.CHECKS,
    *site_content.CHECKS,
    *site_indexing.CHECKS,
    *site_whole.CHECKS,
)
"""Checks of a whole site, made when everything has been read."""

CHECKS: Final[dict[str, CrawlCheck]] = {check.id: check for check in (*OF_PAGES, *OF_SITES)}
"""All of them."""
