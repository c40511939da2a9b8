"""Cached requests against a bare Sanic handler that returns the same bytes; start-up time and memory."""

import re
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from support.needs import free_port, program
from support.server import TESTS, command_environment, serving

QR = "/tools/qr-code-generator/api/generate"
CONFIG = '[tools.qr-code-generator]\nrate_limit = "100000000/hour"\n'
ROUNDS = 5
SECONDS = 3


def requests_per_second(url: str, body: str, folder: Path) -> float:
    script = folder / "post.lua"
    script.write_text(f"wrk.method='POST'; wrk.headers['Content-Type']='application/json'; wrk.body='{body}'")
    wrk = program("wrk")
    done = subprocess.run(
        [wrk, "-t1", "-c16", f"-d{SECONDS}s", "-s", str(script), url], capture_output=True, text=True, check=True
    )
    assert "Non-2xx" not in done.stdout, done.stdout
    match = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert match, done.stdout
    return float(match[1])


@contextmanager
def bare_handler(body: bytes, media_type: str, folder: Path) -> Iterator[str]:
    port = free_port()
    (folder / "body").write_bytes(body)
    command = [sys.executable, str(TESTS / "support" / "bare_sanic.py"), str(port), str(folder / "body"), media_type]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/"
        process.terminate()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("delivery", "at_least"), [("url", 0.25), ("binary", 0.25)])
def test_a_cached_request_beside_a_bare_handler(tmp_path: Path, delivery: str, at_least: float) -> None:
    body = f'{{"text":"https://example.com","response":"{delivery}"}}'
    with serving(tmp_path / "host", CONFIG, forked=False) as server:
        httpx.post(server.url + QR, content=body, headers={"content-type": "application/json"}, timeout=30)
        answer = httpx.post(server.url + QR, content=body, headers={"content-type": "application/json"}, timeout=30)
        media_type = answer.headers["content-type"]
        with bare_handler(answer.content, media_type, tmp_path) as bare:
            pairs = [
                (requests_per_second(server.url + QR, body, tmp_path), requests_per_second(bare, body, tmp_path))
                for _ in range(ROUNDS)
            ]
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    print(f"\n{delivery}: host / bare Sanic, requests/s: {[(round(a), round(b)) for a, b in pairs]}; ratio {ratio:.2f}")
    assert ratio >= at_least


def test_start_up_and_memory(tmp_path: Path) -> None:
    first_page, first_qr, resident = [], [], []
    for number in range(ROUNDS):
        port = free_port()
        begun = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", "pressroom", "serve", "--port", str(port)],
            env=command_environment(tmp_path / str(number)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            url = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=url, timeout=30) as http:
                while True:
                    try:
                        http.get("/tools")
                        break
                    except httpx.TransportError:
                        time.sleep(0.005)
                first_page.append(time.perf_counter() - begun)
                assert http.post(QR, json={"text": "first"}).status_code == 200
                first_qr.append(time.perf_counter() - begun)
                for count in range(200):
                    http.post(QR, json={"text": str(count)})
            status = Path(f"/proc/{process.pid}/status").read_text()
            resident.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024)  # type: ignore[index]  # always there
            process.terminate()
    page, code, memory = (statistics.median(values) for values in (first_page, first_qr, resident))
    print(f"\nfirst page after {page:.2f} s, first QR code after {code:.2f} s, {memory:.0f} MiB resident")
    assert code < 2
    assert memory < 120
