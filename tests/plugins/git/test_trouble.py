"""Sites in trouble: failures without effect are distinguished from those that may have had one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    Site,
    SiteError,
    SiteInfo,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
    api,
)
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from support.standin_github import TOKEN
from support.troubled_sites import ODD_RESPONSES, TROUBLES, Reply, Trouble, troubled

from .conftest import a_post


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_at(url: str, fetcher: GuardedFetcher) -> Site:
    site_connector = connector(GitConfig(github_api=url))
    values = {"repository": "ada/blog", "token": TOKEN, "generator": "hugo"}
    return site_connector.open(SiteInfo("w_1", "u_1", "Test", "https://blog.example.org"), values, fetcher)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.id)
async def test_kinds_of_trouble_are_distinguished(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_SECONDS", trouble.seconds)
    with troubled(trouble.reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(trouble.read) as read:
            await site.read("content/posts/a.md")
        with pytest.raises(trouble.write) as written:
            await site.create(a_post())
        if trouble.id == "revoked":
            assert not (await site.check()).ok
        else:
            with pytest.raises(SiteError):
                await site.check()
    for error in (read.value, written.value):
        assert "GitHub (ada/blog)" in error.message
        assert TOKEN not in error.message


@pytest.mark.parametrize("reply", ODD_RESPONSES, ids=lambda reply: reply.content.decode())
async def test_an_odd_response_is_refused(fetcher: GuardedFetcher, reply: Reply) -> None:
    with troubled(reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteUnavailable):
            await site.find(a_post())
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())


def reset_in(seconds: int) -> dict[str, str]:
    """Return GitHub's headers for an account whose hourly rate limit is exhausted."""
    return {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + seconds)}


async def error_of(fetcher: GuardedFetcher, reply: Reply) -> tuple[SiteError, SiteError]:
    """Return the errors that reading and writing raise if GitHub sends this reply."""
    with troubled(reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteError) as read:
            await site.read("content/posts/a.md")
        with pytest.raises(SiteError) as written:
            await site.create(a_post())
    return read.value, written.value


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("content", [b"{}", b'{"message":"You have exceeded a secondary rate limit."}'])
async def test_a_github_retry_after_is_reported(fetcher: GuardedFetcher, status: int, content: bytes) -> None:
    for error in await error_of(fetcher, Reply(content, status=status, headers={"Retry-After": "12"})):
        assert isinstance(error, SiteUnavailable), error
        assert error.retry_after == 12


@pytest.mark.parametrize("status", [403, 429])
async def test_the_reset_time_of_a_github_rate_limit_is_reported(fetcher: GuardedFetcher, status: int) -> None:
    for error in await error_of(fetcher, Reply(status=status, headers=reset_in(1000))):
        assert isinstance(error, SiteUnavailable), error
        assert error.retry_after is not None
        assert 900 < error.retry_after <= 1001


@pytest.mark.parametrize("reset", ["", "soon", "9" * 30, "-5", "1"])
async def test_an_unusable_rate_limit_reset_is_ignored(fetcher: GuardedFetcher, reset: str) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    for error in await error_of(fetcher, Reply(status=403, headers=headers)):
        assert isinstance(error, SiteUnavailable), error
        assert error.retry_after in (None, 0, 86_400)


async def test_a_token_that_may_not_write_gets_no_advice_to_wait(fetcher: GuardedFetcher) -> None:
    headers = {"X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": "1"}
    for error in await error_of(fetcher, Reply(b'{"message":"Resource not accessible"}', status=403, headers=headers)):
        assert isinstance(error, SiteRejected), error
