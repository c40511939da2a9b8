"""Random requests: every response conforms to the interface contract."""

import json
import string
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pressroom.testing import RunningHost
from support.sizes import examples

QR = "/tools/qr-code-generator/api/generate"
HEADERS = {"content-type": "application/json"}

fuzz = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)

plausible = st.fixed_dictionaries(
    {"text": st.text(max_size=60) | json_values},
    optional={
        "size": st.sampled_from([64, 64.0, 65, 63, 2049]) | json_values,
        "margin": st.integers(-2, 18) | st.floats(0, 16),
        "fgColor": st.from_regex(r"#?[0-9a-f]{3,8}", fullmatch=True) | st.text(max_size=9),
        "bgColor": st.from_regex(r"#?[0-9a-f]{3,8}", fullmatch=True),
        "errorCorrection": st.sampled_from("LMQHlx"),
        "format": st.sampled_from(["png", "svg", "gif"]),
        "response": st.sampled_from(["url", "url", "Url"]) | json_values,
        "anything": json_values,
    },
)

targets = st.lists(
    st.sampled_from(
        ["tools", "api", "generate", "static", "qr-code-generator", "text-file", "files", "..", "", "%2e", "<x>"]
    )
    | st.text(
        string.printable.replace(" ", "").translate({ord(whitespace): None for whitespace in "\t\r\n\x0b\x0c"}),
        max_size=8,
    ),
    max_size=6,
).map(lambda parts: "/" + "/".join(parts))


@pytest.fixture(scope="module")
def client(shared_host: RunningHost) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shared_host.url, timeout=30) as http:
        yield http


def checked(response: httpx.Response) -> None:
    """Assert that a generator's response is one of the two envelopes."""
    assert response.status_code in (200, 400), response.text
    assert response.headers["x-request-id"]
    body = response.json()
    assert body["ok"] is (response.status_code == 200)
    assert set(body) == {"ok", "data" if body["ok"] else "error", "meta", "pressroom"}
    if body["ok"]:
        assert body["data"]["cached"] is body["meta"]["cached"]
        assert set(body["data"]) >= {"id", "url", "expiresAt", "cached", "size", "format"}
    else:
        assert body["error"]["code"] in ("invalid_json", "validation_error")
        assert 0 < len(body["error"]["message"]) < 2000
    assert body["meta"]["rateLimit"]["limit"] == 100_000


@fuzz
@given(body=plausible)
def test_any_parameters_get_an_envelope(client: httpx.Client, body: dict[str, Any]) -> None:
    content = json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass")

    checked(client.post(QR, content=content, headers=HEADERS))


@fuzz
@given(body=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_body_gets_an_envelope(client: httpx.Client, body: bytes) -> None:
    checked(client.post(QR, content=body, headers=HEADERS))


@fuzz
@given(fields=st.dictionaries(st.sampled_from(["text", "size", "margin", "fgColor", "format"]), st.text(max_size=40)))
def test_any_form_gets_a_page(client: httpx.Client, fields: dict[str, str]) -> None:
    page = client.post("/tools/qr-code-generator", data=fields or {"text": ""})

    assert page.status_code in (200, 400)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


@fuzz
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]),
    target=targets,
    accept=st.sampled_from(["*/*", "text/html"]),
)
def test_any_address_and_method_get_an_answer(shared_host: RunningHost, method: str, target: str, accept: str) -> None:
    with closing(HTTPConnection("127.0.0.1", shared_host.settings.server.port, timeout=30)) as connection:
        connection.request(method, target, headers={"accept": accept})
        answer = connection.getresponse()
        body = answer.read()

    assert answer.status < 500, body
    assert answer.headers["x-request-id"]
    if answer.status == 405:
        assert answer.headers["allow"]
        assert method not in answer.headers["allow"].split(", ")
