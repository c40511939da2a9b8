"""The accessibility checker axe, for pages in a browser."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from support.downloads import npm_package

VERSION = "4.14.1"

# A rule has the same impact for all elements, so the rules that only report less are switched off. By default, the only
# rule of WCAG 2.2 is off.
_RUN: Final = """async () => {
    const minor = axe._audit.rules.filter(({ impact }) => ["minor", "moderate"].includes(impact));
    const rules = Object.fromEntries(minor.map(({ id }) => [id, { enabled: false }]));
    rules["target-size"] = { enabled: true };
    const options = { resultTypes: ["violations"], iframes: false, selectors: false, rules };
    const { violations } = await axe.run(document, options);
    return violations
        .filter(({ impact }) => ["serious", "critical"].includes(impact))
        .map(({ id, nodes }) => ({ id, elements: nodes.map(({ html }) => html.slice(0, 120)) }));
}"""


@cache
def axe_script() -> str:
    """Return the checker's source."""
    return (npm_package("axe-core", VERSION) / "axe.min.js").read_text("utf-8")


async def violations(page: Any) -> list[str]:
    """Return the WCAG 2.2 AA violations on a page with impact serious or critical, each with its elements.

    Frames are checked as separate pages: a sandboxed frame does not respond to the checker of the enclosing page.
    """
    if not await page.evaluate("'axe' in window || Boolean(window.loadAxe?.())"):
        await page.evaluate(axe_script())
        # Documents that this page opens later already have it: sending it takes longer than checking a small page.
        await page.add_init_script(f"window.loadAxe = () => {{ {axe_script()}; return true; }};")
    violations = await page.evaluate(_RUN)
    return [f"{violation['id']}: {violation['elements']}" for violation in violations]
