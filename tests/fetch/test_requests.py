"""Requests with any method, such as those to a website's API."""

from ipaddress import IPv4Network

import pytest
from pressroom.errors import FetchFailed, FetchRefused, FetchUnknown
from pressroom.fetch import GuardedFetcher
from support.origins import Reply, StubNames, Visit, origin

from .conftest import NAME, Fetcher, RunOrigin

SECRET = {"Authorization": "Bearer secret", "Accept": "application/json"}


def reply_with(content: bytes = b"{}", *headers: str, status: str = "200 OK") -> Reply:
    async def reply(visit: Visit) -> None:
        await visit.respond(content, *headers, status=status)

    return reply


async def test_a_request_is_sent_as_given(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with (
        secure_origin(reply_with(b'{"id":1}', "X-Total: 3", "Link: a", "Link: b", status="201 Created")) as running,
        fetcher_for(running) as fetcher,
    ):
        response = await fetcher.request(
            "POST",
            f"https://{NAME}:{running.port}/posts",
            headers={**SECRET, "Content-Type": "application/json"},
            content=b'{"title":"x"}',
            max_bytes=1000,
            seconds=30,
        )
    assert (response.status, response.content) == (201, b'{"id":1}')
    assert (response.headers["x-total"], response.headers["link"]) == ("3", "a, b")
    [visit] = running.visits
    assert visit.head.startswith("POST /posts HTTP/1.1")
    assert visit.header("Authorization") == "Bearer secret"
    assert visit.header("Content-Length") == "13"
    assert visit.header("Accept") == "application/json"


async def test_redirects_are_followed_only_on_request(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async def reply(visit: Visit) -> None:
        if visit.target == "/new":
            await visit.respond(b"here")
        else:
            await visit.respond(b"", "Location: /new", status="301 Moved")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        url = f"https://{NAME}:{running.port}/old"
        stayed = await fetcher.request("GET", url, max_bytes=100, seconds=30)
        followed = await fetcher.request("GET", url, headers=SECRET, max_bytes=100, seconds=30, redirects=1)
    assert (stayed.status, stayed.headers["location"]) == (301, "/new")
    assert (followed.content, followed.redirects) == (b"here", (url,))
    assert running.visits[-1].header("Authorization") == "Bearer secret"


async def test_a_credential_is_not_sent_to_another_host(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with secure_origin(reply_with(b"elsewhere")) as second:

        async def reply(visit: Visit) -> None:
            location = f"Location: https://other.example.org:{second.port}/"
            await visit.respond(b"", location, status="302 Found")

        async with (
            secure_origin(reply) as first,
            fetcher_for(first, second) as fetcher,
        ):
            # The certificate covers only the first host name, so the second connection fails before anything is sent.
            with pytest.raises(FetchFailed):
                await fetcher.request(
                    "GET", f"https://{NAME}:{first.port}/", headers=SECRET, max_bytes=100, seconds=30, redirects=1
                )
        async with secure_origin(reply_to(second.port)) as third, fetcher_for(third, second) as fetcher:
            await fetcher.request(
                "GET", f"https://{NAME}:{third.port}/", headers=SECRET, max_bytes=100, seconds=30, redirects=1
            )
    assert second.visits[-1].header("Authorization") is None
    assert second.visits[-1].header("Accept") == "application/json"


def reply_to(port: int) -> Reply:
    """Return a reply that redirects to another port of the same host: another origin."""

    async def reply(visit: Visit) -> None:
        await visit.respond(b"", f"Location: https://{NAME}:{port}/", status="302 Found")

    return reply


async def test_a_post_is_never_redirected(fetcher_for: Fetcher) -> None:
    async with fetcher_for() as fetcher:
        with pytest.raises(ValueError, match="POST is not redirected"):
            await fetcher.request("POST", f"https://{NAME}/", max_bytes=1, seconds=1, redirects=1)


@pytest.mark.parametrize(("method", "error"), [("GET", FetchFailed), ("POST", FetchUnknown), ("PUT", FetchUnknown)])
async def test_a_truncated_response_leaves_the_effect_unknown(
    secure_origin: RunOrigin, fetcher_for: Fetcher, method: str, error: type[Exception]
) -> None:
    async def reply(visit: Visit) -> None:
        await visit.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        with pytest.raises(error):
            await fetcher.request(method, f"https://{NAME}:{running.port}/", max_bytes=1000, seconds=30)


@pytest.mark.parametrize(
    ("content", "headers"),
    [(b"x" * 101, ()), (b"{}", ("Content-Encoding: gzip",)), (b"{}", (f"X-Filler: {'x' * 40_000}",))],
    ids=["too large", "compressed", "head too large"],
)
@pytest.mark.parametrize(("method", "error"), [("GET", FetchRefused), ("POST", FetchUnknown), ("PUT", FetchUnknown)])
async def test_a_result_that_breaks_a_bound_does_not_undo_the_call(
    secure_origin: RunOrigin,
    fetcher_for: Fetcher,
    method: str,
    error: type[Exception],
    content: bytes,
    headers: tuple[str, ...],
) -> None:
    async with secure_origin(reply_with(content, *headers)) as running, fetcher_for(running) as fetcher:
        with pytest.raises(error):
            await fetcher.request(method, f"https://{NAME}:{running.port}/", max_bytes=100, seconds=30)


async def test_an_unreachable_host_is_reported(fetcher_for: Fetcher) -> None:
    async with origin(reply_with()) as unreachable:
        pass
    async with fetcher_for(unreachable) as fetcher:
        with pytest.raises(FetchFailed):
            await fetcher.request("POST", f"https://{NAME}:{unreachable.port}/", max_bytes=1000, seconds=30)


async def test_the_operators_private_networks_are_allowed() -> None:
    async with (
        origin(reply_with(b"intern")) as running,
        GuardedFetcher(resolver=StubNames(["127.0.0.1"]), private_networks=[IPv4Network("127.0.0.0/30")]) as fetcher,
        GuardedFetcher(resolver=StubNames(["127.0.0.1"]), private_networks=[IPv4Network("10.0.0.0/8")]) as other,
    ):
        url = f"http://{NAME}:{running.port}/"
        assert (await fetcher.request("GET", url, max_bytes=100, seconds=30)).content == b"intern"
        assert (await fetcher.get(url, accept="*/*", max_bytes=100, seconds=30)).content == b"intern"
        with pytest.raises(FetchRefused):
            await other.request("GET", url, max_bytes=100, seconds=30)
