"""A custom domain from the dashboard to the blog, as owner and reader see it: in a browser, without JavaScript."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from pressroom.testing import RunningHost
from support.axe import axe_script
from support.browser_fixtures import LAUNCH
from support.domain_names import DomainNames, wait_for
from support.needs import headless_chromium
from support.people import BrowserWithoutScreen

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .test_pages import Site

pytestmark = pytest.mark.browser

NAME = "engines.example.org"
RULES = "--host-resolver-rules=MAP engines.example.org 127.0.0.1"


def violations(page: Page) -> list[str]:
    page.evaluate(axe_script())
    rules = "['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']"
    report: dict[str, Any] = page.evaluate(f"axe.run(document, {{runOnly: {rules}, resultTypes: ['violations']}})")
    return [
        f"{violation['id']}: {json.dumps([node['html'] for node in violation['nodes']])[:300]}"
        for violation in report["violations"]
    ]


def test_an_owner_adds_and_removes_the_domain_of_a_blog(host: RunningHost, ada: Client) -> None:
    names, site = DomainNames(host), Site(host, ada, "Notes on engines", description="Wheels and cards.")
    site.publish("The first note", "Some words with [a link](/about).", slug="first")
    with BrowserWithoutScreen(host) as signed_in:
        signed_in.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        cookie = {"name": "pressroom_session", "value": signed_in.session_cookie(), "url": host.url}
    website_page, blog = f"{host.url}/dashboard/websites/{site.id}", f"http://{NAME}:{host.settings.server.port}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=headless_chromium(), args=[*LAUNCH, RULES])
        context = chromium.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=True)
        context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(website_page)
        panel = page.locator("section[aria-labelledby=domain]")
        panel.get_by_label("Domain").fill("no domain")
        panel.get_by_role("button", name="Save the domain").press("Enter")
        expect(panel.locator(".field-error")).to_contain_text("Must be a domain such as blog.example.org")
        panel.get_by_label("Domain").fill("blog.local")
        panel.get_by_role("button", name="Save the domain").click()
        error = panel.locator(".field-error")
        expect(error).to_contain_text(
            "blog.local cannot be looked up on the internet; give a domain that visitors reach."
        )
        assert error.evaluate("line => getComputedStyle(line, '::first-letter').textTransform") == "none"
        panel.get_by_label("Domain").fill(f"https://{NAME.upper()}/")
        panel.get_by_role("button", name="Save the domain").click()
        expect(panel).to_contain_text("waiting for DNS")
        expect(panel).to_contain_text("CNAME")
        panel.get_by_role("button", name="Check the domain now").click()
        expect(panel).to_contain_text("cannot be reached")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(website_page)
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") == 390
        names.here.add(NAME)
        panel.get_by_role("button", name="Check the domain now").click()
        expect(panel).to_contain_text("in use")
        wait_for(f"{blog}/first", 200, host=host)
        page.goto(f"{site.url}/first")
        assert page.url == f"{blog}/first"
        expect(page.locator("h1")).to_have_text("The first note")
        assert page.evaluate("getComputedStyle(document.querySelector('.column')).maxWidth") != "none"
        page.evaluate("document.fonts.ready")
        assert page.evaluate("[...document.fonts].filter(one => one.status === 'error').length") == 0
        assert [cookie["domain"] for cookie in context.cookies()] == ["127.0.0.1"]
        assert violations(page) == []
        page.get_by_role("link", name="Notes on engines").first.click()
        assert page.url.rstrip("/") == blog
        page.goto(website_page)
        panel.get_by_text("Remove the domain", exact=True).click()
        panel.get_by_role("button", name="Yes, remove the domain").click()
        expect(page.get_by_text("The site no longer has a custom domain.")).to_be_visible()
        page.goto(f"{site.url}/first")
        assert page.url == f"{site.url}/first"
        assert [complaint for complaint in complaints if "400" not in complaint] == []
        chromium.close()
