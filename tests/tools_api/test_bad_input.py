"""Invalid requests: each gets an envelope that states the fault, and leaves nothing behind."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost

QR = "/tools/qr-code-generator/api/generate"
JSON = {"content-type": "application/json"}


def stored(host: RunningHost) -> list[Path]:
    return [path for path in (host.settings.storage.path / "files").rglob("*") if path.is_file()]


def refused(response: httpx.Response, status: int, code: str, *words: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["access-control-allow-origin"] == "*"
    assert {"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-request-id"} <= set(response.headers)
    body: dict[str, Any] = response.json()
    assert set(body) == {"ok", "error", "meta", "pressroom"}
    assert body["ok"] is False
    assert body["error"]["code"] == code
    for word in words:
        assert word in body["error"]["message"]
    assert set(body["meta"]) == {"tool", "endpoint", "version", "cached", "timestamp", "rateLimit"}
    return body


@pytest.fixture(autouse=True)
def nothing_is_written(shared_host: RunningHost, request: pytest.FixtureRequest) -> Any:
    before = stored(shared_host)
    yield
    if "accepted" not in request.node.name:
        assert stored(shared_host) == before


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", ["empty"]),
        (b"{", []),
        (b"not json", []),
        (b'{"text": NaN}', []),
        (b'{"text": "\\ud800"}', []),
        (b'{"text": "\xff"}', []),
        (b'{"text": ' + b"[" * 5000 + b"]" * 5000 + b"}", []),
        (b"[]", ["array"]),
        (b'"text"', ["string"]),
        (b"null", ["null"]),
        (b"12", ["number"]),
        (b'\xef\xbb\xbf{"text": "bom"}', []),
    ],
    ids=repr,
)
def test_a_body_that_is_not_a_json_object_is_refused(api: httpx.Client, body: bytes, words: list[str]) -> None:
    refused(api.post(QR, content=body, headers=JSON), 400, "invalid_json", *words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, ["text", "required"]),
        ({"text": ""}, ["text"]),
        ({"text": "x" * 2049}, ["text", "2048", "2049"]),
        ({"text": 5}, ["text", "5"]),
        ({"text": None}, ["text"]),
        ({"text": ["x"]}, ["text"]),
        ({"text": "a\0b"}, ["text", "NUL"]),
        ({"text": "x", "size": 63}, ["size", "64", "2048", "63"]),
        ({"text": "x", "size": 2049}, ["size", "64", "2048", "2049"]),
        ({"text": "x", "size": 512.5}, ["size", "512.5"]),
        ({"text": "x", "size": "512"}, ["size", "512"]),
        ({"text": "x", "size": True}, ["size", "true"]),
        ({"text": "x", "size": 10**30}, ["size", "2048"]),
        ({"text": "x", "margin": -1}, ["margin", "0", "16", "-1"]),
        ({"text": "x", "margin": 17}, ["margin", "0", "16", "17"]),
        ({"text": "x", "fgColor": "red"}, ["fgColor", "red"]),
        ({"text": "x", "fgColor": "#12345"}, ["fgColor"]),
        ({"text": "x", "errorCorrection": "l"}, ["errorCorrection", "L"]),
        ({"text": "x", "format": "pngg"}, ["format", "png"]),
        ({"text": "x", "fgcolor": "#000"}, ["fgcolor", "fgColor"]),
        ({"text": "x", "respnse": "url"}, ["respnse", "response"]),
        ({"text": "x", "response": "file"}, ["response", "url", "binary", "file"]),
        ({"text": "x", "response": ["url"]}, ["response"]),
        ({"text": "x" * 2048, "errorCorrection": "H"}, ["text", "2048", "1273"]),
        ({"text": "x" * 400, "size": 64}, ["size"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_an_invalid_parameter(api: httpx.Client, body: dict[str, Any], words: list[str]) -> None:
    refused(api.post(QR, json=body), 400, "validation_error", *words)


def test_several_invalid_parameters_are_all_named(api: httpx.Client) -> None:
    refused(
        api.post(QR, json={"size": 1, "margin": 99, "colour": 1}),
        400,
        "validation_error",
        "size",
        "margin",
        "text",
        "colour",
    )


def test_binary_gets_its_errors_as_json(api: httpx.Client) -> None:
    refused(api.post(QR, json={"text": "x", "size": 1, "response": "binary"}), 400, "validation_error", "size")


def test_the_longest_text_is_accepted(api: httpx.Client) -> None:
    assert api.post(QR, json={"text": "x" * 2048, "size": 2048}).status_code == 200


def test_the_bounds_themselves_are_accepted(api: httpx.Client) -> None:
    for body in ({"size": 64, "margin": 0}, {"size": 2048, "margin": 16}):
        assert api.post(QR, json={"text": "x", **body}).status_code == 200, body


@pytest.mark.parametrize("slug", ["no-such-tool", "qr-code", "count_words", "..%2f..", "a" * 500, "%00"])
def test_an_unknown_tool(api: httpx.Client, slug: str) -> None:
    refused(api.post(f"/tools/{slug}/api/generate", json={"text": "x"}), 404, "not_found")


def test_an_unknown_tool_is_refused_with_the_nearest_name(api: httpx.Client) -> None:
    body = refused(api.post("/tools/qr-code-generater/api/generate", json={}), 404, "not_found", "qr-code-generator")
    assert body["meta"]["tool"] == "qr-code-generater"


@pytest.mark.parametrize("body", ["no JSON", "[" * 70_000, '{"response": "fax"}'], ids=["small", "large", "delivery"])
def test_an_unreadable_body_is_reported_after_the_credential_and_the_tool(
    shared_host: RunningHost, api: httpx.Client, body: str
) -> None:
    headers = {"content-type": "application/json"}
    wrong_key = {**headers, "authorization": f"Bearer {shared_host.settings.auth.prefix}_key_mistyped"}

    refused(api.post("/tools/no-such-tool/api/generate", content=body, headers=headers), 404, "not_found")
    refused(api.post(QR, content=body, headers=wrong_key), 401, "unauthorized")
    assert api.post(QR, content=body, headers=headers).status_code == 400


def test_an_invalid_access_token_has_a_challenge_and_a_wrong_key_has_none(
    shared_host: RunningHost, api: httpx.Client
) -> None:
    prefix = shared_host.settings.auth.prefix
    token, key = (
        api.post(QR, json={"text": "x"}, headers={"authorization": f"Bearer {prefix}_{kind}_mistyped"})
        for kind in ("oat", "key")
    )

    assert (token.status_code, key.status_code) == (401, 401)
    assert token.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert "WWW-Authenticate" in token.headers["access-control-expose-headers"].split(", ")
    assert "www-authenticate" not in key.headers


@pytest.mark.parametrize("path", ["/tools/qr-code-generator/api/render", "/tools/qr-code-generator/api/generate/more"])
def test_an_unknown_path_below_the_api(api: httpx.Client, path: str) -> None:
    refused(api.post(path, json={}), 404, "not_found")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method(api: httpx.Client, method: str) -> None:
    response = api.request(method, QR)

    refused(response, 405, "method_not_allowed", method)
    assert "POST" in response.headers["allow"]


@pytest.mark.parametrize(
    "media_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_is_not_json_by_its_type(api: httpx.Client, media_type: str) -> None:
    response = api.post(QR, content=b'{"text":"x"}', headers={"content-type": media_type})

    refused(response, 415, "unsupported_media_type", "application/json")


def test_a_body_of_ten_megabytes(api: httpx.Client) -> None:
    body = json.dumps({"text": "x" * 10_000_000}).encode()

    try:
        response = api.post(QR, content=body, headers=JSON)
    except httpx.WriteError:  # the server may close the connection before everything is sent
        return
    refused(response, 413, "payload_too_large", "262144")


def test_a_valid_call_is_accepted_afterwards(api: httpx.Client) -> None:
    assert api.post(QR, json={"text": "still here"}).status_code == 200
