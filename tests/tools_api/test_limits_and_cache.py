"""Limits and cache: what a request costs, what is rendered only once, and how a vanished file is handled."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from support.polling import wait_until
from support.tool_client import client_of

TEXT = "/tools/text-file/api/generate"
GATE = "/tools/gate/api/generate"
UNRULY = "/tools/unruly/api/generate"

Start = Callable[..., RunningHost]
Client = Callable[..., httpx.Client]


def remaining(response: httpx.Response) -> int:
    left: int = response.json()["meta"]["rateLimit"]["remaining"]
    assert response.headers["ratelimit-remaining"] == str(left)
    return left


def test_each_new_request_costs_one_and_the_limit_is_reported(start: Start, client: Client) -> None:
    http = client(start())

    lefts = [remaining(http.post(TEXT, json={"text": str(number)})) for number in range(3)]

    assert lefts == [19, 18, 17]


def test_ten_cached_requests_cost_one(start: Start, client: Client) -> None:
    http = client(start())

    lefts = [remaining(http.post(TEXT, json={"text": "again"})) for _ in range(12)]

    assert lefts == [19, *[18] * 10, 17]


def test_past_the_limit_a_429_says_how_long_to_wait(start: Start, client: Client) -> None:
    http = client(start(tools={"text-file": {"rate_limit": "2/hour"}}))
    for number in range(2):
        assert http.post(TEXT, json={"text": str(number)}).status_code == 200

    response = http.post(TEXT, json={"text": "one too many"})

    assert response.status_code == 429
    body = response.json()
    assert body["error"]["code"] == "rate_limited"
    wait = body["error"]["retryAfter"]
    assert response.headers["retry-after"] == str(wait)
    assert 3500 < wait <= 3600
    assert (response.headers["ratelimit-limit"], response.headers["ratelimit-remaining"]) == ("2", "0")
    reset = datetime.fromisoformat(body["meta"]["rateLimit"]["resetAt"]).timestamp()
    assert abs(reset - time.time() - wait) <= 2
    assert "x-request-id" in response.headers


def test_a_cached_request_still_fits_where_a_new_one_does_not(start: Start, client: Client) -> None:
    http = client(start(tools={"text-file": {"rate_limit": "2/hour"}}))
    http.post(TEXT, json={"text": "first"})
    assert http.post(TEXT, json={"text": "first"}).status_code == 200

    assert http.post(TEXT, json={"text": "second"}).status_code == 429
    assert http.post(TEXT, json={"text": "first"}).json()["data"]["cached"] is True


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (TEXT, {"text": ""}, 400),
        (UNRULY, {"way": "raise"}, 500),
        (UNRULY, {"way": "exit"}, 500),
    ],
    ids=["invalid", "internal error", "worker lost"],
)
def test_a_refused_or_failed_request_costs_nothing(
    start: Start, client: Client, path: str, body: dict[str, str], status: int
) -> None:
    http = client(start())
    good = {"text": "x"} if path == TEXT else {"way": "fine"}
    before = remaining(http.post(path, json=good))

    failed = http.post(path, json=body)

    assert failed.status_code == status
    assert remaining(failed) == before
    assert remaining(http.post(path, json={**good, "response": "url"})) == before - 1  # a tenth, rounded down


def test_tools_and_ip_addresses_are_counted_separately(start: Start, client: Client) -> None:
    host = start(server={"trusted_proxies": 1}, tools={"text-file": {"rate_limit": "1/hour"}})
    first, second = (client(host, headers={"x-forwarded-for": address}) for address in ("192.0.2.1", "192.0.2.2"))

    assert first.post(TEXT, json={"text": "a"}).status_code == 200
    assert first.post(TEXT, json={"text": "b"}).status_code == 429
    assert second.post(TEXT, json={"text": "b"}).status_code == 200
    assert first.post(UNRULY, json={"way": "fine"}).status_code == 200


def test_accounts_behind_one_ip_address_are_counted_separately_with_all_their_keys(
    start: Start, client: Client
) -> None:
    host = start(server={"trusted_proxies": 1}, tools={"text-file": {"rate_limit": "1/hour"}})
    ada, eve = client_of(host, "ada@example.com"), client_of(host, "eve@example.com")

    def status(key: str, text: str, address: str = "192.0.2.1") -> int:
        headers = {"x-forwarded-for": address} | ({"authorization": f"Bearer {key}"} if key else {})
        return client(host).post(TEXT, json={"text": text}, headers=headers).status_code

    assert [status(ada.key, "a"), status(ada.key, "b")] == [200, 429]
    assert [status(eve.key, "c"), status("", "d"), status("", "e")] == [200, 200, 429]
    # Neither another IP address nor another key of the account gets around the limit.
    assert status(ada.key, "f", "192.0.2.2") == 429
    assert status(client_of(host, "ada@example.com", "phone").key, "g", "192.0.2.2") == 429


def test_a_forged_header_changes_nothing_without_trust(start: Start, client: Client) -> None:
    http = client(start(tools={"text-file": {"rate_limit": "1/hour"}}))

    statuses = [
        http.post(
            TEXT, json={"text": str(n)}, headers={"x-forwarded-for": f"192.0.2.{n}", "forwarded": f"for=192.0.2.{n}"}
        ).status_code
        for n in range(3)
    ]

    assert statuses == [200, 429, 429]


def test_a_burst_is_counted_exactly(start: Start) -> None:
    host = start(tools={"text-file": {"rate_limit": "30/hour"}}, limits={"anonymous_concurrency": 0})

    def call(number: int) -> int:
        return httpx.post(host.url + TEXT, json={"text": f"burst {number}"}, timeout=30).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(call, range(80)))

    assert statuses.count(200) == 30
    assert statuses.count(429) == 50


def test_concurrent_identical_requests_are_rendered_once(start: Start, tmp_path: Path) -> None:
    host = start()
    body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "log")}

    def call(_number: int) -> dict[str, bool]:
        response = httpx.post(host.url + GATE, json=body, timeout=30)
        assert response.status_code == 200, response.text
        data: dict[str, bool] = response.json()["data"]
        return data

    with ThreadPoolExecutor(20) as pool:
        calls = [pool.submit(call, number) for number in range(20)]
        wait_until((tmp_path / "log").exists)
        (tmp_path / "gate").touch()
        cached = [call.result()["cached"] for call in calls]

    assert (tmp_path / "log").read_text() == "run\n"
    assert sorted(cached) == [False] + [True] * 19


def test_a_client_that_disconnects_does_not_affect_the_others(start: Start, tmp_path: Path) -> None:
    host = start()
    body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "log")}

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(host.url + GATE, json=body, timeout=httpx.Timeout(20, read=1))
        other = pool.submit(httpx.post, host.url + GATE, json=body, timeout=30)
        wait_until((tmp_path / "log").exists)
        (tmp_path / "gate").touch()
        response = other.result()

    assert response.status_code == 200
    assert (tmp_path / "log").read_text() == "run\n"


def test_a_missing_file_is_rendered_again(start: Start, client: Client) -> None:
    host = start()
    http = client(host)
    first = http.post(TEXT, json={"text": "gone"}).json()["data"]
    next((host.settings.storage.path / "files").glob(f"*/{first['id']}.txt")).unlink()

    rendered_again = http.post(TEXT, json={"text": "gone"}).json()["data"]

    assert rendered_again["cached"] is False
    assert http.get(rendered_again["url"]).text == "gone"
    binary = http.post(TEXT, json={"text": "gone", "response": "binary"})
    assert (binary.text, binary.headers["x-cache"]) == ("gone", "HIT")


def test_with_the_cache_off_each_request_is_rendered(start: Start, client: Client) -> None:
    http = client(start(tools={"text-file": {"cache_seconds": 0}}))

    responses = [http.post(TEXT, json={"text": "fresh"}) for _ in range(2)]

    assert [response.json()["data"]["cached"] for response in responses] == [False, False]
    assert [remaining(response) for response in responses] == [19, 18]


def test_after_a_restart_the_old_url_still_works(start: Start, client: Client, tmp_path: Path) -> None:
    first = start(tmp_path / "kept")
    url = httpx.URL(client(first).post(TEXT, json={"text": "lasting"}).json()["data"]["url"])
    first.__exit__(None, None, None)

    second = start(tmp_path / "kept")

    assert client(second).get(f"{second.url}{url.raw_path.decode()}").text == "lasting"


def test_the_reset_is_the_time_at_which_one_more_request_is_allowed(start: Start, client: Client) -> None:
    http = client(start(tools={"text-file": {"rate_limit": "1/4s"}}))
    http.post(TEXT, json={"text": "now"})
    refused = http.post(TEXT, json={"text": "later"})
    wait = refused.json()["error"]["retryAfter"]
    assert refused.status_code == 429
    assert wait in (1, 2, 3, 4)

    time.sleep(wait)  # waits for as long as the server says

    assert http.post(TEXT, json={"text": "later"}).status_code == 200
