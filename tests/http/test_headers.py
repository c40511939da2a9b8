"""CORS, request IDs, security headers, health checks and metrics."""

import re
from collections.abc import Callable

import httpx
import pytest
from pressroom.testing import RunningHost
from support.needs import free_port

TEXT = "/tools/text-file/api/generate"

Start = Callable[..., RunningHost]


@pytest.mark.parametrize("path", [TEXT, "/tools/text-file/api", "/tools/api", "/openapi.json"])
def test_any_origin_may_send_requests(api: httpx.Client, path: str) -> None:
    method = "POST" if path == TEXT else "GET"
    preflight = api.options(
        path,
        headers={
            "origin": "https://elsewhere.example",
            "access-control-request-method": method,
            "access-control-request-headers": "content-type",
        },
    )

    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert method in preflight.headers["access-control-allow-methods"]
    accepted = preflight.headers["access-control-allow-headers"].lower()
    assert {"content-type", "if-range", "range"} <= set(accepted.split(", "))
    response = api.request(method, path, json={"text": "cors"} if method == "POST" else None)
    assert response.headers["access-control-allow-origin"] == "*"
    exposed = response.headers["access-control-expose-headers"].lower()
    assert {"ratelimit-remaining", "retry-after", "x-request-id"} <= set(exposed.split(", "))


def test_every_response_has_a_request_id_and_a_clients_own_is_kept(api: httpx.Client) -> None:
    ids = {api.get(path).headers["x-request-id"] for path in ("/tools", "/tools/api", "/healthz", "/nowhere")}
    assert len(ids) == 4

    assert (
        api.get("/healthz", headers={"x-request-id": "trace-0123456789"}).headers["x-request-id"] == "trace-0123456789"
    )
    for hostile in ("short", "x" * 100, "has space in it", "semi;colon;injection"):
        assert api.get("/healthz", headers={"x-request-id": hostile}).headers["x-request-id"] != hostile


def test_pages_have_a_strict_content_security_policy(api: httpx.Client) -> None:
    for path in ("/tools", "/tools/text-file"):
        headers = api.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "referrer-policy" in headers


def test_head_gets_the_same_headers_as_get(api: httpx.Client) -> None:
    for path in ("/tools", "/tools/text-file", "/tools/api", "/openapi.json", "/llms.txt", "/healthz"):
        response, head = api.get(path), api.head(path)
        assert (head.status_code, head.content) == (response.status_code, b""), path
        assert head.headers["content-type"] == response.headers["content-type"]


def test_an_unknown_page_is_html_for_browsers_and_json_for_programs(api: httpx.Client) -> None:
    page = api.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "/nowhere" in page.text
    program = api.get("/nowhere")
    assert (program.status_code, program.json()["error"]["code"]) == (404, "not_found")


def test_health_and_readiness(start: Start) -> None:
    host = start(builtin_plugins=True)
    assert httpx.get(f"{host.url}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{host.url}/readyz").json() == {"status": "ready", "problems": []}

    lacking = start(host.settings.storage.path / "other", plugins={"no_such_plugin": {"required": True}})
    response = httpx.get(f"{lacking.url}/readyz")
    assert response.status_code == 503
    assert "no_such_plugin" in response.json()["problems"][0]
    assert httpx.post(f"{lacking.url}{TEXT}", json={"text": "x"}).status_code == 200


def test_metrics_are_disabled_by_default(api: httpx.Client) -> None:
    assert api.get("/metrics").status_code == 404


def test_metrics_with_a_token_count_requests(start: Start) -> None:
    host = start(metrics={"token": "let-me-see"})
    for body in ({"text": "a"}, {"text": "a"}, {"text": ""}):
        httpx.post(host.url + TEXT, json=body)
    httpx.post(f"{host.url}/tools/{'x' * 50}/api/generate", json={})

    assert httpx.get(f"{host.url}/metrics").status_code == 401
    for refused in ("Bearer wrong", "let-me-see", "Basic let-me-see", "Bearerlet-me-see", "Bearer"):
        assert httpx.get(f"{host.url}/metrics", headers={"authorization": refused}).status_code == 401, refused
    assert httpx.get(f"{host.url}/metrics", headers={"authorization": "bearer let-me-see"}).status_code == 200
    response = httpx.get(f"{host.url}/metrics", headers={"authorization": "Bearer let-me-see"})
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = response.text
    assert 'pressroom_requests_total{code="ok",tool="text-file"} 2.0' in text
    assert 'pressroom_requests_total{code="validation_error",tool="text-file"} 1.0' in text
    assert 'pressroom_cache_hits_total{tool="text-file"} 1.0' in text
    assert re.search(r'pressroom_render_seconds_count\{tool="text-file"\} 1\.0', text)
    assert re.search(r'pressroom_queue_length\{executor="process"\} 0\.0', text)
    assert "xxxx" not in text


def test_metrics_on_a_port_of_their_own(start: Start) -> None:
    port = free_port()
    host = start(metrics={"port": port})

    assert "pressroom_requests" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
    assert httpx.get(f"{host.url}/metrics").status_code == 404
