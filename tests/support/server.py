"""The real command in a process of its own."""

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
"""Has a server start plugins' processes with the first work for them: few tests have any, loading takes a second."""


class Server:
    """A running `pressroom serve`. `log` is what it wrote to standard error, once it has ended.

    `announced` is the document that it wrote once it answered requests.
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
    """Make the metadata of the test tools and return the folder that belongs on the path."""
    metadata = folder / "pressroom_test_tools-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-test-tools\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[pressroom.plugins]\ntest_tools = support.tools_plugin\n")
    return folder


def command_environment(folder: Path, **variables: str) -> dict[str, str]:
    """Return an environment in which the command finds the test tools, and keeps its data in `folder`."""
    own = [str(TESTS), str(tools_distribution(folder / "site"))]
    path = os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    return {**kept, "PYTHONPATH": path, "PRESSROOM_STORAGE__PATH": str(folder / "data"), **variables}


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
    """Run the command with a configuration file, until the block ends. `prefix` is put before the command,
    and `options` after it.

    `port` is where it listens; 0 is any that is free. Python itself is started for a prefix, where the environment is
    to tell it something, and where `forked` is false, as for benchmarks: else the process is forked, which is quicker.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pressroom.toml").write_text(config)
    log_file = folder / "server.log"
    arguments = ["serve", "--port", str(port), "--json", "--config", str(folder / "pressroom.toml"), *options]
    env = command_environment(folder, **(environment or {}))
    process: subprocess.Popen[str] | ForkedCommand
    with log_file.open("w") as log:
        if prefix or not forked or any(name.startswith("PYTHON") for name in environment or ()):
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
    """Return the document that the server writes once it answers requests."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line.rstrip() == "}":
            document: dict[str, Any] = json.loads(text)
            assert "url" in document, document["error"]
            return document
    raise AssertionError(f"the server ended before it served: {text}{log_file.read_text()}")
