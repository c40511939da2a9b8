"""Hostile requests to every endpoint: all responses are documented, none is an internal error."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.oauth import LOOPBACK, Flow, basic
from support.sizes import examples

NASTY = [
    "", " ", "\x00", "\r\nX-Injected: 1", "%00", "%0d%0a", "ä漢\U0001f600", "\u202e", "'\"><script>", "../../", "null",
    "-1", "1e400", "{}", "[]", "x" * 3000, "javascript:alert(1)", "http://127.0.0.1:99999/", "https://[", "https://a@b/",
    "mcp", "mcp mcp", "none", "S256", "code", "authorization_code", "refresh_token", LOOPBACK,
    "prk_oat_a.b.c", "prk_ort_x",
]  # fmt: skip
NAMES = [
    "client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge",
    "code_challenge_method", "resource", "grant_type", "code", "code_verifier", "refresh_token", "token",
    "token_type_hint", "csrf", "decision", "request", "request_uri", "prompt", "nonce", "x",
]  # fmt: skip

texts = st.sampled_from(NASTY) | st.text(max_size=40).filter(lambda text: text.isprintable() or "\x00" in text)
short = texts.filter(lambda text: len(text) < 100)
pairs = st.lists(st.tuples(st.sampled_from(NAMES), texts), max_size=8)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
members = st.sampled_from(
    ["redirect_uris", "client_name", "token_endpoint_auth_method", "grant_types", "response_types", "client_uri",
     "logo_uri", "scope", "contacts", "jwks", "jwks_uri", "software_statement", "x"]
)  # fmt: skip

TOKEN_ERRORS = {
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
    "invalid_scope", "invalid_target",
}  # fmt: skip

MAX_HEAD_BYTES = 8192
"""Maximum size of a request head in bytes."""

OTHER_LINES = 1000
"""Upper bound in bytes for the request head without the query."""

fuzz = settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])


def encoded(parameters: list[tuple[str, str]]) -> str:
    return urlencode(parameters, errors="surrogatepass")


@fuzz
@example(parameters=[("x", "x" * 3000)] * 8, valid=True)
@given(parameters=pairs, valid=st.booleans())
def test_authorize(flow: Flow, parameters: list[tuple[str, str]], valid: bool) -> None:
    query = "&".join(filter(None, [flow.query() if valid else "", encoded(parameters)]))
    for answer in (flow.authorize(query), flow.browser.post(f"/oauth/authorize?{query}", data=dict(parameters))):
        allowed = {200, 303, 400, 403} if len(query) < MAX_HEAD_BYTES else set()
        allowed |= {413} if len(query) > MAX_HEAD_BYTES - OTHER_LINES else set()
        assert answer.status_code in allowed, answer.text
        assert "x-injected" not in answer.headers
        if answer.status_code == 303:
            assert answer.headers["location"].startswith((f"{LOOPBACK}?", "/sign-in?"))


@fuzz
@given(parameters=pairs, path=st.sampled_from(["/oauth/token", "/oauth/revoke"]), credentials=st.tuples(short, short))
def test_token_and_revoke(
    flow: Flow, parameters: list[tuple[str, str]], path: str, credentials: tuple[str, str]
) -> None:
    for headers in ({}, basic(*(text.encode("utf-8", "ignore").decode() for text in credentials))):
        body = encoded(parameters)
        answer = flow.http.post(
            path, content=body, headers={**headers, "Content-Type": "application/x-www-form-urlencoded"}
        )
        assert answer.status_code in ((200, 400, 401) if path.endswith("revoke") else (400, 401)), answer.text
        if answer.status_code != 200:
            assert answer.json()["error"] in TOKEN_ERRORS


@fuzz
@given(document=st.dictionaries(members, json_values | st.lists(texts, max_size=3), max_size=6) | json_values)
def test_register(flow: Flow, document: Any) -> None:
    answer = flow.http.post("/oauth/register", json=document)
    assert answer.status_code in (201, 400), answer.text
    if answer.status_code == 400:
        assert answer.json()["error"] in ("invalid_redirect_uri", "invalid_client_metadata")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke", "/oauth/register", "/oauth/authorize"])
def test_arbitrary_bytes_are_refused(flow: Flow, path: str) -> None:
    @settings(max_examples=examples(30))
    @given(
        body=st.binary(max_size=200),
        media_type=st.sampled_from(["application/json", "application/x-www-form-urlencoded"]),
    )
    def post(body: bytes, media_type: str) -> None:
        answer = flow.http.post(path, content=body, headers={"Content-Type": media_type})
        assert answer.status_code in (400, 401), answer.text

    post()
