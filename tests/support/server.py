"""The real command in a separate process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.forked_command import ForkedCommand

TESTS = Path(__file__).parents[1]

PROCESSES_WHEN_NEEDED = {"PRESSROOM_EXECUTORS__START_PLUGIN_PROCESSES": "false"}
"""Start plugin processes on demand: few tests use them, and loading takes a second."""


class Server:
    """A running `pressroom serve`. `log` is its standard error output, complete once it has ended.

    `announced` is the JSON document that it printed when it was ready for requests.
    """

    def __init__(
        self, process: subprocess.Popen[str] | ForkedCommand, announced: dict[str, Any], log_file: Path
    ) -> None:
        self.process = process
        self.announced = announced
        self.url: str = announced["url"]
        self._log_file = log_file

    @property
    def log(self) -> str:
        return self._log_file.read_text()

    def terminate(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(40)


def tools_distribution(folder: Path) -> Path:
    """Create the metadata of the test tools, and return the folder that belongs on the path."""
    metadata = folder / "pressroom_test_tools-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-test-tools\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pressroom.plugins]\ntest_tools = support.tools_plugin\n")
    return folder


def command_environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which the command finds the test tools, and stores its data in `folder`."""
    folders = [str(TESTS), str(tools_distribution(folder / "site"))]
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    return {**inherited, "PYTHONPATH": path, "PRESSROOM_STORAGE__PATH": str(folder / "data"), **variables}


@contextmanager
def serving(
    folder: Path,
    config: str = "[plugins.test_tools]\n",
    environment: Mapping[str, str] | None = None,
    prefix: tuple[str, ...] = (),
    port: int = 0,
    *,
    forked: bool = True,
    options: tuple[str, ...] = (),
) -> Iterator[Server]:
    """Run the command with a configuration file until the block ends. `prefix` goes before it, `options` after it.

    `port` is its port; 0 picks a free one. Python is started from scratch if there is a prefix, if `environment`
    changes a variable for Python other than `PYTHONPATH`, or if `forked` is false, as for benchmarks; otherwise the
    process is forked, which is faster.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pressroom.toml").write_text(config)
    log_file = folder / "server.log"
    arguments = ["serve", "--port", str(port), "--json", "--config", str(folder / "pressroom.toml"), *options]
    env = command_environment(folder, **(environment or {}))
    process: subprocess.Popen[str] | ForkedCommand
    with log_file.open("w") as log:
        changed = {name for name, value in (environment or {}).items() if os.environ.get(name) != value}
        for_python = {name for name in changed if name.startswith("PYTHON")} - {"PYTHONPATH"}
        if prefix or not forked or for_python:
            command = [*prefix, sys.executable, "-m", "pressroom", *arguments]
            process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True)
        else:
            process = ForkedCommand(arguments, cwd=Path.cwd(), env={**PROCESSES_WHEN_NEEDED, **env}, stderr=log)
    try:
        yield Server(process, announced(process, log_file), log_file)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(40)
        if process.stdout:
            process.stdout.close()


def announced(process: subprocess.Popen[str] | ForkedCommand, log_file: Path) -> dict[str, Any]:
    """Return the JSON document that the server prints when it is ready for requests."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.rstrip() == "}":
            document: dict[str, Any] = json.loads(text)
            assert "url" in document, document["error"]
            return document
    raise AssertionError(f"the server ended before it served: {text}{log_file.read_text()}")
