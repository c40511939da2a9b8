"""Public text is compressed for clients that accept gzip; private responses never are."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pressroom.http.compression import prefers_gzip
from pressroom.http.responses import MIN_ENCODED_BYTES
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import account

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
TEXT = "Water at eighty degrees, two minutes, no more. " * 60


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def post(host: RunningHost) -> str:
    """Return the URL of a post on a built-in site."""
    website = host.call_tool("connect_website", {"platform": "builtin", "name": "The kitchen table"})["website_id"]
    article = host.call_tool("create_content", {"title": "How to brew green tea", "body": TEXT})["content_id"]
    url: str = host.call_tool("publish_content", {"content_id": article, "website_id": website})["url"]
    return url


@pytest.fixture
def bare(host: RunningHost) -> Iterator[httpx.Client]:
    """Return a client that sends no `Accept-Encoding` header by default."""
    with httpx.Client(base_url=host.url, timeout=30) as client:
        del client.headers["accept-encoding"]
        yield client


def raw(client: httpx.Client, url: str, method: str = "GET", **options: Any) -> tuple[httpx.Response, bytes]:
    """Return a response and its undecoded body."""
    with client.stream(method, url, **options) as response:
        return response, b"".join(response.iter_raw())


def varies(response: httpx.Response) -> set[str]:
    return {name.strip().lower() for name in response.headers.get("vary", "").split(",")}


def public_urls(post: str) -> list[str]:
    site = post.rpartition("/")[0]
    return [
        "/tools", "/tools/image-generator", "/tools/api", "/tools/qr-code-generator/api", "/openapi.json", "/llms.txt",
        "/llms-full.txt", "/tools/static/pressroom.css", "/tools/static/pages.js", post, site, f"{site}/feed.xml",
        f"{post}.md", f"{site}/style.css",
    ]  # fmt: skip


def test_public_texts_are_compressed(bare: httpx.Client, post: str) -> None:
    for url in public_urls(post):
        plain, content = raw(bare, url)
        compressed, sent = raw(bare, url, headers={"accept-encoding": "gzip"})
        assert (plain.status_code, compressed.status_code) == (200, 200), url
        assert "content-encoding" not in plain.headers, url
        assert compressed.headers["content-encoding"] == "gzip", url
        assert compressed.headers["content-length"] == str(len(sent)), url
        assert len(sent) < len(content), url
        assert gzip.decompress(sent) == content, url
        assert compressed.headers["content-type"] == plain.headers["content-type"], url
        assert "accept-encoding" in varies(plain) & varies(compressed), url


def test_head_has_the_headers_of_get(bare: httpx.Client, post: str) -> None:
    for url in public_urls(post):
        for headers in ({}, {"accept-encoding": "gzip"}):
            response, _ = raw(bare, url, headers=headers)
            head, body = raw(bare, url, "HEAD", headers=headers)
            assert body == b""
            for name in ("content-length", "content-encoding", "content-type", "vary", "etag"):
                assert head.headers.get(name) == response.headers.get(name), (url, name)


def test_an_etag_of_either_encoding_is_valid(bare: httpx.Client, post: str) -> None:
    for url in public_urls(post):
        plain = raw(bare, url)[0].headers["etag"]
        compressed = raw(bare, url, headers={"accept-encoding": "gzip"})[0].headers["etag"]
        assert compressed == f"W/{plain}", url  # the bytes differ, so the strong ETag must differ too
        for tag in (plain, compressed, f'"other", {compressed}'):
            for headers in ({}, {"accept-encoding": "gzip"}):
                response, body = raw(bare, url, headers={"if-none-match": tag, **headers})
                assert (response.status_code, body) == (304, b""), (url, tag)
                assert response.headers["etag"] in tag, (url, tag)
                assert "content-encoding" not in response.headers
                assert "accept-encoding" in varies(response), url
        changed = raw(bare, url, headers={"if-none-match": '"other"', "accept-encoding": "gzip"})[0]
        assert changed.status_code == 200


def test_only_public_texts_have_an_etag_of_their_content(bare: httpx.Client) -> None:
    for url, more_headers in (
        ("/sign-in", {}),
        ("/healthz", {}),
        ("/nothing-here", {}),
        ("/llms.txt", {"cookie": "pressroom=x"}),
    ):
        response, body = raw(bare, url, headers={"if-none-match": "*", **more_headers})
        assert response.status_code != 304
        assert "etag" not in response.headers
        assert body
    page, _ = raw(bare, "/tools/qr-code-generator", headers={"if-none-match": "*"})
    filled, _ = raw(bare, "/tools/qr-code-generator?text=tea")
    assert page.status_code == 304
    assert "content-type" not in page.headers
    assert page.headers["cache-control"] == filled.headers["cache-control"]
    assert page.headers["etag"] != filled.headers["etag"]


def test_the_list_of_tools_is_compressed(host: RunningHost, bare: httpx.Client) -> None:
    bearer = account(host).bearer
    plain, content = raw(bare, "/api/mcp", "POST", json=LIST, headers=bearer)
    compressed, sent = raw(bare, "/api/mcp", "POST", json=LIST, headers={**bearer, "accept-encoding": "gzip, br"})
    assert gzip.decompress(sent) == content
    assert len(sent) * 4 < len(content)
    assert "content-encoding" not in plain.headers
    assert compressed.headers["cache-control"] == "no-store"
    origin = {"origin": host.url, "accept-encoding": "gzip"}
    from_page = raw(bare, "/api/mcp", "POST", json=LIST, headers={**bearer, **origin})[0]
    assert varies(from_page) == {"origin", "accept-encoding"}


def test_responses_of_tools_are_not_compressed(host: RunningHost, bare: httpx.Client) -> None:
    headers = {**account(host).bearer, "accept-encoding": "gzip"}
    call = {"name": "create_content", "arguments": {"title": "Private", "body": TEXT}}
    mcp_response, _ = raw(
        bare, "/api/mcp", "POST", json={**LIST, "method": "tools/call", "params": call}, headers=headers
    )
    text = {"text": "x" * 1200, "format": "svg", "response": "binary"}
    image_response, image = raw(bare, "/tools/qr-code-generator/api/generate", "POST", json=text, headers=headers)
    assert (mcp_response.status_code, image_response.status_code, len(image) > MIN_ENCODED_BYTES) == (200, 200, True)
    assert "content-encoding" not in mcp_response.headers
    assert "content-encoding" not in image_response.headers


def test_pages_with_form_tokens_are_not_compressed(host: RunningHost, bare: httpx.Client) -> None:
    headers = {"accept-encoding": "gzip"}
    for url in ("/sign-in", "/sign-in?return_to=/dashboard"):
        response, body = raw(bare, url, headers=headers)
        assert (response.status_code, len(body) > MIN_ENCODED_BYTES) == (200, True)
        assert b'name="csrf"' in body
        assert "content-encoding" not in response.headers


def test_responses_without_cache_control_are_not_compressed_with_a_cookie(bare: httpx.Client) -> None:
    response, _ = raw(bare, "/llms.txt", headers={"accept-encoding": "gzip", "cookie": "pressroom=x"})
    assert "content-encoding" not in response.headers


def test_small_responses_and_images_are_sent_unchanged(bare: httpx.Client) -> None:
    for url in ("/healthz", "/tools/image-generator/examples/0", "/nothing-here"):
        response, body = raw(bare, url, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in response.headers
        assert body


def test_the_operator_can_disable_compression(tmp_path: Path) -> None:
    config = {"builtin_plugins": False, "plugins": {"qr_code_generator": {}}, "server": {"compression": False}}
    with RunningHost(settings_for_test(config, tmp_path)) as host, httpx.Client(base_url=host.url) as client:
        for url in ("/tools", "/tools/api", "/tools/static/pressroom.css"):
            response = client.get(url, headers={"accept-encoding": "gzip"})
            assert "content-encoding" not in response.headers
            assert "accept-encoding" not in varies(response)


def test_concurrent_requests_all_get_the_complete_text(host: RunningHost) -> None:
    async def ask(client: httpx.AsyncClient, number: int) -> bytes:
        response = await client.post("/api/mcp", json={**LIST, "id": number}, headers=bearer)
        assert response.json()["id"] == number
        return response.content.replace(b'"id":%d,' % number, b'"id":0,')

    async def ask_all() -> list[bytes]:
        async with httpx.AsyncClient(base_url=host.url, timeout=60) as client:
            return list(await asyncio.gather(*(ask(client, number) for number in range(1, 21))))

    bearer = account(host).bearer
    assert len(set(asyncio.run(ask_all()))) == 1


WEIGHT = st.sampled_from(["", ";q=0", ";q=0.0", ";q=1", ";q=1.000", ";q=0.5", "; q=0.333", ";q=2", ";q=x", ";x=1"])
CODING = st.sampled_from(["gzip", "x-gzip", "GZip", "br", "identity", "*", "deflate", "", "zstd", "gzip gzip"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CODING, WEIGHT), max_size=5))
def test_whatever_a_client_takes_it_gets_a_body_that_it_can_read(
    host: RunningHost, parts: list[tuple[str, str]]
) -> None:
    header = ", ".join(coding + weight for coding, weight in parts).strip()
    with httpx.Client(base_url=host.url, headers={"accept-encoding": header}) as client:
        answer, sent = raw(client, "/tools/static/pressroom.css")
    wanted = prefers_gzip(header)
    assert answer.headers.get("content-encoding") == ("gzip" if wanted else None)
    content = gzip.decompress(sent) if wanted else sent
    assert content.startswith(b"/*") or b":root" in content
