"""The sign-in and consent pages in a real browser, which enforces Content-Security-Policy and cookie rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from support.chromium import chromium
from support.mcp_clients.clients import PYTHON_2, TYPESCRIPT_2, Call, Client
from support.mcp_server import EMAIL, PASSWORD, McpServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


def decide(page: Page, button: str, url: str) -> None:
    """Sign in at the URL that a client opens, and press a button of the consent page."""
    page.goto(url)
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_text("You can close this window.")).to_be_visible()


@pytest.mark.parametrize(
    ("client", "scripting"),
    [(PYTHON_2, True), (TYPESCRIPT_2, False)],
    ids=["Python, with JavaScript", "TypeScript, without JavaScript"],
)
def test_the_buttons_of_the_pages_return_to_the_client(
    browser: Browser, client: Client, scripting: bool, server: McpServer, store: Path, tmp_path: Path
) -> None:
    new_page = browser.new_page(java_script_enabled=scripting)
    allow = partial(decide, new_page, "Allow")
    calls = [Call("get_account_usage")]
    report = client.run(server.mcp_url, tmp_path / "client", calls, store=store, browser=allow)
    assert report.calls[0]["structuredContent"]["plan"] == "free"
    assert urlsplit(new_page.url).netloc != urlsplit(server.url).netloc
    new_page.close()


def test_the_deny_button_notifies_the_client(browser: Browser, server: McpServer, store: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    deny = partial(decide, page, "Deny")
    report = PYTHON_2.run(server.mcp_url, tmp_path / "client", store=store, browser=deny)
    assert report.returned[0]["error"] == "access_denied"
    assert report.failed["type"] == "OAuthFlowError"
    page.close()
