"""Schedules on a real Ghost: a cancelled post does not go live there."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from pressroom.fetch import GuardedFetcher
from support.ghost import Ghost
from support.native_schedules import schedule_and_cancel

from .conftest import site_of

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost


def test_a_post_is_scheduled_moved_and_cancelled(blog: Ghost, tmp_path: Path) -> None:
    async def read(post_id: str) -> str:
        async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as fetcher:
            return (await site_of(blog, fetcher).read(post_id)).state

    def state(post_id: str) -> str:
        return asyncio.run(read(post_id))

    schedule_and_cancel(tmp_path, "ghost", blog.url, {"admin_api_key": blog.admin_key}, state, trash=False)
