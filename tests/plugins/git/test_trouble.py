"""The connector and a site in trouble: what had no effect is told apart from what may have had one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Site, SiteAddress, SiteError, SiteUnavailable, UnknownOutcome, api
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from support.standin_github import TOKEN
from support.troubled_sites import ODD_ANSWERS, TROUBLES, Reply, Trouble, troubled

from .conftest import a_post


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_at(url: str, fetcher: GuardedFetcher) -> Site:
    made = connector(GitConfig(github_api=url))
    values = {"repository": "ada/blog", "token": TOKEN, "generator": "hugo"}
    return made.open(SiteAddress("w_1", "u_1", "Test", "https://blog.example.org"), values, fetcher)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda one: one.id)
async def test_trouble_is_told_apart(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_SECONDS", 0.3)
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


@pytest.mark.parametrize("reply", ODD_ANSWERS, ids=lambda one: one.content.decode())
async def test_an_odd_answer_is_no_answer(fetcher: GuardedFetcher, reply: Reply) -> None:
    with troubled(reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteUnavailable):
            await site.find(a_post())
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())
