"""Loading an MCP endpoint with wrk, and running the peers that are loaded in turn."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from support.needs import program

CONNECTIONS: Final = 16
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
    """A server that is measured; `key` is its API key."""

    name: str
    url: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """What a client of MCP 2025-06-18 sends."""
        return {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }

    def answer(self, message: dict[str, Any]) -> httpx.Response:
        """Return the answer to one message."""
        answer = httpx.post(self.url, json=message, headers=self.headers, timeout=30)
        answer.raise_for_status()
        return answer

    def requests_per_second(self, message: dict[str, Any], seconds: int, folder: Path) -> float:
        """Send a message over and over on 16 connections, and return how many answers came in a second."""
        headers = "".join(f"wrk.headers[{json.dumps(name)}]={json.dumps(text)};" for name, text in self.headers.items())
        script = folder / "post.lua"
        script.write_text(f"wrk.method='POST';{headers}wrk.body={json.dumps(json.dumps(message))}")
        options = ["-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script)]
        done = subprocess.run([program("wrk"), *options, self.url], capture_output=True, text=True, check=True)
        assert "Non-2xx" not in done.stdout, done.stdout
        match = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
        assert match, done.stdout
        return float(match[1])


@contextmanager
def listening(command: Sequence[str], port: int) -> Iterator[None]:
    """Run a server until the block ends; the block begins when it accepts connections."""
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
            yield
        finally:
            process.terminate()
