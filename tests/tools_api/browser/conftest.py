"""Headless Chromium for the tests that look at pages as people do."""

from support.browser_fixtures import browser, shared_page

__all__ = ["browser", "shared_page"]
