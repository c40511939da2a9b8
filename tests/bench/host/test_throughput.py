"""Cached requests against a bare Sanic handler that returns the same bytes; start-up time and memory."""

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from support.load import load
from support.mcp_load import listening
from support.needs import free_port
from support.server import TESTS, command_environment, serving

QR = "/tools/qr-code-generator/api/generate"
CONFIG = '[tools.qr-code-generator]\nrate_limit = "100000000/hour"\n'
PUBLISHING = ("content", "devto", "ghost", "git", "images", "search_performance", "seo", "webhook", "wordpress")
ROUNDS = 7
SECONDS = 2


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("delivery", "at_most"), [("url", 4.4), ("binary", 4.4)])
def test_a_cached_request_compared_with_a_bare_handler(tmp_path: Path, delivery: str, at_most: float) -> None:
    body = f'{{"text":"https://example.com","response":"{delivery}"}}'
    headers = {"Content-Type": "application/json"}
    with serving(tmp_path / "host", CONFIG, forked=False) as server:
        httpx.post(server.url + QR, content=body, headers=headers, timeout=30)
        response = httpx.post(server.url + QR, content=body, headers=headers, timeout=30)
        (tmp_path / "body").write_bytes(response.content)
        port = free_port()
        script = [sys.executable, str(TESTS / "support" / "bare_sanic.py"), str(port), str(tmp_path / "body")]
        with listening([*script, response.headers["content-type"]], port) as bare:
            peers = ((server.url + QR, server.process.pid), (f"http://127.0.0.1:{port}/", bare))
            rounds = [
                [load(url, body, headers, tmp_path, pid=pid, seconds=SECONDS) for url, pid in peers]
                for _ in range(ROUNDS)
            ]
    ratio = statistics.median(ours.cpu / theirs.cpu for ours, theirs in rounds)
    print(f"\n{delivery}: CPU of the host / of bare Sanic: {ratio:.2f}; µs for a request, and requests/s, by round:")
    for round_ in rounds:
        print("  ", "; ".join(f"{one.cpu:.0f} µs, {one.per_second:,.0f}/s" for one in round_))
    assert ratio <= at_most


@dataclass(frozen=True)
class Start:
    """Seconds from a server's command to its first page and first result, and its resident memory in MiB after that."""

    page: float
    result: float
    resident: float


@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


def resident_of(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]  # always there


def wait_for_response(http: httpx.Client, method: str, path: str) -> None:
    while True:
        try:
            response = http.request(method, path)
        except httpx.TransportError:
            time.sleep(0.005)
            continue
        assert response.status_code == 200
        return


def start(folder: Path, config: str) -> Start:
    folder.mkdir()
    (folder / "pressroom.toml").write_text(config)
    environment = command_environment(folder, PRESSROOM_CONFIG=str(folder / "pressroom.toml"))
    port = free_port()
    start_time = time.perf_counter()
    with (
        started([sys.executable, "-m", "pressroom", "serve", "--port", str(port)], environment) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        wait_for_response(http, "GET", "/tools")
        page = time.perf_counter() - start_time
        assert http.post(QR, json={"text": "first"}).status_code == 200
        result = time.perf_counter() - start_time
        for count in range(200):
            http.post(QR, json={"text": str(count)})
        return Start(page, result, resident_of(process))


def start_bare(folder: Path) -> Start:
    port = free_port()
    start_time = time.perf_counter()
    command = [sys.executable, str(TESTS / "support" / "bare_sanic.py"), str(port), str(folder / "body"), "text/plain"]
    with (
        started(command, dict(os.environ)) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        wait_for_response(http, "POST", "/")
        seconds = time.perf_counter() - start_time
        return Start(seconds, seconds, resident_of(process))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("plugins", "times_bare", "memory_of_bare"), [("generators", 10, 4.25), ("all", 16, 5.5)])
def test_start_up_time_and_memory_are_bounded(
    tmp_path: Path, plugins: str, times_bare: int, memory_of_bare: float
) -> None:
    """A new server, which creates its database on first start, against a Sanic server with one handler."""
    (tmp_path / "body").write_text("here")
    config = "".join(f"[plugins.{id_}]\nenabled = false\n" for id_ in PUBLISHING) if plugins == "generators" else ""
    starts, bare = [], []
    for number in range(ROUNDS):
        starts.append(start(tmp_path / str(number), config))
        bare.append(start_bare(tmp_path))
    page, result, resident = (
        statistics.median(getattr(one, name) for one in starts) for name in ("page", "result", "resident")
    )
    ratio = statistics.median(one.result / other.result for one, other in zip(starts, bare, strict=True))
    bare_result, bare_resident = (
        statistics.median(getattr(one, name) for one in bare) for name in ("result", "resident")
    )
    print(
        f"\n{plugins}: first page after {page:.2f} s, first QR code after {result:.2f} s, {resident:.0f} MiB resident; "
        f"bare Sanic answers after {bare_result:.2f} s and holds {bare_resident:.0f} MiB; ratio {ratio:.1f}"
    )
    assert ratio < times_bare
    assert resident < memory_of_bare * bare_resident
