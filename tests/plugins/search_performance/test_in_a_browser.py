"""The page on which a website is connected with sources, in a real browser."""

from __future__ import annotations

import pytest
from pressroom.testing import RunningHost
from support.axe import axe_script
from support.chromium import chromium_page
from support.people import BrowserWithoutScreen
from support.standin_google import Google

from .analytics import DOMAIN, Plausible
from .bing import Bing
from .conftest import new_site
from .standing_in import Apis


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 320)])
def test_the_page_is_accessible_and_fits(full_host: RunningHost, apis: Apis, scheme: str, width: int) -> None:
    apis.by_name["bing"] = Bing()
    apis.by_name["plausible"].failing = None
    site = new_site(full_host, Google())
    path = f"/dashboard/search/{site.website.id}"
    with BrowserWithoutScreen(full_host) as browser:
        browser.enter(full_host, full_host.run(full_host.host.accounts.users.get(site.client.user_id)))
        typed = {"source": "plausible", "do": "connect", "property": DOMAIN, "api_key": Plausible.KEY}
        assert browser.submit(browser.get(path), path, **typed).status == 200
        token = browser.session_cookie()
    with chromium_page(width, 800) as page:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.context.add_cookies([{"name": "pressroom_session", "value": token, "domain": "127.0.0.1", "path": "/"}])
        page.goto(f"{full_host.url}{path}")
        page.locator("#source-umami summary").click()
        page.locator("#source-plausible summary").click()
        assert page.get_by_label("Website ID").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(axe_script())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [one["id"] for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert serious == []
