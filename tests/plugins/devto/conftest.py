"""A strict stand-in for Forem, and the connector using the guarded fetcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Site, SiteInfo
from pressroom_devto.config import DevtoConfig
from pressroom_devto.site import connector
from support.standin_forem import KEY, Forem, standing_in_for_forem


@pytest.fixture
def forem() -> Iterator[Forem]:
    with standing_in_for_forem() as serving:
        yield serving


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_of(forem: Forem, fetcher: GuardedFetcher, key: str = KEY) -> Site:
    site_connector = connector(DevtoConfig(api_url=forem.url, write_interval=0))
    return site_connector.open(SiteInfo("w_1", "u_1", "Test", ""), {"api_key": key}, fetcher)


@pytest.fixture
def site(forem: Forem, fetcher: GuardedFetcher) -> Site:
    return site_of(forem, fetcher)
