"""Transfer size of pages with an empty cache, and layout shifts while they load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.async_api import Browser, BrowserContext
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.content_client import client_of
from support.people import add_person

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

MAX_BYTES: Final = 150_000
MAX_SHIFT: Final = 0.02
TOOLS: Final = ("image-generator", "qr-code-generator", "favicon-generator", "code-to-image")
BODY: Final = """The first paragraph, with **weight**, *stress*, `code` and [a link](https://example.com/), on lines.

## A section

| Part | What it does |
|---|--:|
| Store | keeps a thousand numbers |

```python
print("a line of code")
```
"""
SHIFTS: Final = """
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifts.push(shift.value);
    }).observe({ type: "layout-shift", buffered: true });
"""
SETTLED: Final = """async () => {
    await document.fonts.ready;
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    return window.shifts.reduce((sum, value) => sum + value, 0);
}"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with all built-in plugins."""
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.fixture(scope="module")
def blog(host: RunningHost, person: User) -> list[str]:
    """Return the URLs of a blog's home page and of one post."""
    client = client_of(host, person.email)
    website = client.data("connect_website", platform="builtin", name="Notes on engines")
    article = client.data(
        "create_content", title="The engine that was never built, and the programs that were written for it", body=BODY
    )
    publication = client.data("publish_content", content_id=article["content_id"], website_id=website["website_id"])
    return [website["connect_url"], publication["url"]]


async def visit(context: BrowserContext, url: str) -> tuple[int, float]:
    """Return the bytes transferred for a page and its resources, and its cumulative layout shift."""
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    sizes: dict[str, int] = defaultdict(int)

    def count(event: dict[str, Any]) -> None:
        sizes[event["requestId"]] += int(event["encodedDataLength"])

    session.on("Network.loadingFinished", count)
    await session.send("Network.enable")
    await page.goto(url, wait_until="networkidle")
    return sum(sizes.values()), float(await page.evaluate(SETTLED))


@pytest.mark.parametrize(("width", "height", "pixels"), [(1280, 800, 1), (390, 844, 2)], ids=["desktop", "phone"])
async def test_pages_are_small_and_do_not_shift(
    browser: Browser, host: RunningHost, person: User, blog: list[str], width: int, height: int, pixels: int
) -> None:
    token = host.run(host.host.accounts.sessions.start(person.id))
    cookie = {"name": "pressroom_session", "value": token, "url": host.url}
    public = ["/", "/tools", *(f"/tools/{slug}" for slug in TOOLS), "/openapi.json", "/sign-in"]
    paths = [*public, "/dashboard", "/dashboard/connections", *(url.removeprefix(host.url) for url in blog)]
    visits: dict[str, tuple[int, float]] = {}
    for path in paths:
        context = await browser.new_context(
            viewport={"width": width, "height": height}, device_scale_factor=pixels, color_scheme="light"
        )
        if path.startswith("/dashboard"):
            await context.add_cookies([cookie])  # type: ignore[list-item]
        await context.add_init_script(SHIFTS)
        visits[path] = await visit(context, host.url + path)
        await context.close()
    assert {path: weight for path, (weight, _) in visits.items() if not 0 < weight < MAX_BYTES} == {}
    assert {path: shift for path, (_, shift) in visits.items() if shift >= MAX_SHIFT} == {}
