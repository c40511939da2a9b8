"""The pages in a browser: accessible, without scripts, on small screens and in the dark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page
from pressroom.testing import RunningHost
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from support.axe import axe_script
from support.chromium import chromium_page
from support.people import BrowserWithoutScreen

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin

pytestmark = pytest.mark.browser

BODY = """The first paragraph, with **weight**, `code` and [a link](https://example.com/).

## A section

> A quotation.

| Part | What it does | A third column |
|---|---|---|
| Store | keeps a thousand numbers of fifty digits each | 50,000 |

```python
print("a line of code that is far too long for a telephone and has to scroll inside of its own box, not the page")
```

averylongwordwithoutanyplacetobreakitwhichnobodywouldwritebutsomebodypastesintoanarticleoneday
"""


def violations(page: Page) -> list[str]:
    page.evaluate(axe_script())
    found: dict[str, Any] = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice']})"
    )
    return [f"{one['id']}: {json.dumps([node['html'] for node in one['nodes']])[:300]}" for one in found["violations"]]


def test_pages_are_accessible_and_fit(host: RunningHost, ada: Client) -> None:
    made = ada.data("connect_website", platform="builtin", name="Notes on engines and other machines")
    articles = Articles(ada.plugin)
    url = ""
    for title in ("An older note", "The engine that was never built, and what became of all its wheels"):
        draft = Draft(
            title=title, body=BODY, tags=("engines",), categories=("History",), excerpt="In short.", author="Ada"
        )
        article = host.run(articles.create(ada.user_id, draft)).article.id
        url = ada.data("publish_content", content_id=article, website_id=made["website_id"])["url"]
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        session = browser.session_cookie()
    own = f"{host.url}/dashboard/websites"
    with chromium_page(320, 800) as page:
        page.context.add_cookies([{"name": "pressroom_session", "value": session, "url": host.url}])
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for address in (
                url,
                made["connect_url"],
                f"{made['connect_url']}/missing",
                own,
                f"{own}/{made['website_id']}",
            ):
                page.goto(address)
                assert page.evaluate("document.documentElement.scrollWidth") == 320, address
                assert violations(page) == [], (scheme, address)
        assert [one for one in complaints if "404" not in one] == []
