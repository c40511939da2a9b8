"""A fetcher that reaches a fake site without a host around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pressroom.fetch.fetcher import GuardedFetcher
from pressroom.sdk import Fetcher
from pressroom.testing.fake_site import FakeSite


@asynccontextmanager
async def fetcher_for(site: FakeSite) -> AsyncIterator[Fetcher]:
    """Give a fetcher like that of a host, which may fetch from this site besides the public internet."""
    async with GuardedFetcher(exempt=[("127.0.0.1", site.port)]) as fetcher:
        yield fetcher
