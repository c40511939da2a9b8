"""Cookies and headers of the account pages, over HTTP and HTTPS."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import EMAIL, PASSWORD, BrowserWithoutScreen, Page, add_person

PAGES = ["/dashboard", "/dashboard/connections", "/dashboard/account"]
OPEN_PAGES = ["/sign-in", "/sign-up", "/setup?token=none", "/dashboard/connections/c_none"]


def cookie(response: httpx.Response, name: str) -> tuple[str, set[str]]:
    """Return the name and the attributes of a cookie that a response sets."""
    for line in response.headers.get_list("set-cookie"):
        pair, *attributes = line.split("; ")
        if pair.partition("=")[0].endswith(name):
            return pair.partition("=")[0], {attribute.lower() for attribute in attributes}
    raise AssertionError(f"no cookie {name}: {response.headers}")


@pytest.mark.parametrize("path", [*PAGES, *OPEN_PAGES])
def test_pages_are_not_cached_framed_or_indexed(signed_in: BrowserWithoutScreen, path: str) -> None:
    page = signed_in.get(path)
    headers = page.response.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    policy = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert policy["frame-ancestors"] == "'none'"
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert page.tree.css_matches("meta[name=robots][content=noindex]")
    assert page.title.endswith(" · Pressroom")


def test_forms_post_to_this_site_only_unless_they_redirect(signed_in: BrowserWithoutScreen) -> None:
    assert "form-action 'self'" in signed_in.get("/dashboard/connections").response.headers["Content-Security-Policy"]
    signed_in.submit(signed_in.get("/dashboard"), "/sign-out")
    assert "form-action" not in signed_in.get("/sign-in").response.headers["Content-Security-Policy"]


def test_redirects_are_not_cached_either(browser: BrowserWithoutScreen) -> None:
    response = browser.client.get("/dashboard", follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Location"] == "/sign-in?return_to=%2Fdashboard"


def test_cookies_on_http(browser: BrowserWithoutScreen, person: User) -> None:
    page = browser.get("/sign-in")
    assert cookie(page.response, "form") == ("pressroom_form", {"path=/", "samesite=lax", "httponly"})
    fields = {**page.fields("/sign-in"), "email": person.email, "password": PASSWORD}
    response = browser.client.post("/sign-in", data=fields, follow_redirects=False)
    name, attributes = cookie(response, "session")
    assert name == "pressroom_session"
    assert attributes >= {"path=/", "samesite=lax", "httponly"}
    assert "secure" not in attributes


@pytest.mark.parametrize(
    ("base_url", "prefix", "path"),
    [
        ("https://press.example", "__Host-", "/"),
        ("https://example.org/press", "", "/press"),
    ],
)
def test_cookies_on_https(tmp_path: Path, base_url: str, prefix: str, path: str) -> None:
    with RunningHost(settings_for_test({"base_url": base_url}, tmp_path)) as host:
        add_person(host)
        with httpx.Client(base_url=host.url) as client:
            page = Page(client.get("/sign-in"))
            name, attributes = cookie(page.response, "form")
            assert name == f"{prefix}pressroom_form"
            assert attributes == {f"path={path}", "samesite=lax", "httponly", "secure"}
            session_cookie = page.response.headers["set-cookie"].partition(";")[0]
            action = f"{'' if path == '/' else path}/sign-in"
            fields = {**page.fields(action), "email": EMAIL, "password": PASSWORD}
            headers = {"Cookie": session_cookie, "Origin": base_url.removesuffix("/press")}
            response = client.post("/sign-in", data=fields, headers=headers)
            assert response.status_code == 303, response.text
            assert response.headers["Location"] == ("/dashboard" if path == "/" else "/press/dashboard")
            name, attributes = cookie(response, "session")
            assert name == f"{prefix}pressroom_session"
            assert attributes >= {f"path={path}", "samesite=lax", "httponly", "secure"}
            unprefixed = {
                "Cookie": f"pressroom_session={response.headers['set-cookie'].partition('=')[2].partition(';')[0]}"
            }
            expected = 303 if prefix else 200
            assert client.get("/dashboard", headers=unprefixed).status_code == expected
            assert client.get("/").headers["Location"] == ("/tools" if path == "/" else "/press/tools")


@pytest.mark.parametrize("prefix", ["__Secure-", "__Host-"])
@pytest.mark.parametrize("base_url", ["https://press.example", "http://127.0.0.1:8000"])
def test_a_cookie_of_a_sibling_host_is_ignored(tmp_path: Path, prefix: str, base_url: str) -> None:
    with RunningHost(settings_for_test({"base_url": base_url}, tmp_path)) as host:
        mallory, person = add_person(host, "mallory@example.org", name="Mallory"), add_person(host)
        theirs, ours = (host.run(host.host.accounts.sessions.start(user.id)) for user in (mallory, person))
        name = "__Host-pressroom_session" if base_url.startswith("https:") else "pressroom_session"
        headers = {"Cookie": f"{prefix}{name}={theirs}; {name}={ours}"}
        page = httpx.get(f"{host.url}/dashboard", headers=headers).text
        assert person.name in page
        assert mallory.name not in page


def weigh(browser: BrowserWithoutScreen, path: str) -> int:
    return len(browser.get(path).response.content)


@pytest.mark.parametrize("path", [*PAGES, "/sign-in"])
def test_pages_are_small(signed_in: BrowserWithoutScreen, path: str) -> None:
    page = signed_in.get(path)
    files = [
        node.attributes.get("href") or node.attributes.get("src") for node in page.tree.css("head [href], head [src]")
    ]
    fonts = [str(file) for file in files if file and ".woff2" in file]
    weight = len(page.html) + sum(weigh(signed_in, str(file)) for file in files if file and str(file) not in fonts)
    assert weight < 100_000
    # Some pages load one font more. The rest are for posts, or for letters that few pages contain.
    style = signed_in.get(next(str(file) for file in files if file and "pressroom.css" in file)).html
    every = {f"/tools/static/{url}" for url in re.findall(r'src: url\("([^"]*)"\)', style)}
    assert set(fonts) <= every
    every = {url for url in every if not re.search(r"-(text|italic|extended)\.", url)}
    responses = [page, *(signed_in.get(str(file)) for file in files if file and str(file) not in fonts)]
    transferred = sum(response.response.num_bytes_downloaded for response in responses)
    assert transferred + sum(weigh(signed_in, font) for font in every) < 110_000


def test_no_page_has_inline_styles_or_scripts(signed_in: BrowserWithoutScreen) -> None:
    for path in PAGES:
        page = signed_in.get(path)
        assert page.tree.css("[style], style, script:not([src]), [onclick], [onload]") == []
