"""Dashboard pages added by plugins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party
from support.people import BrowserWithoutScreen, add_person

SOURCE = (
    third_party.HEAD
    + """
async def websites(request):
    if request.method == "POST":
        return HttpResponse(b"", 303, headers={"Location": "/dashboard/websites?saved=yes"})
    assert "cookie" not in request.headers
    body = (
        f"<h1>Websites of {request.subject}</h1><form method=post action=/dashboard/websites>"
        f"<input type=hidden name=csrf value={request.csrf_token}></form>"
    )
    return HttpResponse(body.encode())


async def website(request):
    if request.path_params["id"] == "raises":
        raise type("Panic", (BaseException,), {})("the secret ingredient is nutmeg")
    if request.path_params["id"] == "nothing":
        return None
    if request.path_params["id"] == "none":
        raise NotFound("there is no such website")
    return HttpResponse(b"a,b", media_type="text/csv")


async def letter(request):
    if request.method == "POST":
        return HttpResponse(f"<p>{len(request.form['text'])} characters from {request.subject}</p>".encode())
    path = f"/dashboard/letters/{request.path_params['id']}"
    form = f"<form method=post action={path}><input type=hidden name=csrf value={request.csrf_token}></form>"
    return HttpResponse(form.encode())


async def outing(request):
    return HttpResponse(f"<h1>{request.session}</h1>".encode())


async def everyone(request):
    return HttpResponse(f"nobody:{request.subject}{request.csrf_token}{request.session}".encode())


@hookimpl
def pressroom_routes():
    page = DashboardPage("Websites", group="Work")
    return [
        Route("/dashboard/websites", websites, ("GET", "POST"), page),
        Route("/dashboard/websites/<id>", website, page=page),
        Route("/dashboard/letters/<id>", letter, ("GET", "POST"), DashboardPage("Letter"), max_body_bytes=200_000),
        Route("/dashboard/outings/<id>", outing, page=DashboardPage("Outing", redirecting=True)),
        Route("/colophon", everyone),
    ]
"""
)


LOCKING = (
    third_party.HEAD
    + """
import sqlite3


@mcp_tool(name="shouted", title="Shouted", quota="articles_created")
async def shouted(params: ShoutParams, call: Call) -> dict[str, str]:
    \"\"\"Shout.\"\"\"
    return {}


async def shout(request):
    other_process = sqlite3.connect({path!r}, isolation_level=None)
    try:
        async with request.charge("shouted") as is_free:
            other_process.execute("BEGIN IMMEDIATE")
            if request.path_params["text"] == "unknown":
                raise NotFound("there is no such text")
            is_free()
    finally:
        other_process.close()
    return HttpResponse(b"<p>Nobody heard it.</p>")


@hookimpl
def pressroom_mcp_tools():
    return [shouted]


@hookimpl
def pressroom_routes():
    return [Route("/dashboard/shouts/<text>", shout, page=DashboardPage("Shout"))]
"""
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with a plugin that adds pages."""
    folder: Path = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(folder, SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        with RunningHost(
            settings_for_test({"builtin_plugins": False, "plugins": {plugin: {}}}, tmp_path_factory.mktemp("data"))
        ) as running:
            yield running


def test_a_plugin_page_is_in_the_navigation_and_the_layout(host: RunningHost, signed_in: BrowserWithoutScreen) -> None:
    titles = [node.text() for node in signed_in.get("/dashboard").tree.css(".account-nav li")]
    assert titles == ["Overview", "Websites", "Connections", "Activity", "Members", "Account"]
    groups = [node.text() for node in signed_in.get("/dashboard").tree.css(".nav-title")]
    assert groups == ["Work", "Settings"]
    page = signed_in.get("/dashboard/websites")
    assert page.one("h1").startswith("Websites of u_")
    assert page.one(".account-nav [aria-current]") == "Websites"
    assert page.title == "Websites · Pressroom"
    assert page.response.headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in page.response.headers["Content-Security-Policy"]


def test_a_signed_out_visitor_is_sent_to_sign_in_and_back(browser: BrowserWithoutScreen) -> None:
    page = browser.get("/dashboard/websites?x=1")
    assert page.path == "/sign-in"
    assert page.fields("/sign-in")["return_to"] == "/dashboard/websites?x=1"


def test_forms_need_the_token(signed_in: BrowserWithoutScreen) -> None:
    path = "/dashboard/websites"
    assert signed_in.post(path, {"csrf": "no"}).status == 403
    saved = signed_in.submit(signed_in.get(path), path)
    assert str(saved.response.url).endswith("/dashboard/websites?saved=yes")


@pytest.mark.parametrize("failing", ["raises", "nothing"])
def test_a_failing_page_shows_an_error_page_and_is_logged(signed_in: BrowserWithoutScreen, failing: str) -> None:
    with structlog.testing.capture_logs() as logs:
        page = signed_in.get(f"/dashboard/websites/{failing}")
    assert page.status == 500
    assert page.response.headers["Content-Type"].startswith("text/html")
    assert "Something failed" in page.one("h1")
    assert "nutmeg" not in page.html
    (line,) = (line for line in logs if line["event"] == "a plugin failed")
    assert line["plugin"].startswith("shout_")
    assert (line["point"], line["name"]) == ("route", "/dashboard/websites/<id>")


def test_other_responses_are_sent_unchanged(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get("/dashboard/websites/7")
    assert page.html == "a,b"
    assert page.response.headers["Content-Type"].startswith("text/csv")
    assert page.response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("/dashboard/nowhere", ("/dashboard", "Go to the dashboard")),
        ("/dashboard/websites/none", ("/dashboard/websites", "Go to Websites")),
        ("/dashboard/websites/7/no/such/page", ("/dashboard/websites", "Go to Websites")),
        ("/dashboard/connections/none", ("/dashboard/connections", "Go to Connections")),
        ("/dashboard/users/none", ("/dashboard", "Go to the dashboard")),
        ("/dashboards", ("/", "Go to the home page")),
        ("/oauth/nowhere", ("/", "Go to the home page")),
        ("/tools/nothing", ("/tools", "See all tools")),
        ("/tools/qr/no/page", ("/tools", "See all tools")),
    ],
)
def test_a_page_that_is_not_found_links_to_its_section(
    signed_in: BrowserWithoutScreen, path: str, offered: tuple[str, str]
) -> None:
    page = signed_in.get(path, accept="text/html")
    assert page.status == 404
    link = page.tree.css_first("main .button")
    assert link is not None
    assert (link.attributes["href"], link.text()) == offered


