"""The clients that the tests run, and the code to run them."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support.mcp_clients.environments import HERE, node, node_packages, python_environment

SECONDS = 90
"""Time limit for one order to a client, in seconds."""

Browser = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to call."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """A client's output: `done` or `failed`, the URLs `opened` in the browser, and the parameters `returned` by it.

    `log` is its standard error.
    """

    done: dict[str, Any]
    failed: dict[str, Any]
    opened: tuple[str, ...]
    returned: tuple[dict[str, str], ...]
    log: str

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The results of the calls, in order."""
        assert not self.failed, f"{self.failed}\n{self.log}"
        calls: list[dict[str, Any]] = self.done["calls"]
        return calls


@dataclass(frozen=True, slots=True)
class Client:
    """A client. `script` is a module of this package or a file in its folder. Installed on first use."""

    name: str
    script: str
    requirement: str = ""

    def run(
        self,
        url: str,
        folder: Path,
        calls: Sequence[Call] = (),
        *,
        key: str = "",
        store: Path | None = None,
        browser: Browser | None = None,
    ) -> Report:
        """List the tools at `url` and make the calls, with an API key, or through OAuth with the state in `store`.

        `folder` is the client's working folder. `browser` is called with each URL that a user would open.
        """
        order = {
            "url": url,
            "headers": {"Authorization": f"Bearer {key}"} if key else {},
            "store": str(store) if store else None,
            "calls": [{"name": call.name, "arguments": dict(call.arguments)} for call in calls],
        }
        folder.mkdir(parents=True, exist_ok=True)
        with (
            (folder / "client.log").open("w") as log,
            subprocess.Popen(
                self._command(folder),
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            watchdog = threading.Timer(SECONDS, process.kill)
            watchdog.start()
            try:
                lines = _conversation(process, json.dumps(order), browser)
            finally:
                watchdog.cancel()
                process.kill()
        return _report(lines, (folder / "client.log").read_text())

    def _command(self, folder: Path) -> list[str]:
        if self.requirement:
            return [str(python_environment(self.requirement)), "-m", f"support.mcp_clients.{self.script}"]
        # Node.js resolves packages relative to the script, so copy the scripts next to `node_modules`.
        for script in HERE.glob("*.mjs"):
            (folder / script.name).write_text(script.read_text())
        packages = folder / "node_modules"
        if not packages.exists():
            packages.symlink_to(node_packages())
        return [node(), str(folder / self.script)]


PYTHON_2: Final = Client("Python SDK 2.3.0", "python_sdk_2", "mcp==2.3.0")
PYTHON_1: Final = Client("Python SDK 1.30.0", "python_sdk_1", "mcp==1.30.0")
TYPESCRIPT_1: Final = Client("TypeScript SDK 1.32.2", "typescript_sdk_1.mjs")
TYPESCRIPT_2: Final = Client("TypeScript client 2.4.0", "typescript_client_2.mjs")
CLIENTS: Final = (PYTHON_2, PYTHON_1, TYPESCRIPT_1, TYPESCRIPT_2)


def _conversation(process: subprocess.Popen[str], order: str, browser: Browser | None) -> list[dict[str, Any]]:
    """Send a client its order, open the URLs that it requests, and return its output lines."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(order)
    process.stdin.close()
    lines = []
    for text in process.stdout:
        line = json.loads(text)
        lines.append(line)
        if "open" in line:
            assert browser is not None, f"the client wanted a browser to open {line['open']}"
            browser(line["open"])
    return lines


def _report(lines: Sequence[Mapping[str, Any]], log: str) -> Report:
    last = lines[-1] if lines else {"failed": {"type": "nothing", "message": "the client wrote nothing"}}
    return Report(
        done=last.get("done", {}),
        failed=last.get("failed", {}),
        opened=tuple(line["open"] for line in lines if "open" in line),
        returned=tuple(line["returned"] for line in lines if "returned" in line),
        log=log,
    )
