"""Store failures while the server runs: full disk, read-only disk, storage down, Redis down or frozen."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from support.disks import namespace
from support.needs import unavailable
from support.proxy import proxy_to
from support.redis import RedisServer, own_redis
from support.s3 import S3Server, rclone_server
from support.server import serving

TEXT = "/tools/text-file/api/generate"
QR = "/tools/qr-code-generator/api/generate"

Start = Callable[..., RunningHost]


def small_disk(folder: Path, option: str) -> tuple[str, ...]:
    """Return a command prefix that mounts a tmpfs with a mount option on `folder`."""
    folder.mkdir(parents=True)
    return (*namespace(folder), f'mount -t tmpfs -o {option} tmpfs "$1" && shift && exec "$@"', "sh", str(folder))


def test_a_full_disk_is_a_500_that_costs_no_quota_and_leaves_no_file(tmp_path: Path) -> None:
    data = tmp_path / "data"
    config = "[plugins.test_tools]\n[tools.qr-code-generator]\nrate_limit = '100000/hour'\n"
    with serving(
        tmp_path / "server", config, {"PRESSROOM_STORAGE__PATH": str(data)}, small_disk(data, "size=2m")
    ) as server:
        responses: list[httpx.Response] = []
        while len(responses) < 400 and (not responses or responses[-1].status_code != 500):
            body = {"text": str(len(responses)), "size": 2048}
            responses.append(httpx.post(server.url + QR, json=body, timeout=30))
        statuses = [response.status_code for response in responses]
        assert set(statuses) == {200, 500}
        body = responses[-1].json()
        assert body["error"]["code"] == "internal_error"
        assert "could not be stored" in body["error"]["message"]
        assert body["meta"]["rateLimit"]["remaining"] == 100_000 - statuses.count(200)
        repeated = httpx.post(server.url + QR, json={"text": "0", "size": 2048}, timeout=30).json()
        assert repeated["data"]["cached"] is True
        assert httpx.get(repeated["data"]["url"]).status_code == 200
        process = server.process.pid
        stored = [path for path in Path(f"/proc/{process}/root{data}/files").rglob("*") if path.is_file()]
        assert len(stored) == statuses.count(200)
        assert all(path.read_bytes().endswith(b"IEND\xaeB`\x82") for path in stored)
    assert "full" in server.log
    assert "Traceback" not in server.log


def remount(process: int, disk: Path, option: str) -> None:
    """Change a mount option in the mount namespace of a process."""
    command = ["nsenter", "--target", str(process), "--mount", "mount", "-o", f"remount,{option}", str(disk)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        unavailable(f"a disk cannot be remounted here: {result.stderr}")


def test_a_read_only_disk_is_a_500_until_it_is_writable_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    disk = data / "files"  # the database next to it keeps files open, and a disk with open files cannot be remounted
    environment = {"PRESSROOM_STORAGE__PATH": str(data)}
    with serving(tmp_path / "server", environment=environment, prefix=small_disk(disk, "size=4m")) as server:
        http = httpx.Client(base_url=server.url, timeout=30)
        assert http.post(TEXT, json={"text": "kept"}).status_code == 200
        remount(server.process.pid, disk, "ro")
        refused = http.post(TEXT, json={"text": "new"})
        stored = http.post(TEXT, json={"text": "kept"}).json()["data"]
        delivered = http.get(stored["url"]).text
        remount(server.process.pid, disk, "rw")
        response = http.post(TEXT, json={"text": "new"})
        http.close()

    assert (refused.status_code, refused.json()["error"]["code"]) == (500, "internal_error")
    assert "could not be stored" in refused.json()["error"]["message"]
    assert str(data) not in refused.text
    assert refused.json()["meta"]["rateLimit"]["remaining"] == 19
    assert (stored["cached"], delivered) == (True, "kept")
    assert (response.status_code, response.json()["data"]["cached"]) == (200, False)
    assert "cannot be written" in server.log


def s3_storage(s3: S3Server, endpoint: str | None = None) -> dict[str, Any]:
    (s3.folder / "files").mkdir(exist_ok=True)
    return {
        "files": "s3://files/made",
        "s3": {
            "endpoint_url": endpoint or s3.endpoint,
            "public_endpoint_url": s3.endpoint,
            "access_key_id": s3.access_key_id,
            "secret_access_key": s3.secret_access_key,
            "addressing_style": "path",
            "timeout": 8,
        },
    }


async def test_a_storage_outage_is_a_503_and_recovers(start: Start, tmp_path: Path) -> None:
    with rclone_server(tmp_path / "s3") as s3:
        async with proxy_to(s3.endpoint) as proxy, httpx.AsyncClient(timeout=30) as http:
            host = await asyncio.to_thread(start, storage=s3_storage(s3, proxy.endpoint))
            first = (await http.post(host.url + TEXT, json={"text": "before"})).json()
            assert (await http.get(first["data"]["url"])).text == "before"

            proxy.freeze()
            down = [await http.post(host.url + TEXT, json={"text": "during"}) for _ in range(2)]
            cached = (await http.post(host.url + TEXT, json={"text": "before"})).json()
            proxy.thaw()

            for response in down:
                assert (response.status_code, response.json()["error"]["code"]) == (503, "overloaded")
                assert int(response.headers["Retry-After"]) == response.json()["error"]["retryAfter"] >= 1
                assert proxy.endpoint not in response.text
                assert response.json()["meta"]["rateLimit"]["remaining"] == 19
            assert cached["data"]["cached"] is True
            after = await back(http, host.url)
            assert (await http.get(after.json()["data"]["url"])).text == "after"
            await asyncio.to_thread(host.__exit__, None, None, None)


async def back(http: httpx.AsyncClient, url: str) -> httpx.Response:
    """Return the first response that is not a 503 after an outage."""
    async with asyncio.timeout(60):
        while True:
            response = await http.post(url + TEXT, json={"text": "after"})
            if response.status_code != 503:
                assert response.status_code == 200
                return response
            await asyncio.sleep(0.05)


async def test_another_host_serves_cached_results_during_a_storage_outage(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "redis"
    folder.mkdir()
    redis = RedisServer(folder).start()
    try:
        with rclone_server(tmp_path / "s3") as s3:
            async with proxy_to(s3.endpoint) as proxy, httpx.AsyncClient(timeout=30) as http:
                storage = {**s3_storage(s3, proxy.endpoint), "redis": redis.url}
                first = await asyncio.to_thread(start, storage=storage)
                other = await asyncio.to_thread(start, storage=storage)
                result = (await http.post(first.url + TEXT, json={"text": "made"})).json()["data"]
                proxy.freeze()
                served = (await http.post(other.url + TEXT, json={"text": "made"})).json()["data"]
                content = (await http.get(served["url"])).text
                proxy.thaw()
                for host in (first, other):
                    await asyncio.to_thread(host.__exit__, None, None, None)
    finally:
        redis.stop()
    assert (served["id"], served["cached"], content) == (result["id"], True, "made")


@pytest.mark.parametrize("policy", ["allow", "refuse"])
def test_a_limiter_outage_follows_the_operators_policy(start: Start, tmp_path: Path, policy: str) -> None:
    with own_redis(tmp_path) as redis:
        host = start(storage={"redis": redis.url}, limits={"on_outage": policy})
        assert httpx.post(host.url + TEXT, json={"text": "up"}).json()["meta"]["rateLimit"]["remaining"] == 19
        redis.freeze()
        responses = [httpx.post(host.url + TEXT, json={"text": f"frozen {number}"}, timeout=30) for number in range(5)]
        redis.thaw()

    if policy == "allow":
        assert [response.status_code for response in responses] == [200] * 5
    else:
        assert [response.json()["error"]["code"] for response in responses] == ["overloaded"] * 5
        assert all(int(response.headers["retry-after"]) >= 1 for response in responses)


def test_two_hosts_share_limits_and_results_through_redis(start: Start, tmp_path: Path) -> None:
    with own_redis(tmp_path) as redis, rclone_server(tmp_path / "s3") as s3:
        # A generous timeout: on a busy machine, a slow Redis would otherwise be bypassed.
        storage = {"redis": redis.url, "redis_timeout": 5, **s3_storage(s3)}
        first_host, second_host = (start(tmp_path / name, storage=storage) for name in ("one", "two"))

        first = httpx.post(first_host.url + TEXT, json={"text": "shared"}, timeout=30).json()
        second = httpx.post(second_host.url + TEXT, json={"text": "shared"}, timeout=30).json()

    assert (first["data"]["cached"], second["data"]["cached"]) == (False, True)
    assert first["data"]["id"] == second["data"]["id"]
    assert (first["meta"]["rateLimit"]["remaining"], second["meta"]["rateLimit"]["remaining"]) == (19, 18)


def test_an_unwritable_data_folder_stops_the_server_with_a_message(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (
        pytest.raises(AssertionError) as failure,
        serving(tmp_path / "server", environment={"PRESSROOM_STORAGE__PATH": str(data)}, prefix=small_disk(data, "ro")),
    ):
        pass
    assert str(data) in str(failure.value)
    assert "Traceback" not in str(failure.value)


def test_an_outage_is_logged_once(tmp_path: Path) -> None:
    with own_redis(tmp_path) as redis:
        config = f'[plugins.test_tools]\n[storage]\nredis = "{redis.url}"\n'
        with serving(tmp_path / "server", config) as server:
            redis.stop()
            for number in range(50):
                assert httpx.post(server.url + TEXT, json={"text": str(number % 2)}, timeout=30).status_code == 200
            log_of_outage = [line for line in server.log.splitlines() if '"level":"warning"' in line and "edis" in line]
    assert len(log_of_outage) == 1
