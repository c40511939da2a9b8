"""Redirects after sign-in stay on this site."""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.http.browser_sessions import return_path, sign_in_path

HERE = "https://press.example/sign-in"

SLASHES = ("/", "\\", "//", "/\\", "%2f", "%5c", "%252f", "%25", "%09", "\t", "\n", "\r", "\0", " ", "%00")
PARTS = ("?", "#", "@", ":", "http:", "https://", "javascript:", "evil.example", "press.example", "a", "..", ";", "é")
TRICKY = st.lists(st.sampled_from((*SLASHES, *PARTS)), max_size=8).map("".join)


def browser_reads(location: str) -> str:
    """Return the host that a browser navigates to.

    By the URL standard, it drops tabs and newlines and reads `\\` as `/`.
    """
    read = location.strip("".join(map(chr, range(33)))).translate({9: None, 10: None, 13: None}).replace("\\", "/")
    return urlsplit(urljoin(HERE, read)).netloc


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard",
        "/dashboard/connections?page=2",
        "/oauth/authorize?client_id=c_1&redirect_uri=http%3A%2F%2F127.0.0.1%3A9%2Fcb&state=%2F%2Fx",
        "/dashboard/my%20page",
    ],
)
def test_paths_of_this_site_are_accepted(path: str) -> None:
    assert return_path(path, "/else") == path


@pytest.mark.parametrize(
    "value",
    [
        "",
        "dashboard",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/%2fevil.example",
        "/%5cevil.example",
        "/%252fevil.example",
        "/%25252fevil.example",
        "https://evil.example/",
        "https:evil.example",
        "javascript:alert(1)",
        "/\tevil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "/%09/evil.example",
        " //evil.example",
        "/a\r\nSet-Cookie: a=b",
        "/caf\u00e9",
        "/" + "a" * 5000,
        "/%" + "25" * 40 + "2f",
    ],
)
def test_all_other_paths_are_replaced(value: str) -> None:
    assert return_path(value, "/else") == "/else"


@given(st.one_of(TRICKY, TRICKY.map(lambda text: "/" + text), st.text()))
def test_whatever_passes_stays_on_this_site(value: str) -> None:
    path = return_path(value, "/else")
    assert path in (value, "/else")
    assert browser_reads(path) == "press.example"
    assert "\r" not in path
    assert "\n" not in path


@given(TRICKY)
def test_it_stays_there_when_a_proxy_decodes_it(value: str) -> None:
    path = return_path("/" + value, "/else")
    assert not path.replace("%2F", "/").replace("%2f", "/").startswith("//")
    assert not path.replace("%5C", "\\").replace("%5c", "\\").startswith("/\\")


def test_the_sign_in_page_gets_the_complete_path() -> None:
    return_path = "/oauth/authorize?a=1&b=2#c"
    assert sign_in_path(return_path) == f"/sign-in?return_to={quote(return_path, safe='')}"
