"""Sites in trouble: failures without effect are distinguished from those that may have had one."""

from __future__ import annotations

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Site, SiteError, SiteGone, SiteInfo, SiteUnavailable, UnknownOutcome, api
from pressroom_devto.config import DevtoConfig
from pressroom_devto.site import connector
from support.standin_forem import KEY
from support.troubled_sites import ODD_RESPONSES, TROUBLES, Reply, Trouble, troubled

from .test_site import a_post


def site_at(url: str, fetcher: GuardedFetcher) -> Site:
    site_connector = connector(DevtoConfig(api_url=f"{url}/api", write_interval=0))
    return site_connector.open(SiteInfo("w_1", "u_1", "Test", ""), {"api_key": KEY}, fetcher)


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.id)
async def test_kinds_of_trouble_are_distinguished(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_SECONDS", trouble.seconds)
    with troubled(trouble.reply) as url:
        with pytest.raises(trouble.read) as read:
            await site_at(url, fetcher).read("1")
        with pytest.raises(trouble.write) as written:
            await site_at(url, fetcher).create(a_post())
        site = site_at(url, fetcher)
        if trouble.id == "revoked":
            assert not (await site.check()).ok
        else:
            with pytest.raises(SiteError):
                await site.check()
    for error in (read.value, written.value):
        assert "127.0.0.1" in error.message
        assert KEY not in error.message


@pytest.mark.parametrize("reply", ODD_RESPONSES, ids=lambda reply: reply.content.decode())
async def test_an_odd_response_is_refused(fetcher: GuardedFetcher, reply: Reply) -> None:
    with troubled(reply) as url:
        site = site_at(url, fetcher)
        with pytest.raises(SiteGone if reply.content == b"[]" else SiteUnavailable):
            await site.read("1")
        with pytest.raises(UnknownOutcome):
            await site.create(a_post())
