"""Shutdown delay: load balancers can notice a stopping server before it closes its port."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import socket
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pressroom.server import connection
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.databases import postgresql_url
from support.migrations import migrate
from support.server import Server, serving

QR_CODE = "/tools/qr-code-generator/api/generate"


def request_shutdown(server: Server) -> httpx.Response:
    """Send SIGTERM, and return the first `/readyz` response on a new connection that is not a 200."""
    server.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 20
    while (response := httpx.get(f"{server.url}/readyz")).status_code == 200:
        assert time.monotonic() < deadline
    return response


def test_readiness_fails_before_shutdown_while_requests_are_served(tmp_path: Path) -> None:
    config = '[server]\nshutdown_delay = "10m"\n'
    with serving(tmp_path, config) as server, httpx.Client(base_url=server.url) as client:
        assert client.get("/readyz").status_code == 200
        unready = request_shutdown(server)
        assert (unready.status_code, unready.json()["problems"]) == (503, ["the server is shutting down"])
        # On the existing connection, and on new ones.
        assert client.post(QR_CODE, json={"text": "kept"}).status_code == 200
        for number in range(3):
            assert httpx.post(f"{server.url}{QR_CODE}", json={"text": f"new {number}"}).status_code == 200
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        # A second signal skips the delay.
        assert server.terminate() == 0
    events = [json.loads(line)["event"] for line in server.log.splitlines()]
    assert events.index("about to shut down") < events.index("shutting down")


def test_the_delay_ends_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path, '[server]\nshutdown_delay = "1s"\n') as server:
        assert request_shutdown(server).status_code == 503
        assert server.process.wait(40) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/readyz")


def test_without_a_delay_the_port_closes_immediately(tmp_path: Path) -> None:
    with serving(tmp_path, "") as server:
        assert server.terminate() == 0
    assert "about to shut down" not in server.log


def test_the_first_request_of_a_new_connection_gets_a_response(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_SECONDS", 100.0)
    with RunningHost(settings_for_test({"builtin_plugins": False}, tmp_path)) as host, ThreadPoolExecutor() as threads:
        address = ("127.0.0.1", host.settings.server.port)
        with socket.create_connection(address, 60) as new, socket.create_connection(address, 60) as persistent:
            persistent.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert persistent.recv(1000).startswith(b"HTTP/1.1 200 OK")
            stopped = threads.submit(host.__exit__, None, None, None)
            while persistent.recv(1000):
                pass  # the rest of the response, until the server closes idle connections
            new.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert new.recv(1000).startswith(b"HTTP/1.1 200 OK")
        stopped.result()


def test_a_stopped_host_leaves_no_connection_open(tmp_path: Path) -> None:
    with postgresql_url() as url, httpx.Client() as client:
        settings = settings_for_test({"storage": {"database": url}}, tmp_path)
        asyncio.run(migrate(settings))
        gc.collect()  # garbage left by earlier tests
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ResourceWarning)
            with RunningHost(settings) as host:
                assert client.get(f"{host.url}/readyz").status_code == 200
                assert client.post(f"{host.url}{QR_CODE}", json={"text": "kept"}).status_code == 200
            del host
            gc.collect()
    assert [str(warning.message) for warning in caught if issubclass(warning.category, ResourceWarning)] == []
