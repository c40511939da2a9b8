"""A single request and its unprocessed response, for programs that examine sites."""

import gzip

import pytest
from pressroom.errors import FetchFailed, FetchRefused
from pressroom.fetch import GuardedFetcher
from pressroom.sdk import Fetcher, FetchResponse
from support.origins import Origin, StubNames, Visit, origin

from .conftest import NAME, RunOrigin
from .conftest import Fetcher as MakeFetcher


def at(running: Origin, path: str = "/", scheme: str = "https") -> str:
    return f"{scheme}://{NAME}:{running.port}{path}"


async def exchange(fetcher: Fetcher, url: str, **options: object) -> FetchResponse:
    bounds = {"accept": "text/html", "max_bytes": 1000, "seconds": 30, **options}
    return await fetcher.exchange(url, **bounds)  # type: ignore[arg-type]


async def test_a_redirect_is_a_response(secure_origin: RunOrigin, fetcher_for: MakeFetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"moved", "Location: http://10.0.0.1/", "X-A: 1", "x-a: 2", status="301 Moved Permanently")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        response = await exchange(fetcher, at(running, "/a"))
    assert (response.url, response.status, response.content, response.whole) == (at(running, "/a"), 301, b"moved", True)
    assert response.headers[:3] == (("location", "http://10.0.0.1/"), ("x-a", "1"), ("x-a", "2"))
    assert 0 < response.first_byte <= response.seconds
    assert len(running.visits) == 1


async def test_compressed_content_is_returned_as_sent(secure_origin: RunOrigin, fetcher_for: MakeFetcher) -> None:
    packed = gzip.compress(b"page")

    async def reply(visit: Visit) -> None:
        await visit.respond(packed, "Content-Encoding: gzip")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        assert (await exchange(fetcher, at(running), encodings="gzip")).content == packed
    [visit] = running.visits
    assert (visit.header("Accept-Encoding"), visit.header("Accept")) == ("gzip", "text/html")


async def test_content_is_truncated_at_the_limit(secure_origin: RunOrigin, fetcher_for: MakeFetcher) -> None:
    async def endless(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await visit.send(b"x" * 1024)

    async def exact(visit: Visit) -> None:
        await visit.respond(b"x" * 1000)

    async with secure_origin(endless) as running, fetcher_for(running) as fetcher:
        response = await exchange(fetcher, at(running))
        assert (response.content, response.whole) == (b"x" * 1000, False)
        await running.left.wait()
    async with secure_origin(exact) as running, fetcher_for(running) as fetcher:
        assert (await exchange(fetcher, at(running))).whole


async def test_a_head_request_has_no_content(secure_origin: RunOrigin, fetcher_for: MakeFetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        response = await exchange(fetcher, at(running), method="HEAD")
    assert (response.status, response.content, response.whole) == (200, b"", True)
    assert running.visits[0].head.startswith("HEAD / ")


async def test_plain_http_needs_a_public_ip_address_and_port_80(fetcher_for: MakeFetcher) -> None:
    names = StubNames(["10.0.0.1"])
    async with fetcher_for(names=names) as fetcher:
        with pytest.raises(FetchRefused, match="must begin with https://"):
            await exchange(fetcher, f"http://{NAME}/")
        with pytest.raises(FetchRefused, match="not on the public internet"):
            await exchange(fetcher, f"http://{NAME}/", plain_http=True)
        with pytest.raises(FetchRefused, match="must begin with https://"):
            await exchange(fetcher, f"http://{NAME}:8080/", plain_http=True)
        with pytest.raises(FetchRefused, match="not on the public internet"):
            await exchange(fetcher, "http://169.254.169.254/", plain_http=True)


async def test_no_response_in_time(secure_origin: RunOrigin, fetcher_for: MakeFetcher) -> None:
    async def silence(visit: Visit) -> None:
        await visit.until_left()

    async with secure_origin(silence) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match=r"did not respond within 1 s"):
            await exchange(fetcher, at(running), seconds=1)
        await running.left.wait()


async def test_the_head_of_a_response_is_bounded(fetcher_for: MakeFetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"", f"X-Long: {'x' * 40_000}")

    async with origin(reply) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchRefused, match="bytes of headers"):
            await exchange(fetcher, at(running, scheme="http"))


def test_the_fetcher_implements_the_protocol() -> None:
    assert isinstance(GuardedFetcher(), Fetcher)
