"""The accessibility checker axe, for pages in a browser."""

from __future__ import annotations

from functools import cache
from typing import Any

from support.downloads import npm_package

VERSION = "4.14.1"


@cache
def axe_script() -> str:
    """Return the checker's source."""
    return (npm_package("axe-core", VERSION) / "axe.min.js").read_text("utf-8")


async def violations(page: Any) -> list[str]:
    """Return the WCAG 2.2 AA violations on a page with impact serious or critical, each with its elements.

    Frames are checked as separate pages: a sandboxed frame does not respond to the checker of the enclosing page.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe_script())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
    return [
        f"{violation['id']}: {[node['html'][:120] for node in violation['nodes']]}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
