"""Redirect targets go through the same checks as the first URL."""

import pytest
from pressroom.errors import FetchRefused
from pressroom.fetch import GuardedFetcher
from support.origins import Reply, StubNames, Visit, origin

from .conftest import NAME, Fetcher, RunOrigin


def leading_to(location: str, status: str = "302 Found") -> Reply:
    async def reply(visit: Visit) -> None:
        if visit.target.startswith("/end"):
            await visit.respond(b"end")
        else:
            await visit.respond(b"moved", f"Location: {location}", status=status)

    return reply


async def get(fetcher: GuardedFetcher, port: int, *, redirects: int = 3, path: str = "/") -> str:
    fetched = await fetcher.get(
        f"https://{NAME}:{port}{path}", accept="*/*", max_bytes=1000, seconds=30, redirects=redirects
    )
    return f"{fetched.status} {fetched.url} {fetched.content.decode()}"


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"]
)
@pytest.mark.parametrize("location", ["/end?a=b", "end?a=b", "./end?a=b#c"])
async def test_a_redirect_is_followed(
    secure_origin: RunOrigin, fetcher_for: Fetcher, location: str, status: str
) -> None:
    async with secure_origin(leading_to(location, status)) as running, fetcher_for(running) as fetcher:
        assert await get(fetcher, running.port) == f"200 https://{NAME}:{running.port}/end?a=b end"


async def test_a_redirect_without_a_location_is_a_response(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"where?", status="302 Found")

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        assert (await get(fetcher, running.port)).endswith("where?")


@pytest.mark.parametrize(("redirects", "requests"), [(0, 1), (3, 4)])
async def test_the_number_of_redirects_is_limited(
    secure_origin: RunOrigin, fetcher_for: Fetcher, redirects: int, requests: int
) -> None:
    async with secure_origin(leading_to("/")) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchRefused, match=f"redirects more than {redirects} times"):
            await get(fetcher, running.port, redirects=redirects)
    assert len(running.visits) == requests


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("http://images.example.org/", "must begin with https://"),
        ("ftp://images.example.org/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("javascript:alert(1)", "must begin with https://"),
        ("https://me:secret@images.example.org/", "must not contain a user name"),
        ("//2130706433/", "not an IP address"),
        ("//127.0.0.1/", "not on the public internet"),
        ("https://[::1]/", "not on the public internet"),
        ("https://[::ffff:169.254.169.254]/", "not on the public internet"),
        ("https://169.254.169.254/latest/meta-data/", "not on the public internet"),
        ("https://images.example.org:22/", "port 22 is not allowed"),
        ("https://[images/", "cannot be read"),
        ("https://images.example.org\\@127.0.0.1/", "has a character"),
        ("/ü", "has a character"),
    ],
)
async def test_a_redirect_to_a_forbidden_url_is_not_followed(
    secure_origin: RunOrigin, fetcher_for: Fetcher, location: str, problem: str
) -> None:
    async with secure_origin(leading_to(location)) as running, fetcher_for(running) as fetcher:
        with pytest.raises(FetchRefused, match=problem):
            await get(fetcher, running.port)
    assert len(running.visits) == 1


async def test_a_name_that_resolves_differently_at_the_redirect_is_refused(
    secure_origin: RunOrigin, fetcher_for: Fetcher
) -> None:
    names = StubNames(["127.0.0.1"], ["127.0.0.3"])
    async with secure_origin(leading_to("/end")) as running, fetcher_for(running, names=names) as fetcher:
        with pytest.raises(FetchRefused, match="not on the public internet"):
            await get(fetcher, running.port)
    assert names.queries == [NAME, NAME]


async def test_a_redirect_from_https_to_plain_http_is_refused(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async with origin(leading_to("/end")) as inside:
        location = f"http://127.0.0.1:{inside.port}/end"
        async with secure_origin(leading_to(location)) as running, fetcher_for(running) as fetcher:
            with pytest.raises(FetchRefused, match="must begin with https://"):
                await get(fetcher, running.port)
    assert not inside.visits
