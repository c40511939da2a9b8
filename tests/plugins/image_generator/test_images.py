"""Images from other servers, over TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom.sdk import InvalidInput
from pressroom_image_generator import preparation
from pressroom_image_generator.preparation import ImageFetcher
from support.origins import Authority, Origin, StubNames, Visit, origin

NAME = "images.example.org"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


async def _reply(visit: Visit) -> None:
    path = visit.target
    if path.startswith("/ok"):
        await visit.respond(PNG, "Content-Type: text/html")
    elif path == "/page":
        await visit.respond(b"<html>", "Content-Type: image/png")
    elif path == "/large":
        await visit.respond(PNG + b"0" * 1000)
    elif path == "/moved":
        await visit.respond(b"", "Location: /ok", status="302 Found")
    elif path == "/inside":
        await visit.respond(b"", "Location: https://169.254.169.254/latest", status="302 Found")
    elif path == "/never":
        await visit.until_left()
    else:
        await visit.respond(PNG, status="404 Not Found")


@asynccontextmanager
async def serving(authority: Authority, folder: Path) -> AsyncIterator[tuple[Origin, GuardedFetcher]]:
    async with origin(_reply, authority.server_context(folder, NAME)) as server:
        fetcher = GuardedFetcher(
            concurrency=16,
            tls=authority.client_context(),
            resolver=StubNames(["127.0.0.1"]),
            exempt=[("127.0.0.1", server.port)],
        )
        async with fetcher:
            yield server, fetcher


def at(server: Origin, path: str) -> str:
    return f"https://{NAME}:{server.port}{path}"


async def test_images_are_fetched_at_once_and_failures_are_reported(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "MAX_BYTES", 1000)
    async with serving(authority, tmp_path) as (server, fetcher):
        good = [at(server, path) for path in ("/ok", "/ok?2", "/moved")]
        bad = [at(server, path) for path in ("/page", "/large", "/inside", "/gone")]
        images = await ImageFetcher().fetch(fetcher, [*good, *bad, good[0]], "html")
    assert images.contents == {**dict.fromkeys(good, PNG), **dict.fromkeys(bad)}
    assert [warning.partition(" is missing: ")[2] for warning in images.warnings] == [
        "it is not a PNG, JPEG, GIF, WebP, AVIF or SVG image.",
        f"{NAME} sends more than 1000 bytes.",
        "169.254.169.254 is not on the public internet.",
        "its server returned status 404.",
    ]


async def test_one_that_never_returns_does_not_delay_the_others(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "SECONDS_EACH", 60.0)
    monkeypatch.setattr(preparation, "SECONDS_TOGETHER", 1.0)
    async with serving(authority, tmp_path) as (server, fetcher):
        urls = [at(server, "/ok"), at(server, "/never")]
        images = await ImageFetcher().fetch(fetcher, urls, "html")
        await asyncio.wait_for(server.left.wait(), 10)
    assert list(images.contents.values()) == [PNG, None]
    assert images.warnings == (f"The image {urls[1]} is missing: it did not arrive in time.",)


async def test_an_image_is_cached_for_a_short_time(authority: Authority, tmp_path: Path) -> None:
    async with serving(authority, tmp_path) as (server, fetcher):
        fetching, forgetful = ImageFetcher(), ImageFetcher(kept_seconds=0)
        for _ in range(3):
            await fetching.fetch(fetcher, [at(server, "/ok")], "html")
        assert len(server.visits) == 1
        for _ in range(3):
            await forgetful.fetch(fetcher, [at(server, "/ok")], "html")
        assert len(server.visits) == 4


async def test_the_image_cache_is_limited(authority: Authority, tmp_path: Path) -> None:
    async with serving(authority, tmp_path) as (server, fetcher):
        fetching = ImageFetcher(kept_bytes=2 * len(PNG))
        for path in ("/ok1", "/ok2", "/ok3", "/ok2", "/ok1"):
            await fetching.fetch(fetcher, [at(server, path)], "html")
        assert [visit.target for visit in server.visits] == ["/ok1", "/ok2", "/ok3", "/ok1"]


async def test_a_failure_is_not_cached(authority: Authority, tmp_path: Path) -> None:
    async with serving(authority, tmp_path) as (server, fetcher):
        fetching = ImageFetcher()
        for _ in range(2):
            await fetching.fetch(fetcher, [at(server, "/gone")], "html")
        assert len(server.visits) == 2


async def test_more_than_ten_images_are_refused_before_any_is_fetched(authority: Authority, tmp_path: Path) -> None:
    async with serving(authority, tmp_path) as (server, fetcher):
        urls = [at(server, f"/ok{number}") for number in range(11)]
        with pytest.raises(InvalidInput, match="html: has 11 images with a URL; at most 10 are allowed"):
            await ImageFetcher().fetch(fetcher, urls, "html")
        assert not server.visits
        images = await ImageFetcher().fetch(fetcher, [*urls[:10], *urls[:10]], "html")
    assert len(images.contents) == 10


async def test_an_internal_address_is_never_connected_to() -> None:
    async with GuardedFetcher() as fetcher:
        images = await ImageFetcher().fetch(fetcher, ["https://127.0.0.1/a.png", "https://[::1]/"], "html")
    assert list(images.contents.values()) == [None, None]
    assert all("not on the public internet" in warning for warning in images.warnings)
