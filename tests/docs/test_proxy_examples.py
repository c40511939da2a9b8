"""The documented proxy configurations accept every body size the server does, and get certificates for blog domains."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from PIL import Image
from pressroom.server.app import create_app
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.caddy import caddy, documented_caddy
from support.content_client import client_of
from support.needs import free_port
from support.nginx import documented_domains, documented_nginx, nginx

PLUGINS = ("content", "seo", "images", "search_performance", "wordpress", "ghost", "devto", "git", "webhook")
UNITS = {"": 1, "k": 1024, "m": 1024**2}


def documented_bytes() -> int:
    match = re.search(r"client_max_body_size (\d+)([km]?);", documented_nginx())
    assert match
    return int(match[1]) * UNITS[match[2]]


def largest_body(host: RunningHost) -> int:
    """Return the largest request body, in bytes, that any route accepts."""
    routes = cast("Any", create_app(host.host)).router.routes
    return max(int(cast("SimpleNamespace", route.ctx).max_body_bytes) for route in routes)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder = tmp_path_factory.mktemp("host")
    server = {"trusted_proxies": 1}
    with RunningHost(
        settings_for_test({"plugins": {name: {} for name in PLUGINS}, "server": server}, folder)
    ) as running:
        assert not running.host.compiled.plugins.failed
        yield running


def test_the_documented_limit_exceeds_every_body_the_server_accepts(host: RunningHost) -> None:
    largest = largest_body(host)
    assert largest > 10 * 1024**2
    assert largest <= documented_bytes() < 2 * largest


def photograph(size: int) -> bytes:
    """Return a JPEG of exactly `size` bytes, padded with comment segments."""
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), "#b9502a").save(buffer, "JPEG")
    plain = buffer.getvalue()
    comment = b"\xff\xfe" + (65_535).to_bytes(2) + bytes(65_533)
    comments = comment * ((size - len(plain)) // len(comment))
    padded = plain[:2] + comments + plain[2:]
    return padded + bytes(size - len(padded))


@pytest.mark.services
def test_nginx_passes_on_large_articles_and_images(host: RunningHost, tmp_path: Path) -> None:
    ada = client_of(host, "ada@example.org")
    with nginx(tmp_path, host.url) as url, httpx.Client(verify=False, timeout=120) as client:
        body = "Leaves fall in autumn. " * 65_000
        call = {"name": "create_content", "arguments": {"title": "Long", "body": body}}
        response = client.post(
            f"{url}/api/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            headers={"authorization": f"Bearer {ada.key}", "mcp-protocol-version": "2025-06-18"},
        )
        assert response.status_code == 200, response.text[:300]
        assert not response.json()["result"].get("isError"), response.text[:300]
        link = ada.data("create_upload_url", content_type="image/jpeg")["upload_url"]
        files = {"file": ("large.jpg", photograph(10_485_760), "image/jpeg")}
        upload = client.post(link.replace(host.url, url), files=files)
        assert upload.status_code == 200, upload.text[:300]
        assert (ada.data("list_media")["media"][0]["width"]) == 640


@pytest.mark.services
def test_nginx_forwards_blog_domains_and_their_proofs(tmp_path: Path) -> None:
    content = {"config": {"domains": {"blog.example.org": "notes"}}}
    config: dict[str, Any] = {"plugins": {"content": content}, "server": {"trusted_proxies": 1}}
    plain_port = free_port()
    with RunningHost(settings_for_test(config, tmp_path / "data")) as running:
        ada = client_of(running, "ada@example.org")
        site = ada.data("connect_website", platform="builtin", name="Notes")["website_id"]
        ada.data("update_website_settings", website_id=site, settings={"domain": "blog.example.org"})
        headers = {"Host": "blog.example.org"}
        with (
            nginx(tmp_path, running.url, text=documented_domains(), plain_port=plain_port) as url,
            httpx.Client(verify=False, timeout=60, headers=headers) as client,
        ):
            assert "<title>Notes" in client.get(f"{url}/").text
            assert client.get(f"{url}/dashboard").status_code == 404
            plain = f"http://127.0.0.1:{plain_port}"
            proof = client.get(f"{plain}/.well-known/pressroom-domain/{site}")
            assert (proof.status_code, len(proof.text.strip())) == (200, 32)
            moved = client.get(f"{plain}/first")
            assert (moved.status_code, moved.headers["location"]) == (301, "https://blog.example.org/first")


@pytest.mark.services
def test_caddy_gets_certificates_for_blog_domains_only(tmp_path: Path) -> None:
    content = {"config": {"domains": {"blog.example.org": "notes"}}}
    config: dict[str, Any] = {"plugins": {"content": content}, "server": {"trusted_proxies": 1}}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as running:
        ada = client_of(running, "ada@example.org")
        site = ada.data("connect_website", platform="builtin", name="Notes")["website_id"]
        with caddy(tmp_path, running.url, documented_caddy()) as proxy:
            proof = f"/.well-known/pressroom-domain/{site}"
            with pytest.raises(httpx.ConnectError):  # nobody claimed this domain, so there is no certificate for it
                proxy.get("blog.example.org", "/")
            ada.data("update_website_settings", website_id=site, settings={"domain": "blog.example.org"})
            assert "<title>Notes" in proxy.get("blog.example.org", "/").text
            assert proxy.get("blog.example.org", "/dashboard").status_code == 404
            assert proxy.get("tools.example.com", "/dashboard").status_code == 303
            with pytest.raises(httpx.ConnectError):
                proxy.get("other.example.org", "/")
            plain = proxy.get("blog.example.org", proof, plain=True)
            assert (plain.status_code, len(plain.text.strip())) == (200, 32)
            moved = proxy.get("blog.example.org", "/first", plain=True)
            assert (moved.status_code, moved.headers["location"]) == (308, "https://blog.example.org/first")
