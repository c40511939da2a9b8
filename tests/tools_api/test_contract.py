"""Statements of the interface contract that no other module tests, by section."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost

QR = "/tools/qr-code-generator/api/generate"
TEXT = "/tools/text-file/api/generate"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

Start = Callable[..., RunningHost]


def qr(api: httpx.Client, **params: Any) -> dict[str, Any]:
    response = api.post(QR, json={"text": "contract", **params})
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


def every_kind_of_response(api: httpx.Client) -> dict[str, httpx.Response]:
    """Return one JSON response of each kind in the Tools API, except those that need a separate host."""
    return {
        "success": api.post(QR, json={"text": "kinds"}),
        "invalid json": api.post(QR, content=b"{", headers={"content-type": "application/json"}),
        "validation": api.post(QR, json={}),
        "unknown tool": api.post("/tools/none/api/generate", json={}),
        "unknown path": api.post("/tools/qr-code-generator/api/none", json={}),
        "method": api.get(QR),
        "media type": api.post(QR, content=b"x", headers={"content-type": "text/plain"}),
        "too large": api.post(QR, json={"text": "x" * 300_000}),
        "internal": api.post("/tools/unruly/api/generate", json={"way": "raise"}),
        "timeout": api.post("/tools/impatient/api/generate", json={"way": "endless"}),
        "unknown descriptor": api.get("/tools/none/api"),
    }


def test_2_6_the_brand_block_is_in_every_response(api: httpx.Client) -> None:
    responses = every_kind_of_response(api) | {"catalog": api.get("/tools/api"), "tool": api.get("/tools/gate/api")}

    for kind, response in responses.items():
        block = response.json()["pressroom"]
        assert {"name", "tagline", "url", "mcpUrl", "docsUrl"} == set(block), kind
        assert block["mcpUrl"] == f"{api.base_url}/api/mcp".replace("//api", "/api")


def test_2_7_meta_has_the_types_of_the_contract_in_every_envelope(api: httpx.Client) -> None:
    for kind, response in every_kind_of_response(api).items():
        meta = response.json()["meta"]
        assert set(meta) == {"tool", "endpoint", "version", "cached", "timestamp", "rateLimit"}, kind
        assert isinstance(meta["tool"], str)
        assert meta["version"] == "1.0"
        assert isinstance(meta["cached"], bool)
        assert ISO.fullmatch(meta["timestamp"])
        limit = meta["rateLimit"]
        assert set(limit) == {"limit", "remaining", "resetAt"}, kind
        assert isinstance(limit["limit"], int)
        assert 0 <= limit["remaining"] <= limit["limit"]
        assert ISO.fullmatch(limit["resetAt"])
        assert datetime.fromisoformat(limit["resetAt"]) >= datetime.fromisoformat(meta["timestamp"]).replace(
            microsecond=0
        )


def test_2_7_the_headers_agree_with_meta(api: httpx.Client) -> None:
    for kind, response in every_kind_of_response(api).items():
        limit = response.json()["meta"]["rateLimit"]
        assert response.headers["ratelimit-limit"] == str(limit["limit"]), kind
        assert response.headers["ratelimit-remaining"] == str(limit["remaining"]), kind
        remaining = datetime.fromisoformat(limit["resetAt"]) - datetime.now(UTC)
        assert abs(int(response.headers["ratelimit-reset"]) - max(0, remaining.total_seconds())) <= 3, kind


def test_2_7_meta_names_the_tool_and_the_endpoint(api: httpx.Client) -> None:
    for kind, response in every_kind_of_response(api).items():
        if response.request.method == "POST" or kind == "method":
            meta = response.json()["meta"]
            assert (meta["tool"], meta["endpoint"]) == (response.request.url.path.split("/")[2], "/generate"), kind


def test_2_8_data_of_the_qr_code_generator(api: httpx.Client) -> None:
    for options in ({}, {"format": "svg"}, {"size": 64}, {"format": "svg", "size": 2048}):
        data = qr(api, **options)
        assert set(data) == {"id", "url", "expiresAt", "cached", "size", "format"}
        assert (data["size"], data["format"]) == (options.get("size", 512), options.get("format", "png"))
        assert type(data["size"]) is int


def test_2_9_an_error_has_a_code_and_a_message(api: httpx.Client) -> None:
    codes = {}
    for kind, response in every_kind_of_response(api).items():
        body = response.json()
        if kind == "success":
            continue
        assert body["ok"] is False
        assert "data" not in body
        assert set(body["error"]) - {"retryAfter"} == {"code", "message"}
        assert body["error"]["message"]
        codes[kind] = (response.status_code, body["error"]["code"])
        assert ("retryAfter" in body["error"]) == ("retry-after" in response.headers) == (kind == "timeout")
    assert codes == {
        "invalid json": (400, "invalid_json"),
        "validation": (400, "validation_error"),
        "unknown tool": (404, "not_found"),
        "unknown path": (404, "not_found"),
        "method": (405, "method_not_allowed"),
        "media type": (415, "unsupported_media_type"),
        "too large": (413, "payload_too_large"),
        "internal": (500, "internal_error"),
        "timeout": (503, "timeout"),
        "unknown descriptor": (404, "not_found"),
    }


def test_2_10_every_descriptor_of_the_catalog_has_its_fields_and_types(api: httpx.Client) -> None:
    catalog = api.get("/tools/api").json()

    assert isinstance(catalog["version"], str)
    assert catalog["baseUrl"] == str(api.base_url).rstrip("/")
    assert catalog["stats"] == {"total": len(catalog["tools"]), "withApi": len(catalog["tools"])}
    for tool in catalog["tools"]:
        assert tool["pageUrl"] == f"/tools/{tool['slug']}"
        assert tool["apiBaseUrl"] == f"/tools/{tool['slug']}/api"
        assert (tool["hasApi"], tool["clientOnly"]) == (True, False)
        assert {type(value) for value in tool["rateLimit"].values()} == {int}
        assert isinstance(tool["promo"]["useCases"], list)
        assert api.get(tool["pageUrl"]).status_code == 200
        assert api.get(tool["apiBaseUrl"]).json() == {"ok": True, "data": tool, "pressroom": catalog["pressroom"]}
        for endpoint in tool["endpoints"]:
            assert set(endpoint) == {
                *("path", "method", "summary", "description", "responseContentType", "cacheDiscount"),
                *("params", "examples"),
            }
            assert api.request(endpoint["method"], tool["apiBaseUrl"] + endpoint["path"], json={}).status_code == 400
            for param in endpoint["params"]:
                assert {"name", "type", "required", "description"} <= set(param)
                assert set(param) <= {
                    *("name", "type", "required", "description"),
                    *("default", "min", "max", "enumValues", "example"),
                }
                assert param["type"] in ("string", "number", "boolean", "object", "enum")
                assert isinstance(param["required"], bool)


def test_4_3_response_is_url_by_default(api: httpx.Client) -> None:
    assert qr(api)["id"] == qr(api, response="url")["id"]
    assert api.post(QR, json={"text": "contract"}).headers["content-type"] == "application/json"


@pytest.mark.parametrize(("format_", "media_type"), [("png", "image/png"), ("svg", "image/svg+xml")])
def test_4_3_binary_is_the_file_with_its_headers(api: httpx.Client, format_: str, media_type: str) -> None:
    data = qr(api, format=format_)
    response = api.post(QR, json={"text": "contract", "format": format_, "response": "binary"})

    assert response.headers["content-type"] == media_type
    assert response.headers["etag"] == f'"{data["id"]}"'
    assert response.headers["content-disposition"] == f'inline; filename="qr-code-generator.{format_}"'
    assert {"ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "x-request-id"} <= set(response.headers)
    assert response.headers["access-control-allow-origin"] == "*"
    file = api.get(data["url"])
    assert file.content == response.content
    assert file.headers["content-disposition"] == response.headers["content-disposition"].replace(
        "qr-code-generator.", f"{data['id']}."
    )


def test_4_3_no_credential_is_needed_and_an_unknown_one_does_no_harm(api: httpx.Client) -> None:
    for value in (b"Bearer x", b"Basic eDp5", b"Bearer", b"\xff"):
        assert api.post(QR, json={"text": "x"}, headers={b"authorization": value}).status_code == 200


@pytest.mark.parametrize(
    "same",
    [
        {"size": 512, "margin": 2, "fgColor": "#000000", "bgColor": "#ffffff", "errorCorrection": "M", "format": "png"},
        {"size": 512.0},
        {"response": "url"},
        {"size": None, "errorCorrection": None, "content": None, "response": None},
    ],
    ids=str,
)
def test_equal_requests_have_one_id_however_they_are_written(api: httpx.Client, same: dict[str, Any]) -> None:
    assert qr(api, **same)["id"] == qr(api)["id"]
    reordered = api.post(
        QR, content=b'{"size":512,"text":"\\u0063ontract"}', headers={"content-type": "application/json"}
    )
    assert reordered.json()["data"]["id"] == qr(api)["id"]


def test_other_requests_have_other_ids(api: httpx.Client) -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"size": 513},
        {"margin": 3},
        {"format": "svg"},
        {"text": "Contract"},
        {"errorCorrection": "H"},
    ]

    assert len({qr(api, **options)["id"] for options in variants}) == len(variants)


def test_concurrent_identical_requests_are_rendered_once(start: Start) -> None:
    host = start(builtin_plugins=True)
    with httpx.Client(base_url=host.url, timeout=30) as http, ThreadPoolExecutor(8) as pool:
        body = {"text": "once", "size": 2048}
        responses = list(pool.map(lambda _: http.post(QR, json=body).json(), range(8)))
        last = http.post(QR, json=body).json()

    assert sorted(response["data"]["cached"] for response in responses) == [False] + [True] * 7
    assert all(response["data"]["cached"] is response["meta"]["cached"] for response in responses)
    # One full request and eight cached ones at a tenth each: 300 - 1.8.
    assert last["meta"]["rateLimit"] | {"resetAt": ""} == {"limit": 300, "remaining": 298, "resetAt": ""}


def test_8_the_limits_and_the_discount_of_the_qr_code_generator(start: Start) -> None:
    host = start(builtin_plugins=True)
    tool = httpx.get(f"{host.url}/tools/qr-code-generator/api").json()["data"]

    assert tool["rateLimit"] == {"requests": 300, "windowSec": 3600}
    assert tool["endpoints"][0]["cacheDiscount"] == 0.1
    response = httpx.post(host.url + QR, json={"text": "limits"}).json()
    assert response["meta"]["rateLimit"]["limit"] == 300
    assert response["meta"]["rateLimit"]["remaining"] == 299


def test_a_limit_is_counted_for_each_tool_and_ip_address(start: Start) -> None:
    host = start(builtin_plugins=True, server={"trusted_proxies": 1}, tools={"text-file": {"rate_limit": "1/hour"}})

    def status(address: str, path: str = TEXT, text: str = "x") -> int:
        headers = {"x-forwarded-for": address}
        return httpx.post(host.url + path, json={"text": f"{address} {text}"}, headers=headers).status_code

    assert [status("203.0.113.1"), status("203.0.113.1", text="y"), status("203.0.113.2")] == [200, 429, 200]
    assert status("203.0.113.1", QR) == 200
    assert [status("2001:db8::1"), status("2001:db8::2"), status("2001:db8:0:1::1")] == [200, 429, 200]


def test_4_2_the_text_index_names_every_tool_and_the_public_endpoints(api: httpx.Client) -> None:
    response = api.get("/llms.txt")

    assert (response.status_code, response.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    links = re.findall(r"^- \[[^\]]+\]\((\S+)\): .+$", response.text, re.MULTILINE)
    tools = [tool["pageUrl"] for tool in api.get("/tools/api").json()["tools"]]
    base = str(api.base_url).rstrip("/")
    assert {f"{base}{path}" for path in (*tools, "/tools/api", "/openapi.json")} <= set(links)
    assert all(api.get(link).status_code == 200 for link in links)
    assert len(re.findall(r"^# ", response.text, re.MULTILINE)) == 1
