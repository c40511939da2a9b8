"""A real Ghost, and its connector using the guarded fetcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteInfo
from pressroom_ghost.site import GhostSite
from support.ghost import Ghost, ghost


@pytest.fixture(scope="package")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ghost]:
    with ghost(tmp_path_factory.mktemp("ghost")) as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_of(blog: Ghost, fetcher: GuardedFetcher, key: str = "") -> GhostSite:
    info = SiteInfo("w_1", "u_1", "Test", blog.url)
    return GhostSite(info, {"admin_api_key": key or blog.admin_key}, fetcher)


@pytest.fixture
def site(blog: Ghost, fetcher: GuardedFetcher) -> GhostSite:
    return site_of(blog, fetcher)
