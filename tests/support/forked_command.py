"""The real command in a process of its own that need not import everything first.

A process beside the tests has imported the server and its built-in plugins, and forks for each command: importing is
two thirds of what a start takes. What a command does with its arguments, environment, folder, streams and signals is
the same; tests of what happens while Python starts, or of its memory, start Python themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

TESTS: Final = Path(__file__).parents[1]

_MAX_REQUEST: Final = 1 << 20
_STREAMS: Final = 3


class ForkedCommand:
    """A running `pressroom`, with what tests use of `subprocess.Popen`. `stdout` is text.

    Args:
        arguments: those of the command.
        cwd: its working directory.
        env: its whole environment.
        stderr: the file that it writes its standard error to.
    """

    def __init__(self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: IO[str]) -> None:
        self.args = ["pressroom", *arguments]
        self.returncode: int | None = None
        output, output_end = os.pipe()
        self._ended, status_end = os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), output_end, stderr.fileno(), status_end]
            request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
            try:
                self.pid: int = _forks().begin(request, streams)
            finally:
                os.close(output_end)
                os.close(status_end)
        self.stdout: IO[str] = os.fdopen(output, encoding="utf-8")

    def poll(self) -> int | None:
        """Return the exit code if the process has ended: that of a signal is negative."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the process has ended. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            told = os.read(self._ended, 16)
            os.close(self._ended)
            self.returncode = int(told)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM, unless the process has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL, unless the process has ended."""
        self.send_signal(signal.SIGKILL)


class _Forks:
    """The process that forks, as the tests see it. It ends when its socket closes, which is when the tests end."""

    def __init__(self) -> None:
        own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "support.forked_command", str(other.fileno())],
                cwd=TESTS,
                env={**environment, "PYTHONPATH": str(TESTS)},
                pass_fds=[other.fileno()],
            )
        self._socket = own
        self._lock = threading.Lock()
        atexit.register(self._end)

    def begin(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Return the id of a new process; `streams` are its three, and where its exit code is written to."""
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
            return int(self._socket.recv(32))

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _forks() -> _Forks:
    return _Forks()


def _import_everything() -> None:
    """Load the built-in plugins and compile the catalog as commands do, and keep nothing but what is imported."""
    from pressroom.cli import main  # noqa: PLC0415 - in this process alone

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        Path(folder, "pressroom.toml").touch()
        os.environ["PRESSROOM_STORAGE__PATH"] = folder
        code = main(["catalog", "--json", "--config", f"{folder}/pressroom.toml"])
        del os.environ["PRESSROOM_STORAGE__PATH"]
    assert code == 0
    for name in ("pressroom.cli.serve", "pressroom.server.serve", "pressroom.limits.limiter", "aiosqlite"):
        importlib.import_module(name)
    assert threading.active_count() == 1, "a process with threads must not fork"
    gc.collect()
    gc.freeze()


def _serve(requests: socket.socket) -> int:
    """Fork for each request until the socket closes. Returns in each child as well, with its exit code."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests: they end the socket
    running: dict[int, int] = {}
    while True:
        readable: Sequence[object] = select.select([requests.fileno(), woken], [], [])[0]
        if woken in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            _tell_ended(running)
        if requests.fileno() in readable:
            content, streams, _, _ = socket.recv_fds(requests, _MAX_REQUEST, _STREAMS + 1)
            if not content:
                return 0
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                for end in (requests.fileno(), woken, wake, streams[_STREAMS], *running.values()):
                    os.close(end)
                return _run(json.loads(content), streams[:_STREAMS])
            running[child] = streams[_STREAMS]
            for stream in streams[:_STREAMS]:
                os.close(stream)
            requests.send(str(child).encode())


def _tell_ended(running: dict[int, int]) -> None:
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        end = running.pop(child)
        with contextlib.suppress(BrokenPipeError):
            os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(end)


def _text(stream: int, **options: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(io.FileIO(stream, "w", closefd=False)), encoding="utf-8", **options)


def _run(request: Mapping[str, Any], streams: Sequence[int]) -> int:
    """Become a command: with its streams, folder, environment and arguments. Returns its exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number in (signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = _text(1)
    sys.stderr = _text(2, errors="backslashreplace", line_buffering=True)
    given = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[:] = [*given, *(folder for folder in sys.path if folder not in given and folder != str(TESTS))]
    importlib.invalidate_caches()
    sys.argv = ["pressroom", *request["arguments"]]
    random.seed()
    from pressroom.cli import main  # noqa: PLC0415 - it is imported already

    return main()


if __name__ == "__main__":
    _import_everything()
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
