"""Number of requests to a real Ghost for a publication and an update, and how its `Retry-After` is reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.fetch import GuardedFetcher
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import SiteInfo, SiteUnavailable
from pressroom_content.websites.connecting import check_credential
from pressroom_content.websites.store import Websites
from pressroom_ghost.connector import CONNECTOR
from pressroom_ghost.site import GhostSite
from support.content_client import client_of
from support.ghost import Ghost
from support.holding_proxy import HoldingProxy, holding
from support.killed_server import uploaded_image
from support.polling import wait_until
from support.troubled_sites import Reply, troubled

from .test_site import a_post

API = "/ghost/api/admin"
FIRST, UPDATE = 8, 5
"""Maximum number of requests for a first publication and for an update."""

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost


@pytest.fixture
def proxy(blog: Ghost) -> Iterator[HoldingProxy]:
    with holding(blog.url, API) as running:
        yield running


def test_publishing_and_updating_need_few_requests(blog: Ghost, proxy: HoldingProxy, tmp_path: Path) -> None:
    plugins: dict[str, Any] = {"content": {}, "images": {}, "ghost": {}}
    config = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": plugins}
    with RunningHost(settings_for_test({"builtin_plugins": False, **config}, tmp_path)) as host:
        ada = client_of(host, "ada@example.com")
        credential = {"admin_api_key": blog.admin_key}
        info = SiteInfo("w_new", ada.user_id, "Blog", proxy.url)
        finding = host.run(check_credential(ada.plugin, CONNECTOR, info, credential))
        adding = Websites(ada.plugin).add(
            ada.user_id, "ghost", name="Blog", url=proxy.url, credential=credential, finding=finding
        )
        website = host.run(adding)
        image = uploaded_image(ada)
        article = ada.data(
            "create_content",
            title="Few requests",
            body=f"Some words.\n\n![A field](https://library.example/{image}.png)\n",
            tags=["A", "B"],
            author="Owner",
        )
        pair = {"content_id": article["content_id"], "website_id": website.id}
        ada.data("import_image", image_ref=image, content_id=pair["content_id"], role="featured", alt_text="A field")

        def published() -> tuple[dict[str, Any], list[str]]:
            before = len(proxy.requests)
            publication: dict[str, Any] = ada.data("publish_content", **pair)
            assert (publication["status"], publication["error"]) == ("published", ""), publication
            return publication, [request for request in proxy.requests[before:] if request != "GET page"]

        publication, first = published()
        assert len(first) <= FIRST, first
        wait_for_another_second(blog)
        version = ada.data("get_content", content_id=pair["content_id"])["content"]["version"]
        ada.data("update_content", content_id=pair["content_id"], expected_version=version, fields={"title": "Fewer"})
        repeated, update = published()
        assert repeated["external_id"] == publication["external_id"]
        assert len(update) <= UPDATE, update


def wait_for_another_second(blog: Ghost) -> None:
    """Wait until Ghost's clock is in another second, so that Ghost notices any further change."""
    begin = httpx.get(f"{blog.url}{API}/site/").headers["Date"]
    wait_until(lambda: httpx.get(f"{blog.url}{API}/site/").headers["Date"] != begin)


@pytest.mark.parametrize("status", [429, 503])
async def test_a_rate_limited_site_has_a_retry_after(fetcher: GuardedFetcher, status: int) -> None:
    with troubled(Reply(b'{"errors":[]}', status=status, headers={"Retry-After": "12"})) as url:
        site = GhostSite(SiteInfo("w_1", "u_1", "Test", url), {"admin_api_key": f"{'0' * 24}:{'0' * 64}"}, fetcher)
        for call in (site.create(a_post()), site.read("0" * 24), site.update("0" * 24, a_post(), "")):
            with pytest.raises(SiteUnavailable) as error:
                await call
            assert error.value.retry_after == 12