def test_errors_are_html_pages_too(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get("/dashboard/websites/none")
    assert page.status == 404
    assert "There is no such website." in page.text


LETTER = "/dashboard/letters/7"


def test_a_long_form_is_accepted_if_its_route_allows_it(signed_in: BrowserWithoutScreen) -> None:
    token = signed_in.get(LETTER).fields(LETTER)
    assert "150000 characters from u_" in signed_in.post(LETTER, {**token, "text": "x" * 150_000}).text
    refused = signed_in.post(LETTER, {**token, "text": "x" * 200_001}, Accept="text/html")
    assert refused.status == 413
    assert "a body may have 200000 bytes" in refused.text


def test_a_long_form_survives_an_expired_session(browser: BrowserWithoutScreen, host: RunningHost) -> None:
    text = 'Line one <b>"&\nLine two ' + "x" * 100_000
    token = {"csrf": "of a session that has ended"}
    sign_in = browser.post(LETTER, {**token, "text": text, "do": "save"})
    assert sign_in.status == 401
    assert sign_in.one("h1") == "Sign in to continue"
    assert not browser.post("/dashboard/websites", token | {"text": text}).tree.css("input[name=text]")

    browser.enter(host, add_person(host, "letters@example.org"))
    resend = browser.submit(sign_in, LETTER)
    assert (resend.status, resend.one("h1")) == (403, "Send it again")
    assert resend.fields(LETTER)["do"] == "save"
    assert f"{len(text)} characters from u_" in browser.submit(resend, LETTER).text


@pytest.mark.parametrize("origin", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_a_form_from_another_site_is_not_preserved(
    browser: BrowserWithoutScreen, signed_in: BrowserWithoutScreen, origin: dict[str, str]
) -> None:
    for visitor in (browser, signed_in):
        assert not visitor.post(LETTER, {"text": "buy", "csrf": "x"}, **origin).tree.css("input[name=text]")


def test_other_routes_of_a_plugin_are_public(browser: BrowserWithoutScreen) -> None:
    assert browser.get("/colophon").html == "nobody:"


def test_it_receives_the_session_and_never_the_cookie(
    host: RunningHost, signed_in: BrowserWithoutScreen, browser: BrowserWithoutScreen
) -> None:
    session = signed_in.get("/dashboard/outings/7").one("h1")
    assert len(session) == 64
    assert session == signed_in.get("/dashboard/outings/8").one("h1")
    assert signed_in.session_cookie() not in session
    browser.enter(host, add_person(host, "outings@example.org"))
    assert browser.get("/dashboard/outings/7").one("h1") != session


def test_only_a_page_that_declares_it_may_redirect_a_form_elsewhere(signed_in: BrowserWithoutScreen) -> None:
    policies = {
        path: signed_in.get(path).response.headers["Content-Security-Policy"]
        for path in ("/dashboard/outings/7", "/dashboard/websites")
    }
    assert ["form-action" in policy for policy in policies.values()] == [False, True]


def test_a_route_of_the_dashboard_itself_cannot_be_replaced(tmp_path: Path) -> None:
    source = SOURCE.replace('"/dashboard/websites"', '"/dashboard/account"', 1)
    plugin = third_party.write_plugin(tmp_path, source)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        settings = settings_for_test({"builtin_plugins": False, "plugins": {plugin: {}}}, tmp_path / "data")
        with RunningHost(settings) as host, BrowserWithoutScreen(host) as browser:
            browser.enter(host, add_person(host))
            assert "Where you are signed in" in browser.get("/dashboard/account").text
            assert browser.get("/colophon").status == 404


@pytest.mark.parametrize(
    ("text", "status", "expected"), [("hello", 200, "Nobody heard it."), ("unknown", 404, "There is no such text")]
)
def test_a_use_that_cannot_be_refunded_does_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, status: int, expected: str
) -> None:
    """Another process keeps the database locked when the page wants to give a use of the quota back."""
    database = tmp_path / "locked.sqlite"
    plugin = third_party.write_plugin(tmp_path, LOCKING.replace("{path!r}", repr(str(database))))
    monkeypatch.syspath_prepend(str(tmp_path))
    storage = {"database": f"sqlite:///{database}", "database_timeout": 0.5}
    config = {"builtin_plugins": False, "plugins": {plugin: {}}, "storage": storage}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as host, BrowserWithoutScreen(host) as browser:
        browser.enter(host, add_person(host))
        with structlog.testing.capture_logs() as logs:
            page = browser.get(f"/dashboard/shouts/{text}")
        assert (page.status, expected in page.text) == (status, True)
        (line,) = (line for line in logs if line["event"] == "a quota could not be given back")
        assert line["quota"] == "articles_created"
