"""A webhook receiver that verifies requests, and the connector using the guarded fetcher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from support.webhook_receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened
