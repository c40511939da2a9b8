"""An AI client with one session, for tests that decide each call as they go."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.mcp_clients.clients import PYTHON_2, SECONDS
from support.mcp_clients.environments import HERE, python_environment


class Session:
    """The official Python SDK, connected. `protocol` is the negotiated version, `tools` are the offered tools."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log
        hello = self._read()
        self.protocol: str = hello["protocol"]
        self.server: dict[str, Any] = hello["server"]
        self.tools: list[str] = hello["tools"]

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, and return its raw result."""
        self._write({"name": name, "arguments": arguments})
        result: dict[str, Any] = self._read()["result"]
        return result

    def _write(self, document: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(document) + "\n")
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        watchdog = threading.Timer(SECONDS, self._process.kill)
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        assert line, self._log.read_text()
        response: dict[str, Any] = json.loads(line)
        assert "failed" not in response, f"{response}\n{self._log.read_text()}"
        return response


@contextmanager
def session(url: str, folder: Path, key: str) -> Iterator[Session]:
    """Connect to `url` with an API key; `folder` is the client's working folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(python_environment(PYTHON_2.requirement)), "-m", "support.mcp_clients.python_session"]
    with (
        (folder / "client.log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        process.stdin.write(json.dumps({"url": url, "headers": {"Authorization": f"Bearer {key}"}}) + "\n")
        process.stdin.flush()
        try:
            yield Session(process, folder / "client.log")
            process.stdin.close()
            process.wait(SECONDS)
        finally:
            process.kill()
