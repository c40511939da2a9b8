"""Headless Chromium for page tests."""

from support.browser_fixtures import browser, shared_page

__all__ = ["browser", "shared_page"]
