"""Sites in trouble: failures without effect are distinguished from those that may have had one."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteError, SiteInfo, SiteUnavailable
from pressroom_webhook import site as delivery
from pressroom_webhook.site import WebhookSite
from support.troubled_sites import TROUBLES, Reply, Trouble, troubled
from support.webhook_receiver import SECRET

from .test_site import POST


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.id)
async def test_kinds_of_trouble_are_distinguished(
    fetcher: GuardedFetcher, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "_SECONDS", trouble.seconds)
    with troubled(trouble.reply) as url:
        credential = {"endpoint": f"{url}/hook/of-its-own", "secret": SECRET}
        site = WebhookSite(SiteInfo("w_1", "u_1", "Test", url), credential, fetcher)
        with pytest.raises(trouble.write) as written:
            await site.create(POST)
        with suppress(SiteError):
            assert not (await site.check()).ok
    assert "the receiver at 127.0.0.1" in written.value.message
    assert "of-its-own" not in written.value.message


@pytest.mark.parametrize("status", [429, 503])
async def test_a_receiver_that_demands_a_pause_says_for_how_long(fetcher: GuardedFetcher, status: int) -> None:
    with troubled(Reply(status=status, headers={"Retry-After": "12"})) as url:
        site = WebhookSite(SiteInfo("w_1", "u_1", "Test", url), {"endpoint": url, "secret": SECRET}, fetcher)
        with pytest.raises(SiteUnavailable) as error:
            await site.create(POST)
    assert error.value.retry_after == 12
