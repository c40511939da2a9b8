"""Headless Chromium for measuring the latency that users see."""

from support.browser_fixtures import browser

__all__ = ["browser"]
