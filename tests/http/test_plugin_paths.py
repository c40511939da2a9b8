"""Plugin routes: path patterns, and secrets in paths, which are masked in the log."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.config.models import LoggingSettings
from pressroom.observability.logs import configure_logging
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from selectolax.lexbor import LexborHTMLParser
from support import third_party

PLUGIN = (
    third_party.HEAD
    + r"""
from pressroom.sdk import HttpResponse, Route

async def served(request):
    return HttpResponse(json.dumps(dict(request.path_params)).encode(), media_type="application/json")

async def page(request):
    if request.query.get("as") == "json":
        return HttpResponse(b"{}", media_type="application/json")
    return HttpResponse(b"<h1>A gift</h1>", 400, headers={"X-Own": "yes"})

async def failing(request):
    raise RuntimeError("this is not to be")

import json

@hookimpl
def pressroom_routes():
    return [
        Route(r"/<key_file:[0-9a-f]{4}\.txt>", served),
        Route("/gifts/<token>", served, ("GET", "PUT")),
        Route("/gifts/<token>/of/<name>", failing),
        Route("/gifts/<token>/page", page, title="Open <it>"),
    ]
"""
)
SECRET = "s3cr3t-0123456789abcdef"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    site = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(site, PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        config = {"builtin_plugins": False, "plugins": {plugin: {}, "content": {}}, "logging": {"requests": True}}
        with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
            assert not running.host.compiled.plugins.failed
            yield running


def test_a_pattern_matches_nothing_else(host: RunningHost) -> None:
    assert httpx.get(f"{host.url}/0a1b.txt").json() == {"key_file": "0a1b.txt"}
    assert httpx.post(f"{host.url}/0a1b.txt").status_code == 405


@pytest.mark.parametrize("path", ["/nothing", "/0a1b.txt.exe", "/0a1g.txt", "/0a1b-txt", "/0a1b0.txt", "/0A1B.txt"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_a_path_without_a_matching_pattern_is_not_found(host: RunningHost, path: str, method: str) -> None:
    response = httpx.request(method, host.url + path)
    other = httpx.request(method, f"{host.url}/no/route/is/like/this")
    assert response.status_code == other.status_code == 404
    assert response.headers.get("allow") == other.headers.get("allow")
    if method != "HEAD":
        assert response.json()["error"] == {"code": "not_found", "message": f"there is nothing at {path}"}
        assert response.json().keys() == other.json().keys()


@pytest.fixture
def log(host: RunningHost) -> io.BytesIO:
    """Return a buffer that captures the server's log; the next server to start configures logging again."""
    buffer = io.BytesIO()
    configure_logging(LoggingSettings(format="json"), stream=io.TextIOWrapper(buffer, write_through=True))
    return buffer


@pytest.mark.parametrize(
    ("method", "path", "logged", "status"),
    [
        ("GET", f"/gifts/{SECRET}", "/gifts/***", 200),
        ("PUT", f"/gifts/{SECRET}", "/gifts/***", 200),
        ("HEAD", f"/gifts/{SECRET}", "/gifts/***", 200),
        # The secret stays masked if the method is not allowed or the path continues.
        ("DELETE", f"/gifts/{SECRET}", "/gifts/***", 405),
        ("GET", f"/gifts/{SECRET}/", "/gifts/***/", 200),
        ("GET", f"/gifts/{SECRET}/a/b/c", "/gifts/***/a/b/c", 404),
        ("GET", f"/gifts/{SECRET}?again={SECRET}", "/gifts/***", 200),
        ("GET", f"/gifts/{SECRET}/of/flowers", "/gifts/***/of/flowers", 500),
        ("GET", "/gifts", "/gifts", 404),
        # Dashboard links through which people connect a website.
        ("GET", f"/dashboard/connect/{SECRET}", "/dashboard/connect/***", 303),
        ("PUT", f"/dashboard/connect/{SECRET}", "/dashboard/connect/***", 405),
        ("GET", f"/dashboard/connect/{SECRET}/approved?password={SECRET}", "/dashboard/connect/***/approved", 303),
        ("GET", f"/setup?token={SECRET}", "/setup", 404),
    ],
)
def test_secrets_in_paths_are_not_logged(
    host: RunningHost, log: io.BytesIO, method: str, path: str, logged: str, status: int
) -> None:
    assert httpx.request(method, host.url + path).status_code == status
    text = log.getvalue().decode()
    assert SECRET not in text
    events = [json.loads(line) for line in text.splitlines()]
    (request,) = [event for event in events if event["event"] == "request"]
    assert (request["method"], request["path"], request["status"]) == (method, logged, status)
    failed = [event["name"] for event in events if event["event"] == "a plugin failed"]
    assert failed == (["/gifts/<token>/of/<name>"] if status == 500 else [])


@pytest.mark.parametrize("pattern", ["[", "a)", "*a"])
def test_an_invalid_pattern_disables_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    plugin = third_party.write_plugin(tmp_path, PLUGIN.replace(r"[0-9a-f]{4}\.txt", pattern))
    monkeypatch.syspath_prepend(str(tmp_path))
    config = {"builtin_plugins": False, "plugins": {plugin: {}}}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as running:
        (record,) = running.host.compiled.plugins.failed
        assert record.id == plugin
        assert "not a regular expression" in str(record)
        assert httpx.get(f"{running.url}/healthz").status_code == 200


def test_a_route_with_a_title_is_a_page_in_the_server_layout(host: RunningHost) -> None:
    response = httpx.get(f"{host.url}/gifts/{SECRET}/page")
    tree = LexborHTMLParser(response.text)
    assert response.status_code == 400
    assert response.headers["x-own"] == "yes"
    assert response.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
    assert [node.text(strip=True) for node in tree.css("title, header .brand, main h1")] == [
        "Open <it> · Pressroom",
        "Pressroom",
        "A gift",
    ]
    assert tree.css("meta[name=robots][content=noindex]")
    assert httpx.get(f"{host.url}/gifts/{SECRET}/page?as=json").content == b"{}"
