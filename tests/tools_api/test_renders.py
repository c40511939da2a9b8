"""Failing renders affect only their own request."""

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from support.polling import wait_until
from support.server import command_environment, serving

UNRULY = "/tools/unruly/api/generate"
IMPATIENT = "/tools/impatient/api/generate"
GATE = "/tools/gate/api/generate"
TEXT = "/tools/text-file/api/generate"

Start = Callable[..., RunningHost]


@pytest.mark.parametrize(
    ("tool", "way", "status", "code"),
    [
        (UNRULY, "exit", 500, "internal_error"),
        (IMPATIENT, "endless", 503, "timeout"),
        (UNRULY, "hungry", 500, "internal_error"),
        (UNRULY, "raise", 500, "internal_error"),
        (UNRULY, "wrong_type", 500, "internal_error"),
        (UNRULY, "refuse", 400, "validation_error"),
    ],
)
def test_an_unruly_render_fails_alone_and_the_next_one_works(
    api: httpx.Client, shared_host: RunningHost, tool: str, way: str, status: int, code: str
) -> None:
    with ThreadPoolExecutor(2) as pool:
        bad = pool.submit(httpx.post, shared_host.url + tool, json={"way": way}, timeout=30)
        good = pool.submit(httpx.post, shared_host.url + TEXT, json={"text": f"beside {way}"}, timeout=30)

    response = bad.result()
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert "nutmeg" not in response.text
    assert ("retry-after" in response.headers) == (status == 503)
    assert good.result().status_code == 200
    assert api.post(UNRULY, json={"way": "fine", "response": "binary"}).text == "fine"


def test_a_full_queue_is_refused_at_once(start: Start, tmp_path: Path) -> None:
    host = start(executors={"processes": 1, "process_queue": 1}, limits={"anonymous_concurrency": 0})
    gate, log = tmp_path / "gate", tmp_path / "log"

    def call(number: int) -> httpx.Response:
        body = {"gate": str(gate), "log": str(log) if number == 0 else f"{log}{number}"}
        return httpx.post(host.url + GATE, json=body, timeout=30)

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(call, 0)
        wait_until(log.exists)
        calls = [pool.submit(call, number) for number in range(1, 7)]
        wait_until(lambda: sum(call.done() for call in calls) == 5)
        refused = [call.result() for call in calls if call.done()]
        gate.touch()
        responses = [call.result() for call in calls]

    assert first.result().status_code == 200
    assert sorted(response.status_code for response in responses) == [200] + [503] * 5
    for response in refused:
        assert response.json()["error"]["code"] == "overloaded"
        assert int(response.headers["retry-after"]) == response.json()["error"]["retryAfter"] >= 1
        assert response.json()["meta"]["rateLimit"]["limit"] == 1000


def test_on_sigterm_running_requests_finish_and_new_ones_are_refused(tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    with serving(tmp_path / "server") as server, ThreadPoolExecutor(1) as pool:
        call = pool.submit(httpx.post, server.url + GATE, json={"gate": str(gate), "log": str(log)}, timeout=30)
        wait_until(log.exists)
        server.process.send_signal(signal.SIGTERM)
        host, port = "127.0.0.1", int(server.url.rpartition(":")[2])
        while True:  # until the port is closed
            try:
                socket.create_connection((host, port), timeout=1).close()
            except OSError:
                break
        assert not call.done()
        gate.touch()

        assert call.result().status_code == 200
        assert server.process.wait(30) == 0


def test_a_second_server_on_the_same_port_is_reported(tmp_path: Path) -> None:
    with serving(tmp_path / "one") as server:
        port = server.url.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "pressroom", "serve", "--port", port],
            env=command_environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in second.stderr
    assert "--port" in second.stderr
    assert "Traceback" not in second.stderr
