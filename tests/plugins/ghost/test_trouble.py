"""Sites in trouble: failures without effect are distinguished from those that may have had one."""

from __future__ import annotations

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteError, SiteInfo, SiteUnavailable, UnknownOutcome, api
from pressroom_ghost.site import GhostSite
from support.troubled_sites import ODD_RESPONSES, PRIVATE, TROUBLES, Reply, Trouble, troubled

from .test_site import a_post

KEY = f"{'0' * 24}:{'0' * 64}"
POST_ID = "0" * 24


def site_at(url: str, fetcher: GuardedFetcher) -> GhostSite:
    return GhostSite(SiteInfo("w_1", "u_1", "Test", url), {"admin_api_key": KEY}, fetcher)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.id)
async def test_kinds_of_trouble_are_distinguished(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_SECONDS", trouble.seconds)
    with troubled(trouble.reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(trouble.read) as read:
            await site.read(POST_ID)
        with pytest.raises(trouble.write) as written:
            await site.create(a_post())
        with pytest.raises(SiteError):
            await site.check()
    for error in (read.value, written.value):
        assert "Ghost at 127.0.0.1" in error.message
        assert KEY.partition(":")[2] not in error.message
    assert trouble.id != "moved inside" or PRIVATE in read.value.message


@pytest.mark.parametrize("reply", ODD_RESPONSES, ids=lambda reply: reply.content.decode())
async def test_an_odd_response_is_refused(fetcher: GuardedFetcher, reply: Reply) -> None:
    with troubled(reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteUnavailable):
            await site.read(POST_ID)
        with pytest.raises(SiteUnavailable):
            await site.find(a_post())
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())
