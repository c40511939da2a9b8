"""Fetching from real servers over TLS."""

import asyncio
import gzip
from pathlib import Path

import pytest
from pressroom.errors import FetchFailed, FetchRefused
from pressroom.fetch import Fetched, GuardedFetcher
from support.origins import Authority, Origin, Reply, StubNames, Visit, origin, silent

from .conftest import NAME, Fetcher, RunOrigin


def reply_with(content: bytes = b"content", *headers: str, status: str = "200 OK") -> Reply:
    async def reply(visit: Visit) -> None:
        await visit.respond(content, *headers, status=status)

    return reply


async def get(fetcher: GuardedFetcher, url: str, *, max_bytes: int = 1000, seconds: float = 30) -> Fetched:
    return await fetcher.get(url, accept="image/png", max_bytes=max_bytes, seconds=seconds)


def at(running: Origin, path: str = "/", scheme: str = "https") -> str:
    return f"{scheme}://{NAME}:{running.port}{path}"


async def test_content_is_returned_with_its_type(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with (
        secure_origin(reply_with(b"\x89PNG", "Content-Type: Image/PNG; q=1")) as running,
        fetcher_for(running) as fetcher,
    ):
        fetched = await get(fetcher, at(running, "/a?b=c#d"))
    assert (fetched.url, fetched.status, fetched.media_type) == (at(running, "/a?b=c"), 200, "image/png")
    assert (fetched.content, fetched.headers["content-type"]) == (b"\x89PNG", "Image/PNG; q=1")
    [visit] = running.visits
    assert visit.target == "/a?b=c"


async def test_only_the_url_and_the_accepted_types_are_sent(
    secure_origin: RunOrigin, fetcher_for: Fetcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine {NAME} login me password secret")
    monkeypatch.setenv("NETRC", str(netrc))
    async with (
        secure_origin(reply_with(b"", "Set-Cookie: a=b; Path=/")) as running,
        fetcher_for(running) as fetcher,
    ):
        await get(fetcher, at(running))
        await get(fetcher, at(running))
    for visit in running.visits:
        names = [line.partition(":")[0].lower() for line in visit.head.split("\r\n")[1:] if line]
        assert sorted(names) == ["accept", "accept-encoding", "connection", "host", "user-agent"]
        assert visit.header("Host") == f"{NAME}:{running.port}"
        assert visit.header("Accept") == "image/png"
        assert visit.header("Accept-Encoding") == "identity"
    assert len(running.visits) == 2


@pytest.mark.parametrize("headers", [(), ("Content-Type: text/html", "Content-Type: image/png")])
async def test_a_missing_or_duplicate_type_is_empty(
    secure_origin: RunOrigin, fetcher_for: Fetcher, headers: tuple[str, ...]
) -> None:
    async with secure_origin(reply_with(b"<svg/>", *headers)) as running, fetcher_for(running) as fetcher:
        assert (await get(fetcher, at(running))).media_type == ""


async def test_an_error_page_is_a_response(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with secure_origin(reply_with(b"gone", status="404 Not Found")) as running, fetcher_for(running) as fetcher:
        fetched = await get(fetcher, at(running))
    assert (fetched.status, fetched.content) == (404, b"gone")


async def test_plain_http_is_for_exempt_hosts_only(fetcher_for: Fetcher) -> None:
    async with origin(reply_with()) as running, origin(reply_with()) as other, fetcher_for(running) as fetcher:
        assert (await get(fetcher, at(running, scheme="http"))).content == b"content"
        with pytest.raises(FetchRefused, match="must begin with https://"):
            await get(fetcher, at(other, scheme="http"))
    assert not other.visits


async def test_a_port_other_than_443_is_refused(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    names = StubNames(["127.0.0.1"])
    async with secure_origin(reply_with()) as running, fetcher_for(names=names) as fetcher:
        with pytest.raises(FetchRefused, match=f"port {running.port} is not allowed"):
            await get(fetcher, at(running))
    assert not running.visits
    assert not names.queries


async def test_the_certificate_must_match_the_name(authority: Authority, fetcher_for: Fetcher, tmp_path: Path) -> None:
    tls = authority.server_context(tmp_path, "other.example.org", "127.0.0.1")
    async with origin(reply_with(), tls) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match="no secure connection") as failure:
            await get(fetcher, at(running))
        assert (await get(fetcher, f"https://127.0.0.1:{running.port}/")).content == b"content"
    assert "certificate" in failure.value.hint


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(secure_origin: RunOrigin) -> None:
    async with secure_origin(reply_with()) as running:
        exempt = [("127.0.0.1", running.port)]
        async with GuardedFetcher(resolver=StubNames(["127.0.0.1"]), exempt=exempt) as fetcher:
            with pytest.raises(FetchFailed, match="no secure connection"):
                await get(fetcher, at(running))
    assert not running.visits


async def test_the_next_address_is_tried_if_the_first_does_not_respond(
    secure_origin: RunOrigin, authority: Authority
) -> None:
    async with secure_origin(reply_with()) as running:
        fetcher = GuardedFetcher(
            tls=authority.client_context(),
            resolver=StubNames(["127.0.0.2", "127.0.0.1"]),
            exempt=[("127.0.0.1", running.port), ("127.0.0.2", running.port)],
        )
        async with fetcher:
            assert (await get(fetcher, at(running))).content == b"content"


async def test_a_refused_connection_is_reported(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with secure_origin(reply_with()) as running:
        pass
    async with fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match="could not connect to"):
            await get(fetcher, at(running))


async def test_a_name_without_an_ip_address_is_reported(fetcher_for: Fetcher) -> None:
    async with fetcher_for(names=StubNames([])) as fetcher:
        with pytest.raises(FetchFailed, match="has no IP address"):
            await get(fetcher, f"https://{NAME}/")


async def test_names_are_resolved_by_the_system() -> None:
    async with GuardedFetcher() as fetcher:
        with pytest.raises(FetchFailed, match="has no IP address"):
            await get(fetcher, "https://nothing.invalid/")


# Limits


async def test_content_may_be_as_large_as_the_limit(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with secure_origin(reply_with(b"x" * 1000)) as running, fetcher_for(running) as fetcher:
        assert len((await get(fetcher, at(running), max_bytes=1000)).content) == 1000
        with pytest.raises(FetchRefused, match="more than 999 bytes"):
            await get(fetcher, at(running), max_bytes=999)


async def test_an_endless_body_is_abandoned(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await visit.send(b"400\r\n" + b"x" * 1024 + b"\r\n")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchRefused, match="more than 1000 bytes"):
            await get(fetcher, at(running))
        await asyncio.wait_for(running.left.wait(), 30)


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"],
    ids=["silence", "head", "body"],
)
async def test_a_slow_response_ends_at_the_timeout(
    secure_origin: RunOrigin, fetcher_for: Fetcher, start: bytes
) -> None:
    async def reply(visit: Visit) -> None:
        await visit.send(start)
        drip = b"1\r\nx\r\n" if start.endswith(b"\r\n\r\n") else b"x: y\r\n" if start else b""
        while drip:
            await visit.send(drip)
            await asyncio.sleep(0.05)
        await visit.until_left()

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match=r"did not respond within 1 s"):
            await get(fetcher, at(running), seconds=1, max_bytes=10_000_000)
        await asyncio.wait_for(running.left.wait(), 30)


async def test_an_endless_handshake_ends_at_the_timeout(fetcher_for: Fetcher) -> None:
    async with silent() as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match=r"did not respond within 1 s"):
            await get(fetcher, at(running), seconds=1)
        await asyncio.wait_for(running.left.wait(), 30)


async def test_cancelling_during_the_handshake_frees_the_connection(fetcher_for: Fetcher) -> None:
    async with silent() as running, fetcher_for(running) as fetcher:
        call = asyncio.create_task(get(fetcher, at(running)))
        await running.reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(running.left.wait(), 30)


@pytest.mark.parametrize("size", [40_000, 400_000])
async def test_the_size_of_a_head_is_limited(secure_origin: RunOrigin, fetcher_for: Fetcher, size: int) -> None:
    async with secure_origin(reply_with(b"", f"X-Long: {'x' * size}")) as running, fetcher_for(running) as fetcher:
        with pytest.raises((FetchRefused, FetchFailed), match=r"bytes of headers|did not respond with HTTP"):
            await get(fetcher, at(running))


async def test_compressed_content_is_refused(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    bomb = gzip.compress(bytes(10_000_000))
    async with secure_origin(reply_with(bomb, "Content-Encoding: gzip")) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchRefused, match="compressed"):
            await get(fetcher, at(running), max_bytes=100_000)


@pytest.mark.parametrize(
    "sent",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"",
    ],
    ids=["ssh", "short", "two lengths", "bad chunk", "nothing"],
)
async def test_an_incomplete_response_fails(secure_origin: RunOrigin, fetcher_for: Fetcher, sent: bytes) -> None:
    async def reply(visit: Visit) -> None:
        await visit.send(sent)

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchFailed, match="closed the connection early"):
            await get(fetcher, at(running))


