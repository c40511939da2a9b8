"""Redirect URIs: which may be registered, and which match."""

from __future__ import annotations

import string
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import InvalidRedirectUri
from pressroom.oauth.metadata import check_redirect_uri, destination, is_loopback, matches, with_parameters

GOOD = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://client.example",
    "https://client.example:8443/callback?kind=mcp",
    "https://[2001:db8::1]/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:33418",
    "http://[::1]:3000/callback",
    "http://localhost:6274/oauth/callback",
    "cursor://anysphere.cursor-retrieval/oauth/user-mcp/callback",
    "vscode://vscode.github-authentication/did-authenticate",
    "com.example.app:/oauth2redirect",
    "app.example+mcp://callback",
]

BAD = [
    "",
    " ",
    "callback",
    "/callback",
    "//client.example/callback",
    "javascript:alert(1)",
    "JavaScript://client.example/%0aalert(1)",
    "javascript:/x",
    "data:text/html,<script>",
    "data:/x",
    "vbscript:/x",
    "file:///etc/passwd",
    "blob:https://client.example/x",
    "about:blank",
    "view-source:https://client.example",
    "mailto:somebody@client.example",
    "cursor:callback",
    "http://client.example/callback",
    "http://127.0.0.1.evil.example/callback",
    "http://127.0.0.2/callback",
    "http://2130706433/callback",
    "http://localhost.evil.example/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
    "https://user@client.example/",
    "https://user:password@client.example/",
    "cursor://user@callback",
    "https://client.example/#",
    "https://client.example/#fragment",
    "cursor://callback#x",
    "https://*.example/callback",
    "https://client.example/*",
    "https:client.example",
    "https:/client.example",
    "https:///callback",
    "https://",
    "https://client.example:0/",
    "https://client.example:99999/",
    "https://client.example:port/",
    "https://client.example\\@evil.example/",
    "https://client..example/",
    "https://-client.example/",
    "https://clïent.example/",
    "https://client.example/\n",
    "https://client.example/ callback",
    "\thttps://client.example/",
    "https://client.example/<script>",
    'https://client.example/"',
    "https://client.example/" + "x" * 2000,
    "1scheme://callback",
    "app://[/callback",
    "app://a]b/callback",
]

paths = st.text(string.ascii_letters + string.digits + "/-_.~%?&=", max_size=30).map(lambda text: f"/{text}")
hosts = st.sampled_from(["127.0.0.1", "[::1]", "localhost"])
ports = st.none() | st.integers(1, 65_535)


def loopback(host: str, port: int | None, path: str) -> str:
    return f"http://{host}{'' if port is None else f':{port}'}{path}"


@pytest.mark.parametrize("uri", GOOD)
def test_a_valid_redirect_uri_can_be_registered(uri: str) -> None:
    assert check_redirect_uri(uri) == uri


@pytest.mark.parametrize("uri", BAD)
def test_an_invalid_redirect_uri_cannot_be_registered(uri: str) -> None:
    with pytest.raises(InvalidRedirectUri):
        check_redirect_uri(uri)


@pytest.mark.parametrize("value", [None, 7, ["https://client.example/"], {}])
def test_only_strings_are_redirect_uris(value: object) -> None:
    with pytest.raises(InvalidRedirectUri):
        check_redirect_uri(value)


@given(st.text(max_size=80) | st.sampled_from(GOOD).flatmap(lambda uri: st.text(max_size=9).map(lambda end: uri + end)))
def test_whatever_may_be_registered_is_safe_to_redirect_to(text: str) -> None:
    try:
        uri = check_redirect_uri(text)
    except InvalidRedirectUri:
        return
    parts = urlsplit(uri)
    assert uri.isascii()
    assert uri.isprintable()
    assert not set(uri) & set(' #*\\<>"')
    assert parts.scheme not in ("javascript", "data", "file", "vbscript")
    assert "@" not in parts.netloc
    assert parts.scheme != "http" or parts.hostname in ("127.0.0.1", "::1", "localhost")
    assert destination(uri)


@given(st.sampled_from(GOOD), st.text(max_size=3), st.integers(0, 60))
def test_nothing_but_the_same_string_matches_an_https_address(uri: str, inserted: str, at: int) -> None:
    changed = uri[:at] + inserted + uri[at:]
    if not is_loopback(uri):
        assert matches(uri, changed) == (uri == changed)


@given(hosts, ports, ports, paths)
def test_the_port_of_a_loopback_address_is_free(host: str, one: int | None, other: int | None, path: str) -> None:
    assert matches(loopback(host, one, path), loopback(host, other, path))


@given(hosts, hosts, ports, paths, paths)
def test_nothing_else_of_a_loopback_address_is_free(
    host: str, other_host: str, port: int | None, path: str, other_path: str
) -> None:
    same = (host, path) == (other_host, other_path)
    assert matches(loopback(host, None, path), loopback(other_host, port, other_path)) == same


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1:0/callback",
        "http://127.0.0.1:65536/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:/callback",
        "http://127.0.0.1:80x/callback",
        "http://127.0.0.1:٣/callback",
        "http://127.0.0.1:4711@evil.example/callback",
        "http://127.0.0.1:4711/callback\n",
        "https://127.0.0.1:4711/callback",
        "HTTP://127.0.0.1:4711/callback",
    ],
)
def test_an_invalid_port_does_not_match(uri: str) -> None:
    assert not matches("http://127.0.0.1/callback", uri)


@given(st.sampled_from(GOOD), st.dictionaries(st.sampled_from(["code", "state", "iss"]), st.text(min_size=1)))
def test_parameters_are_added_and_read_back(uri: str, parameters: dict[str, str]) -> None:
    parameters = {name: value.encode("utf-8", "ignore").decode() or "x" for name, value in parameters.items()}
    before, after = urlsplit(uri), urlsplit(with_parameters(uri, parameters))
    assert (after.scheme, after.netloc, after.path) == (before.scheme, before.netloc, before.path)
    assert parse_qsl(after.query) == [*parse_qsl(before.query), *parameters.items()]


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://client.example/callback", "client.example"),
        ("http://127.0.0.1:33418/", "127.0.0.1:33418"),
        ("cursor://anysphere.cursor-retrieval/oauth", "cursor:"),
    ],
)
def test_the_redirect_target_is_displayed_correctly(uri: str, shown: str) -> None:
    assert destination(uri) == shown


@pytest.mark.parametrize(
    ("uri", "own"),
    [
        ("http://127.0.0.1:33418/", True),
        ("HTTP://LOCALHOST:33418/", True),
        ("http://[::1]", True),
        ("https://localhost/", False),
        ("https://client.example/", False),
        ("cursor://localhost/", False),
    ],
)
def test_which_redirect_uris_are_loopback(uri: str, own: bool) -> None:
    assert is_loopback(check_redirect_uri(uri)) == own
