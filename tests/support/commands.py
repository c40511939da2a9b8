"""The command line, in the tests' own process or in one of its own.

In their own process most of it is imported already, which is four fifths of what a command takes. It shows there what a
command does and says; what only a process has is to be seen in one: its exit by a signal, its file descriptors, its
terminal, the encoding of its streams, what it imports when it starts, and how two of them get along.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pressroom.cli import main

from support.installing import on_path
from support.logging_state import logging_as_before

Done = subprocess.CompletedProcess[str]


def run_command(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str | bytes = "") -> Done:
    """Run `pressroom` with these arguments in this process, and leave nothing of it behind but imported libraries.

    `cwd` is its working directory, `env` its whole environment. Folders of `PYTHONPATH` that this process has not on
    its path come first, and what was imported from them is forgotten afterwards. Its streams are no terminal, in UTF-8.
    Warnings are errors, as in every test, and what it does not catch is raised. Commands run an event loop of their
    own: an async test calls this with `asyncio.to_thread`.
    """
    given = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin)
    output, errors = io.BytesIO(), io.BytesIO()
    # Without a buffer for text, since the log is written past it.
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
        process.setattr(sys, "stdin", io.TextIOWrapper(given, encoding="utf-8"))
        process.setattr(sys, "stdout", stdout)
        process.setattr(sys, "stderr", stderr)
        code = main(arguments)
    return Done(["pressroom", *arguments], code, output.getvalue().decode(), errors.getvalue().decode())


def run_process(arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: str | bytes = "") -> Done:
    """Run `python -m pressroom` with these arguments, in a process of its own; all else is as for `run_command`."""
    done = subprocess.run(
        [sys.executable, "-m", "pressroom", *arguments],
        cwd=cwd,
        env=env,
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        timeout=100,
    )
    return Done(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
