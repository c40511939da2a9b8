"""Presigned URLs, as anyone with a browser uses them."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pressroom.storage.files.s3 import S3FileStore
from support.s3 import S3Server
from support.stores import opened

KEY = "qr-code-generator/0123456789abcdef.svg"
CONTENT = b"<svg>0123456789</svg>"


def in_seconds(seconds: int) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=seconds)


def refuses(response: httpx.Response) -> None:
    """Check that the response does not contain the file; most servers return 403, rclone returns 400 in some cases."""
    assert response.status_code in (400, 403)
    assert CONTENT not in response.content


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@asynccontextmanager
async def written(server: S3Server, **changes: object) -> AsyncIterator[S3FileStore]:
    """Yield an open store that contains only the file `KEY`."""
    async with opened(S3FileStore(f"s3://files/{secrets.token_hex(8)}", server.settings(**changes))) as store:
        await store.write(KEY, CONTENT, media_type="image/svg+xml")
        yield store


@pytest.fixture
async def store(server: S3Server) -> AsyncIterator[S3FileStore]:
    async with written(server) as store:
        yield store


@pytest.fixture
async def swift_store(swift: S3Server) -> AsyncIterator[S3FileStore]:
    async with written(swift) as store:
        yield store


async def test_anyone_with_the_url_gets_the_file(store: S3FileStore, client: httpx.AsyncClient) -> None:
    response = await client.get(await store.url(KEY, expires=in_seconds(60)))
    assert response.status_code == 200
    assert response.content == CONTENT
    assert response.headers["content-type"] == "image/svg+xml"
    assert response.headers["content-disposition"] == 'inline; filename="0123456789abcdef.svg"'


async def test_without_the_signature_the_file_is_refused(store: S3FileStore, client: httpx.AsyncClient) -> None:
    url = await store.url(KEY, expires=in_seconds(60))
    refuses(await client.get(url.partition("?")[0]))


@pytest.mark.parametrize(
    ("what", "pattern", "replacement"),
    [
        ("signature", r"(X-Amz-Signature=)[0-9a-f]{8}", r"\g<1>00000000"),
        ("expiry", r"(X-Amz-Expires=)\d+", r"\g<1>86400"),
        ("type", r"(response-content-type=)[^&]+", r"\g<1>text%2Fhtml"),
        ("file", r"0123456789abcdef\.svg\?", "fedcba9876543210.svg?"),
    ],
)
async def test_an_altered_url_is_refused(
    store: S3FileStore, client: httpx.AsyncClient, what: str, pattern: str, replacement: str
) -> None:
    url = await store.url(KEY, expires=in_seconds(60))
    altered = re.sub(pattern, replacement, url)
    assert altered != url, what
    refuses(await client.get(altered))


async def test_a_url_is_valid_until_it_expires(swift_store: S3FileStore, client: httpx.AsyncClient) -> None:
    expires = in_seconds(4)
    url = await swift_store.url(KEY, expires=expires)
    assert (await client.get(url)).status_code == 200
    async with asyncio.timeout(30):
        while (response := await client.get(url)).status_code == 200:
            pass
    assert response.status_code == 403
    assert "expired" in response.text
    assert datetime.now(UTC) >= expires


async def test_ranges_of_a_file_can_be_fetched(swift_store: S3FileStore, client: httpx.AsyncClient) -> None:
    url = await swift_store.url(KEY, expires=in_seconds(60))
    response = await client.get(url, headers={"Range": "bytes=5-9"})
    assert (response.status_code, response.content) == (206, CONTENT[5:10])
    assert response.headers["content-range"] == f"bytes 5-9/{len(CONTENT)}"


async def test_urls_are_signed_for_the_endpoint_that_clients_reach(server: S3Server, client: httpx.AsyncClient) -> None:
    public = server.endpoint.replace("127.0.0.1", "localhost")
    async with written(server, public_endpoint_url=public) as store:
        url = await store.url(KEY, expires=in_seconds(60))
        assert url.startswith(f"{public}/files/")
        assert (await client.get(url)).content == CONTENT
        refuses(await client.get(url.replace("localhost", "127.0.0.1")))


@pytest.mark.parametrize("seconds", [-1, 0, 604_900])
async def test_an_expiry_that_s3_cannot_sign_is_refused(store: S3FileStore, seconds: int) -> None:
    with pytest.raises(ValueError, match="seconds ahead"):
        await store.url(KEY, expires=in_seconds(seconds))


async def test_a_type_that_a_plugin_declares_is_saved(server: S3Server, client: httpx.AsyncClient) -> None:
    async with opened(S3FileStore(f"s3://files/{secrets.token_hex(8)}", server.settings())) as store:
        store.media_types.declare("export", {"text/csv": "csv"})
        await store.write("export/0123.csv", b"a,b", media_type="text/csv")
        response = await client.get(await store.url("export/0123.csv", expires=in_seconds(60)))
    assert (response.content, response.headers["content-type"]) == (b"a,b", "text/csv")
    assert response.headers["content-disposition"] == 'attachment; filename="0123.csv"'
