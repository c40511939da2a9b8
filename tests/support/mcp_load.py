"""Load MCP endpoints, and run the servers to be loaded in turn."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from support.load import Load, load

START_SECONDS: Final = 60

LIST: Final[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
CALL: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "add_7", "arguments": {"a": 40, "b": 2}},
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A server to be measured: `key` is its API key, `pid` its process id."""

    name: str
    url: str
    key: str
    pid: int

    @property
    def headers(self) -> dict[str, str]:
        """The headers that a client of MCP 2025-06-18 sends."""
        return {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }

    def post(self, message: dict[str, Any]) -> httpx.Response:
        """Return the response to one message."""
        response = httpx.post(self.url, json=message, headers=self.headers, timeout=30)
        response.raise_for_status()
        return response

    def load(self, message: dict[str, Any], seconds: int, folder: Path) -> Load:
        """Send a message repeatedly, and return the measured load."""
        return load(self.url, json.dumps(message), self.headers, folder, pid=self.pid, seconds=seconds)


@contextmanager
def listening(command: Sequence[str], port: int) -> Iterator[int]:
    """Run a server until the block ends. Yields its process id once it accepts connections."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + START_SECONDS
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    assert process.poll() is None, f"{command} ended"
                    assert time.monotonic() < deadline, f"{command} did not listen"
                    time.sleep(0.05)
            yield process.pid
        finally:
            process.terminate()
