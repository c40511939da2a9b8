"""Untrusted HTML that tries to act on the dashboard page that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party
from support.chromium import chromium
from support.content_client import client_of
from support.people import BrowserWithoutScreen, add_person

SHOW = "/dashboard/show"
CONNECTIONS = "/dashboard/connections"

# This has not been sanitised: the frame must contain it even if the sanitiser has a hole.
HOSTILE = """
<p id="seen">Some text</p>
<meta http-equiv="refresh" content="0; url=/dashboard/account">
<base href="https://evil.example/">
<script>top.location = "/dashboard/account"; document.getElementById("seen").textContent = "ran"</script>
<img src="x" onerror="document.getElementById('seen').textContent = 'ran'">
<style>@import url("https://evil.example/x.css"); * { background: url("https://evil.example/x.png") }</style>
<iframe src="/dashboard/account"></iframe><object data="/dashboard/account"></object>
<a id="top" href="/dashboard/account" target="_top">Continue reading</a>
<a id="inside" href="/dashboard/account" target="_self">Continue here</a>
<form method="post" action="/dashboard/connections"><input name="name" value="mallory"><button>Go on</button>
<form>
"""
SOURCE = (
    third_party.HEAD
    + f"""
from pressroom.sdk import sandboxed_frame

HOSTILE = {HOSTILE!r}

async def show(request):
    frame = sandboxed_frame(HOSTILE, title="A text", base_url="http://127.0.0.1")
    form = f'<form method="post"><input type="hidden" name="csrf" value="{{request.csrf_token}}"></form>'
    return HttpResponse(f"<h1>Shown</h1>{{frame}}{{form}}".encode())


@hookimpl
def pressroom_routes():
    return [Route("{SHOW}", show, page=DashboardPage("Show"))]
"""
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with articles and a plugin that shows this HTML."""
    folder: Path = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(folder, SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        config: dict[str, Any] = {"plugins": {plugin: {}, "content": {}}}
        with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
            yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.fixture
def page(browser: Browser, host: RunningHost, person: User) -> Iterator[Page]:
    """Return a browser page of a person who views the HTML."""
    token = host.run(host.host.accounts.sessions.start(person.id))
    context = browser.new_context()
    context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    page = context.new_page()
    page.goto(host.url + SHOW)
    yield page
    context.close()


@pytest.mark.browser
def test_hostile_html_neither_runs_nor_navigates_the_page(page: Page, host: RunningHost) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.reload()
    text = page.frame_locator("iframe")
    text.locator("#seen").wait_for()
    # Anything that would load from elsewhere or navigate away does so before the load events of frame and page.
    page.wait_for_load_state("networkidle")
    assert text.locator("#seen").text_content() == "Some text"
    assert page.url == host.url + SHOW
    assert not [url for url in requested if "evil.example" in url or url.endswith("/account")]
    # The forms and fields are the page's own: none of them comes from the text.
    assert page.locator("form").count() == 2
    assert page.locator("[name=csrf]").count() == 2
    assert text.locator("[name=csrf]").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("target", ["#top", "button", "#inside"])
def test_a_click_in_hostile_html_has_no_effect(page: Page, host: RunningHost, target: str) -> None:
    text = page.frame_locator("iframe")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    text.locator(target).click()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    assert page.url == host.url + SHOW
    assert not [url for url in requested if "/dashboard/account" in url or CONNECTIONS in url]
    page.goto(host.url + CONNECTIONS)
    assert "mallory" not in page.content()


def test_article_html_is_isolated_from_the_page_that_shows_it(host: RunningHost) -> None:
    client = client_of(host, "writer@example.org")
    body = '<h2 id="mark">Words</h2><p class="panel">More</p><p><a href="#mark">up</a></p>'
    article = client.data("create_content", title="A text", body=body, body_format="html")["content_id"]
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(client.user_id)))
        page = browser.get(f"/dashboard/articles/{article}")
    assert not page.tree.css("#mark")
    assert [node.text() for node in page.framed.css("#mark")] == ["Words"]
    (frame,) = page.tree.css("iframe")
    allowed = set(str(frame.attributes["sandbox"]).split())
    assert not allowed & {"allow-scripts", "allow-same-origin", "allow-forms", "allow-top-navigation", "allow-modals"}
    (policy,) = page.framed.css('meta[http-equiv="Content-Security-Policy"]')
    assert str(policy.attributes["content"]).startswith("default-src 'none';")
    assert "default-src 'none'" in page.response.headers["Content-Security-Policy"]
