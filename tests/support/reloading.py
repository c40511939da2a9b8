"""`pressroom serve --reload` in a separate process, with a plugin whose page returns a word that a test changes."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from support.needs import free_port
from support.server import command_environment

PLUGIN = """from pressroom.sdk import HttpRequest, HttpResponse, Plugin, Route, hookimpl

PLUGIN = Plugin(id="said", api="1", title="Said", summary="Says a word.")


async def said(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"$WORD")


@hookimpl
def pressroom_routes() -> list[Route]:
    return [Route("/said", said)]
"""
CONFIG = 'builtin_plugins = false\nplugins_dir = "plugins"\n[logging]\nlevel = "error"\n'
SECONDS = 60.0


def page_text(port: int, path: str = "/said", seconds: float = 5) -> str | None:
    """Return the response body at a path of the server on a port, or None if it does not respond in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Reloading:
    """A running `pressroom serve --reload`, with a plugin whose page returns a word."""

    def __init__(self, process: subprocess.Popen[str], folder: Path, port: int) -> None:
        self.process = process
        self.port = port
        self.config = folder / "pressroom.toml"
        self.plugin = folder / "plugins" / "said.py"
        self._output = folder / "output"
        self._written = folder / "written"

    @property
    def output(self) -> str:
        """The command's output so far."""
        return self._output.read_text()

    def write(self, word: str, *, after: str = "") -> None:
        """Change the word on the plugin's page; `after` is additional source code."""
        self._replace(self.plugin, PLUGIN.replace("$WORD", word) + after)

    def configure(self, text: str) -> None:
        """Replace the configuration."""
        self._replace(self.config, text)

    def _replace(self, file: Path, text: str) -> None:
        """Write a file atomically, as editors do: otherwise the command could read a half-written file."""
        self._written.write_text(text)
        self._written.replace(file)

    def wait_for(self, word: str, path: str = "/said") -> None:
        """Return once the page returns the word."""
        self._wait(lambda: page_text(self.port, path) == word, word)

    def wait_for_output(self, text: str) -> None:
        """Return once the command has printed the text."""
        self._wait(lambda: text in self.output, text)

    def _wait(self, holds: Callable[[], bool], description: str) -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end, f"not seen: {description}\n{self.output}"
            assert self.process.poll() is None, self.output
            time.sleep(0.02)


@contextmanager
def reloading_command(
    folder: Path, config: str = CONFIG, python: Sequence[str] = ("-m", "pressroom"), packages: Path | None = None
) -> Iterator[Reloading]:
    """Run the command in a new session, as a terminal does, until the block ends.

    `python` are the arguments of Python that run the command; `packages` is a folder to put first on its path.
    """
    (folder / "plugins").mkdir()
    (folder / "pressroom.toml").write_text(config)
    (folder / "plugins" / "said.py").write_text(PLUGIN.replace("$WORD", "one"))
    port = free_port()
    environment = command_environment(folder)
    if packages is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(packages), environment["PYTHONPATH"]])
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with (folder / "output").open("w") as output, interruptible():
        process = subprocess.Popen(
            [sys.executable, *python, "serve", "--reload", "--port", str(port)],
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=output,
            text=True,
            start_new_session=True,
        )
    try:
        yield Reloading(process, folder, port)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(40)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make processes started in this block end on SIGINT, even if the tests run in the background.

    A shell without job control makes background processes ignore SIGINT, and child processes inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
