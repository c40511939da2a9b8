"""A real WordPress, and its connector using the guarded fetcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import SiteInfo
from pressroom_wordpress.site import WordPressSite
from support.wordpress import WordPress, wordpress


@pytest.fixture(scope="package")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordPress]:
    with wordpress(tmp_path_factory.mktemp("wordpress")) as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_of(blog: WordPress, fetcher: GuardedFetcher, user: str = "admin", password: str = "") -> WordPressSite:
    credential = {"username": user, "application_password": password or blog.passwords[user]}
    return WordPressSite(SiteInfo("w_1", "u_1", "Test", blog.url), credential, fetcher)


@pytest.fixture
def site(blog: WordPress, fetcher: GuardedFetcher) -> WordPressSite:
    return site_of(blog, fetcher)
