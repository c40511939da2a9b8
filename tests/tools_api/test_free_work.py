"""Anonymous callers who try to get work for free: failing runs, runs in bulk, and fetches along the way."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from support.polling import wait_until
from support.tool_hosts import tool_host

GATE = "/tools/gate/api/generate"
TEXT = "/tools/text-file/api/generate"
UNRULY = "/tools/unruly/api/generate"
IMPATIENT = "/tools/impatient/api/generate"

ATTACKER = {"x-forwarded-for": "192.0.2.66"}
OTHER = {"x-forwarded-for": "192.0.2.1"}


def left(response: httpx.Response) -> int:
    return int(response.headers["ratelimit-remaining"])


def gate(host: RunningHost, folder: Path, name: str, headers: dict[str, str]) -> httpx.Response:
    body = {"gate": str(folder / "gate"), "log": str(folder / name)}
    return httpx.post(host.url + GATE, json=body, headers=headers, timeout=30)


@pytest.mark.parametrize(
    ("tool", "way", "status", "cost"),
    [
        (IMPATIENT, "endless", 503, 1),
        (UNRULY, "hungry", 500, 1),
        (UNRULY, "refuse", 400, 1),
        (UNRULY, "exit", 500, 0),
        (UNRULY, "raise", 500, 0),
    ],
    ids=["a time-out", "a memory kill", "a late refusal", "a lost worker", "a failure of the tool"],
)
def test_an_anonymous_caller_pays_for_runs_that_fail_because_of_the_request(
    tmp_path: Path, tool: str, way: str, status: int, cost: int
) -> None:
    with tool_host(tmp_path) as host, httpx.Client(base_url=host.url, timeout=30) as http:
        before = left(http.post(tool, json={"way": "fine"}))
        failed = http.post(tool, json={"way": way})
        after = http.post(tool, json={"way": ""})
    assert (failed.status_code, left(failed)) == (status, before - cost)
    assert (after.status_code, left(after)) == (400, before - cost)


def test_runs_that_time_out_count_towards_the_limit(tmp_path: Path) -> None:
    with (
        tool_host(tmp_path, tools={"impatient": {"rate_limit": "2/hour"}}) as host,
        httpx.Client(base_url=host.url, timeout=30) as http,
    ):
        statuses = [http.post(IMPATIENT, json={"way": "endless"}).status_code for _ in range(3)]
    assert statuses == [503, 503, 429]


def test_an_anonymous_caller_pays_for_previews_that_time_out(tmp_path: Path) -> None:
    preview = "/tools/impatient/preview"
    with tool_host(tmp_path) as host, httpx.Client(base_url=host.url, timeout=30) as http:
        before = left(http.post(preview, json={"way": "refuse"}))
        failed = http.post(preview, json={"way": "endless"})
    assert failed.status_code == 503
    assert left(failed) <= before - 3


def test_an_anonymous_caller_cannot_fill_the_queue_of_the_workers(tmp_path: Path) -> None:
    config: dict[str, Any] = {"server": {"trusted_proxies": 1}, "executors": {"processes": 1, "process_queue": 3}}
    with tool_host(tmp_path, **config) as host, ThreadPoolExecutor(8) as pool:
        first = pool.submit(gate, host, tmp_path, "one", ATTACKER)
        wait_until((tmp_path / "one").exists)
        waiting = pool.submit(gate, host, tmp_path, "two", ATTACKER)
        wait_until(lambda: host.host.services.executors.queue_length("process") == 1)
        refused = gate(host, tmp_path, "three", ATTACKER)
        other = pool.submit(gate, host, tmp_path, "other", OTHER)
        wait_until(lambda: host.host.services.executors.queue_length("process") == 2)
        (tmp_path / "gate").touch()
        responses = [call.result() for call in (first, waiting, other)]
        later = gate(host, tmp_path, "three", ATTACKER)

    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "overloaded")
    assert "without an account" in refused.json()["error"]["message"]
    assert int(refused.headers["retry-after"]) >= 1
    assert left(refused) == 998
    assert [response.status_code for response in responses] == [200, 200, 200]
    assert later.status_code == 200


def test_an_anonymous_ipv6_network_is_one_caller(tmp_path: Path) -> None:
    config: dict[str, Any] = {"server": {"trusted_proxies": 1}, "limits": {"anonymous_concurrency": 1}}
    with tool_host(tmp_path, **config) as host, ThreadPoolExecutor(2) as pool:
        first = pool.submit(gate, host, tmp_path, "one", {"x-forwarded-for": "2001:db8:1:2::1"})
        wait_until((tmp_path / "one").exists)
        second = gate(host, tmp_path, "two", {"x-forwarded-for": "2001:db8:1:2:ffff::9"})
        (tmp_path / "gate").touch()
        assert first.result().status_code == 200
    assert second.status_code == 503


@pytest.mark.parametrize("cache_seconds", [0, 3600])
def test_hanging_up_does_not_free_a_slot(tmp_path: Path, cache_seconds: int) -> None:
    config = {"limits": {"anonymous_concurrency": 1}, "tools": {"gate": {"cache_seconds": cache_seconds}}}
    with tool_host(tmp_path, **config) as host:
        body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "one")}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(host.url + GATE, json=body, timeout=httpx.Timeout(20, read=1))
        wait_until((tmp_path / "one").exists)
        refused = gate(host, tmp_path, "two", {})
        (tmp_path / "gate").touch()
        wait_until(lambda: host.host.services.executors.running("process") == 0)
        wait_until(lambda: gate(host, tmp_path, "two", {}).status_code == 200)
    assert refused.status_code == 503


def test_identical_calls_of_a_client_count_as_one_run(tmp_path: Path) -> None:
    with tool_host(tmp_path) as host, ThreadPoolExecutor(8) as pool:
        calls: list[Future[httpx.Response]] = [pool.submit(gate, host, tmp_path, "one", {}) for _ in range(8)]
        wait_until((tmp_path / "one").exists)
        (tmp_path / "gate").touch()
        assert {call.result().status_code for call in calls} == {200}


def test_cached_results_are_served_during_runs(tmp_path: Path) -> None:
    with (
        tool_host(tmp_path, limits={"anonymous_concurrency": 1}) as host,
        ThreadPoolExecutor(1) as pool,
    ):
        assert httpx.post(host.url + TEXT, json={"text": "kept"}, timeout=30).status_code == 200
        first = pool.submit(gate, host, tmp_path, "one", {})
        wait_until((tmp_path / "one").exists)
        assert httpx.post(host.url + TEXT, json={"text": "kept"}, timeout=30).json()["data"]["cached"] is True
        (tmp_path / "gate").touch()
        assert first.result().status_code == 200
