"""The command line, in-process, in a forked process or in a subprocess.

In-process, most modules are already imported, which saves four fifths of a command's run time. That covers a command's
effects and output. What depends on a real process needs a subprocess: exit by a signal, file descriptors, the terminal,
the encoding of streams, imports at start-up, and concurrent commands. A forked process is enough for the last.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pressroom.cli import main

from support.forked_command import ForkedCommand
from support.installing import on_path
from support.logging_state import logging_as_before

Done = subprocess.CompletedProcess[str]


def run_command(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str | bytes = "") -> Done:
    """Run `pressroom` with these arguments in this process, leaving nothing behind but imported libraries.

    `cwd` is its working directory, `env` its whole environment. Folders of `PYTHONPATH` that are not on this process's
    path are put first, and modules imported from them are removed afterwards. The streams are not terminals and use
    UTF-8. Warnings are errors, as in every test, and uncaught exceptions propagate. Commands run their own event loop:
    call this from async tests with `asyncio.to_thread`.
    """
    stream = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
    output, errors = io.BytesIO(), io.BytesIO()
    # Unbuffered, because log lines bypass the text layer.
    stdout = io.TextIOWrapper(output, encoding="utf-8", write_through=True)
    stderr = io.TextIOWrapper(errors, encoding="utf-8", errors="backslashreplace", write_through=True)
    folders = [Path(folder) for folder in env.get("PYTHONPATH", "").split(os.pathsep) if folder]
    missing = [folder for folder in folders if str(folder) not in sys.path]
    with (
        pytest.MonkeyPatch.context() as process,
        on_path(*missing),
        warnings.catch_warnings(),
        logging_as_before(),
    ):
        for name in os.environ.keys() - env.keys():
            process.delenv(name)
        for name, value in env.items():
            process.setenv(name, value)
        process.chdir(cwd)
        process.setattr(sys, "stdin", io.TextIOWrapper(stream, encoding="utf-8"))
        process.setattr(sys, "stdout", stdout)
        process.setattr(sys, "stderr", stderr)
        code = main(arguments)
    return Done(["pressroom", *arguments], code, output.getvalue().decode(), errors.getvalue().decode())


def run_forked(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> Done:
    """Run `pressroom` with these arguments in a separate process, without the time that importing everything takes.

    It is forked from a process that has done so. Otherwise like `run_command`, without standard input.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        command = ForkedCommand(arguments, cwd=cwd, env=env, stderr=errors)
        with command.stdout as output:
            stdout = output.read()
        code = command.wait(100)
        errors.seek(0)
        return Done(command.args, code, stdout, errors.read())


def run_process(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str | bytes = "") -> Done:
    """Run `python -m pressroom` with these arguments in a subprocess. Otherwise like `run_command`."""
    completed = subprocess.run(
        [sys.executable, "-m", "pressroom", *arguments],
        cwd=cwd,
        env=env,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        timeout=100,
    )
    return Done(completed.args, completed.returncode, completed.stdout.decode(), completed.stderr.decode())
