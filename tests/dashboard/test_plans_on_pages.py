"""Plans: a tool that a plan leaves out cannot be used through the dashboard pages either."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.content_client import Client, client_of
from support.people import BrowserWithoutScreen

ARTICLES, CALENDAR, WEBSITES = "/dashboard/articles", "/dashboard/calendar", "/dashboard/websites"
STARTER = ["list_*", "get_content", "get_account_usage"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with two plans: one with all tools, one without some of them."""
    plans = {
        "free": {"title": "Starter", "tools": STARTER},
        "pro": {"title": "Professional", "tools": ["*"]},
    }
    config = {"plugins": {"content": {}, "images": {}}, "plans": plans}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def ada(host: RunningHost) -> Client:
    """Return a client of an account on the smaller plan, with an article of two versions and a website."""
    client = client_of(host, "ada@example.org")
    users = host.host.accounts.users
    host.run(users.set_plan(client.user_id, "pro"))
    return client


def test_a_plan_cannot_be_bypassed_on_the_pages(host: RunningHost, ada: Client) -> None:
    article = ada.data("create_content", title="Tea", body="Leaves.")["content_id"]
    ada.data("update_content", content_id=article, expected_version=1, fields={"body": "Water."})
    ada.data("connect_website", platform="builtin", name="Mine")
    website = f"{WEBSITES}/{ada.data('list_websites')['websites'][0]['id']}"
    article_path, version_path = f"{ARTICLES}/{article}", f"{ARTICLES}/{article}/versions/1"
    forms = [
        (article_path, {"do": "export", "format": "markdown"}, "export_content"),
        (article_path, {"do": "trash"}, "delete_content"),
        (version_path, {}, "restore_content"),
        (CALENDAR, {"do": "add", "title": "x"}, "save_content_idea"),
        (WEBSITES, {"platform": "builtin", "name": "Second"}, "connect_website"),
        (website, {"do": "settings", "name": "Other"}, "update_website_settings"),
        (website, {"do": "check"}, "get_website"),
        ("/dashboard/media", {"do": "upload"}, "create_upload_url"),
        (article_path, [("do", "nonsense"), ("do", "export"), ("format", "json")], "export_content"),
        (article_path, [("do", "export"), ("do", "nonsense")], "export_content"),
    ]
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        tokens = {path: _token(browser, path) for path, _, _ in forms}
        host.run(host.host.accounts.users.set_plan(ada.user_id, "free"))
        for path, fields, tool in forms:
            pairs = [*(fields.items() if isinstance(fields, dict) else fields), ("csrf", tokens[path])]
            response = _post(browser, path, pairs)
            assert response.status_code == 403, (path, fields)
            assert f"{tool} is not in the plan Starter; it is in Professional" in response.text
        # Actions that only give something up remain possible.
        assert _post(browser, website, [("do", "pause"), ("csrf", tokens[website])]).status_code == 200
        host.run(host.host.accounts.users.set_plan(ada.user_id, "pro"))
        for path, fields, _ in forms[:1]:
            assert isinstance(fields, dict)
            assert _post(browser, path, [*fields.items(), ("csrf", tokens[path])]).status_code == 200


def _token(browser: BrowserWithoutScreen, path: str) -> str:
    token = browser.get(path).tree.css_first(".account-main form[method=post] input[name=csrf]")
    assert token is not None, path
    return str(token.attributes["value"])


def _post(browser: BrowserWithoutScreen, path: str, pairs: list[tuple[str, str]]) -> httpx.Response:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": browser.url}
    return browser.client.post(path, content=urlencode(pairs), headers=headers)
