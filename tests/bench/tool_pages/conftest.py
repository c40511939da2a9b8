"""Headless Chromium for what people wait for."""

from support.browser_fixtures import browser

__all__ = ["browser"]
