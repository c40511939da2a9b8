"""The cost of authenticating with an API key in use, including the periodic database lookups."""

from __future__ import annotations

import time
from pathlib import Path

from multidict import CIMultiDict
from pressroom.sdk import Caller
from pressroom.testing import RunningHost, settings_for_test

SECONDS = 6.0
"""Longer than a credential is cached without a database lookup."""

CALLS_AT_ONCE = 1000


def test_a_known_key_is_recognised_in_under_50_microseconds(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as server:
        host = server.host

        async def authenticate() -> float:
            user = await host.accounts.users.add("ada@example.com")
            _, key = await host.accounts.api_keys.create(user.id, "A benchmark")
            headers = CIMultiDict({"authorization": f"Bearer {key}"})
            anonymous = Caller("127.0.0.1")
            calls, began = 0, time.perf_counter()
            while time.perf_counter() - began < SECONDS:
                for _ in range(CALLS_AT_ONCE):
                    caller = await host.pipeline.identify(anonymous, headers)
                    assert caller.subject == user.id
                calls += CALLS_AT_ONCE
            return (time.perf_counter() - began) / calls * 1_000_000

        microseconds = server.run(authenticate())
    print(f"\na known API key is recognised in {microseconds:.1f} µs on average over {SECONDS:g} s")
    assert microseconds < 50
