"""The page for connecting a website with its sources, in a real browser."""

from __future__ import annotations

import pytest
from pressroom.testing import RunningHost
from support.axe import axe_script
from support.chromium import chromium, chromium_page
from support.google_sign_in import SigningIn
from support.people import BrowserWithoutScreen
from support.standin_google import Google

from .analytics import DOMAIN, Plausible
from .bing import Bing
from .conftest import Site, new_site
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


@pytest.mark.parametrize("host", ["sqlite"], indirect=True)
def test_signing_in_with_google_needs_no_javascript(site: Site, google: Google) -> None:
    google.properties["ada@gmail.example"] |= {site.property, f"{site.client.host.url}/"}
    with BrowserWithoutScreen(site.client.host) as browser:
        person = SigningIn(site.client.host, google, browser, site.client.user_id, site.website.id)
        token = browser.session_cookie()
    with chromium() as running:
        context = running.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
        context.add_cookies([{"name": "pressroom_session", "value": token, "domain": "127.0.0.1", "path": "/"}])
        page = context.new_page()
        page.goto(f"{site.client.host.url}{person.path}")
        page.get_by_role("button", name="Sign in with Google").click()
        page.get_by_role("button", name="Cancel").click()
        assert "you declined" in page.get_by_role("alert").inner_text()
        page.get_by_role("button", name="Sign in with Google").press("Enter")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("radio", name=f"{site.client.host.url}/", exact=False).last.check()
        page.get_by_role("button", name="Connect this property").click()
        assert page.locator("#source-google .badge").inner_text() == "connected"
        assert page.url == f"{site.client.host.url}{person.path}"


@pytest.mark.parametrize(("scheme", "width"), [("dark", 390), ("light", 1280)])
@pytest.mark.parametrize("host", ["sqlite"], indirect=True)
def test_choosing_a_property_is_accessible_and_fits(site: Site, google: Google, scheme: str, width: int) -> None:
    long = f"{site.property}{'a-rather-long-folder-of-somebody/' * 4}"
    google.properties["ada@gmail.example"] |= {site.property, f"{site.client.host.url}/", long}
    with BrowserWithoutScreen(site.client.host) as browser:
        person = SigningIn(site.client.host, google, browser, site.client.user_id, site.website.id)
        person.sign_in()
        token = browser.session_cookie()
    with chromium_page(width, 800) as page:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.context.add_cookies([{"name": "pressroom_session", "value": token, "domain": "127.0.0.1", "path": "/"}])
        page.goto(f"{site.client.host.url}{person.path}")
        assert page.get_by_role("radio").count() == 2 + 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(axe_script())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [one["id"] for one in found["violations"]] == []