# Concurrency


async def test_concurrent_fetches_are_limited(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    arrived: asyncio.Queue[Visit] = asyncio.Queue()
    go_on = asyncio.Event()

    async def reply(visit: Visit) -> None:
        arrived.put_nowait(visit)
        await go_on.wait()
        await visit.respond()

    async with secure_origin(reply) as running, fetcher_for(running, concurrency=2) as fetcher:
        calls = [asyncio.create_task(get(fetcher, at(running))) for _ in range(4)]
        await arrived.get()
        await arrived.get()
        # The two waiting requests time out without having reached the server.
        with pytest.raises(FetchFailed, match="did not respond"):
            await get(fetcher, at(running), seconds=0.1)
        assert arrived.empty()
        go_on.set()
        assert [fetched.status for fetched in await asyncio.gather(*calls)] == [200] * 4


async def test_cancelling_frees_the_connection(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    arrived = asyncio.Event()

    async def reply(visit: Visit) -> None:
        if visit.target == "/slow":
            await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
            arrived.set()
            await visit.until_left()
        else:
            await visit.respond(b"next")

    async with secure_origin(reply) as running, fetcher_for(running, concurrency=1) as fetcher:
        call = asyncio.create_task(get(fetcher, at(running, "/slow")))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(running.left.wait(), 30)
        assert (await get(fetcher, at(running, "/next"))).content == b"next"


async def test_closing_and_reopening_is_possible(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with secure_origin(reply_with()) as running:
        fetcher = fetcher_for(running)
        for _ in range(2):
            await fetcher.open()
            assert (await get(fetcher, at(running))).status == 200
            await fetcher.close()
