"""The page for connecting a website with its sources, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pressroom.testing import RunningHost
from support.axe import axe_script
from support.chromium import chromium
from support.google_sign_in import SigningIn
from support.people import BrowserWithoutScreen
from support.standin_google import Google

from .analytics import DOMAIN, Plausible
from .bing import Bing
from .conftest import Site, new_site
from .standing_in import Apis


@pytest.fixture(scope="module")
def shared_browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def open_page(browser: Browser, url: str, token: str, **options: Any) -> Page:
    """Open a page of a server in a new context, signed in with a session's token."""
    context = browser.new_context(**options)
    context.add_cookies([{"name": "pressroom_session", "value": token, "domain": "127.0.0.1", "path": "/"}])
    page = context.new_page()
    page.goto(url)
    return page


def violations(page: Page) -> list[dict[str, Any]]:
    """Return everything that axe finds on a page."""
    page.evaluate(axe_script())
    options = "{resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}"
    problems: list[dict[str, Any]] = page.evaluate(f"axe.run(document, {options})")["violations"]
    return problems


def test_the_page_is_accessible_and_fits(full_host: RunningHost, apis: Apis, shared_browser: Browser) -> None:
    apis.by_name["bing"] = Bing()
    apis.by_name["plausible"].failing = None
    site = new_site(full_host, Google())
    path = f"/dashboard/search/{site.website.id}"
    with BrowserWithoutScreen(full_host) as browser:
        browser.enter(full_host, full_host.run(full_host.host.accounts.users.get(site.client.user_id)))
        fields = {"source": "plausible", "do": "connect", "property": DOMAIN, "api_key": Plausible.KEY}
        assert browser.submit(browser.get(path), path, **fields).status == 200
        token = browser.session_cookie()
    for scheme, width in (("light", 1200), ("dark", 320)):
        options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        page = open_page(shared_browser, f"{full_host.url}{path}", token, **options)
        page.locator("#source-umami summary").click()
        page.locator("#source-plausible summary").click()
        assert page.get_by_label("Website ID").is_visible(), scheme
        assert page.evaluate("document.documentElement.scrollWidth") <= width, scheme
        serious = [violation["id"] for violation in violations(page) if violation["impact"] in ("serious", "critical")]
        assert serious == [], scheme
        page.context.close()


@pytest.mark.parametrize("host", ["sqlite"], indirect=True)
def test_signing_in_with_google_needs_no_javascript(site: Site, google: Google, shared_browser: Browser) -> None:
    google.properties["ada@gmail.example"] |= {site.property, f"{site.client.host.url}/"}
    with BrowserWithoutScreen(site.client.host) as browser:
        person = SigningIn(site.client.host, google, browser, site.client.user_id, site.website.id)
        token = browser.session_cookie()
    options = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": False}
    page = open_page(shared_browser, f"{site.client.host.url}{person.path}", token, **options)
    page.get_by_role("button", name="Sign in with Google").click()
    page.get_by_role("button", name="Cancel").click()
    assert "you declined" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Sign in with Google").press("Enter")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("radio", name=f"{site.client.host.url}/", exact=False).last.check()
    page.get_by_role("button", name="Connect this property").click()
    assert page.locator("#source-google .badge").inner_text() == "connected"
    assert page.url == f"{site.client.host.url}{person.path}"
    page.context.close()


@pytest.mark.parametrize("host", ["sqlite"], indirect=True)
def test_choosing_a_property_is_accessible_and_fits(site: Site, google: Google, shared_browser: Browser) -> None:
    long = f"{site.property}{'a-rather-long-folder-of-somebody/' * 4}"
    google.properties["ada@gmail.example"] |= {site.property, f"{site.client.host.url}/", long}
    with BrowserWithoutScreen(site.client.host) as browser:
        person = SigningIn(site.client.host, google, browser, site.client.user_id, site.website.id)
        person.sign_in()
        token = browser.session_cookie()
    for scheme, width in (("dark", 390), ("light", 1280)):
        options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        page = open_page(shared_browser, f"{site.client.host.url}{person.path}", token, **options)
        assert page.get_by_role("radio").count() == 2 + 1, scheme
        assert page.evaluate("document.documentElement.scrollWidth") <= width, scheme
        assert [violation["id"] for violation in violations(page)] == [], scheme
        page.context.close()
