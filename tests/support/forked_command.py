"""The real command in a separate process that is forked instead of started from scratch.

A fork server has imported the server and its built-in plugins, and forks for each command, because imports are two
thirds of the start-up time. Arguments, environment, folder, streams and signals behave as in the real command; tests of
Python's start-up or memory start Python themselves.
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
import secrets
import select
import signal
import site
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from support.run import run_id

TESTS: Final = Path(__file__).parents[1]

_MAX_REQUEST: Final = 1 << 20
_STREAMS: Final = 3
_READY: Final = b"ready\n"


class ForkedCommand:
    """A running `pressroom`, with the subset of the interface of `subprocess.Popen` that tests use. `stdout` is text.

    Args:
        arguments: the command's arguments.
        cwd: the working directory.
        env: the whole environment.
        stderr: the file for standard error.
    """

    def __init__(self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stderr: IO[str]) -> None:
        self.args = ["pressroom", *arguments]
        self.returncode: int | None = None
        request = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
        output, output_end = os.pipe()
        self._ended, status_end = os.pipe()
        try:
            with Path(os.devnull).open("rb") as devnull:
                streams = [devnull.fileno(), output_end, stderr.fileno(), status_end]
                self.pid: int = begin(_forks(), request, streams)
        finally:
            os.close(output_end)
            os.close(status_end)
        self.stdout: IO[str] = os.fdopen(output, encoding="utf-8")

    def poll(self) -> int | None:
        """Return the exit code, negative if a signal ended the process, or None while it is running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code after the process has ended. Raises `subprocess.TimeoutExpired` on timeout."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            status = os.read(self._ended, 16)
            os.close(self._ended)
            self.returncode = int(status)
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


def begin(address: Path, request: Mapping[str, Any], streams: Sequence[int]) -> int:
    """Return the id of a new process. `streams` are its stdin, stdout and stderr, and the pipe for its exit code."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(str(address))
        socket.send_fds(connection, [json.dumps(request).encode()], streams)
        return int(connection.recv(32))


@cache
def _forks() -> Path:
    """Start the fork server, and return the path of its socket. It ends with the tests."""
    socket_path = Path(tempfile.gettempdir(), f"pressroom-{run_id()}-{secrets.token_hex(4)}.sock")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "support.forked_command", str(socket_path)],
        cwd=TESTS,
        env={**environment, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,  # closes when this process ends, even if it is killed
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == _READY, "the process that forks commands did not start"
    atexit.register(process.wait)
    atexit.register(process.stdin.close)
    return socket_path


def command_script(python: Path, packages: Path) -> str:
    """Return a script for the `pressroom` of a virtual environment that skips the import time.

    `python` is the environment's interpreter, `packages` its `site-packages`.
    """
    return _SCRIPT.format(python=str(python), packages=str(packages), address=str(_forks()))


_SCRIPT: Final = """#!{python} -ES
import json, os, select, signal, socket, sys

ended, status = os.pipe()
request = {{
    "arguments": sys.argv[1:],
    "cwd": os.getcwd(),
    "env": dict(os.environ),
    "python": {python!r},
    "packages": {packages!r},
}}
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
    connection.connect({address!r})
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2, status])
    process = int(connection.recv(32))
os.close(status)
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda number, _: os.kill(process, number))
code = int(os.read(ended, 16))
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def _import_everything() -> None:
    """Import everything by running the catalog command, without keeping any other state."""
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


def _serve(socket_path: Path) -> int:
    """Fork for each request until standard input closes. Also returns in each child, with its exit code."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(socket_path))
    listener.listen()
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests, which then close standard input
    running: dict[int, int] = {}
    sys.stdout.buffer.write(_READY)
    sys.stdout.flush()
    while True:
        readable: Sequence[int] = select.select([0, listener.fileno(), woken], [], [])[0]
        if woken in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            _report_ended(running)
        if 0 in readable:
            socket_path.unlink(missing_ok=True)
            return 0
        if listener.fileno() in readable:
            connection, _ = listener.accept()
            content, streams, _, _ = socket.recv_fds(connection, _MAX_REQUEST, _STREAMS + 1)
            child = os.fork()
            if child == 0:
                signal.set_wakeup_fd(-1)
                for end in (connection.fileno(), listener.fileno(), woken, wake, streams[_STREAMS], *running.values()):
                    os.close(end)
                connection.detach()
                listener.detach()
                return _run(json.loads(content), streams[:_STREAMS])
            running[child] = streams[_STREAMS]
            for stream in streams[:_STREAMS]:
                os.close(stream)
            with connection, contextlib.suppress(BrokenPipeError):
                connection.send(str(child).encode())


def _report_ended(running: dict[int, int]) -> None:
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
    """Run a command with the streams, folder, environment and arguments of a request. Returns its exit code."""
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
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    sys.path[:] = [*folders, *(folder for folder in sys.path if folder not in folders and folder != str(TESTS))]
    if "packages" in request:
        site.addsitedir(request["packages"])
        sys.executable, sys.prefix = request["python"], str(Path(request["python"]).parents[1])
        sys.exec_prefix = sys.prefix
    importlib.invalidate_caches()
    sys.argv = ["pressroom", *request["arguments"]]
    random.seed()
    from pressroom.cli import main  # noqa: PLC0415 - it is imported already

    return main()


if __name__ == "__main__":
    _import_everything()
    sys.exit(_serve(Path(sys.argv[1])))
