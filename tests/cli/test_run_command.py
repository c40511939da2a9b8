"""A command run in the tests' own process behaves as in a separate one, and leaves the process unchanged."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import warnings
from pathlib import Path

import pytest
import structlog
from support.commands import run_command, run_process
from support.plugin_source import SOUND, install_plugin
from support.server import command_environment


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a plugin that prints and logs when it is imported."""
    talking = "import structlog\nprint('printed')\nstructlog.get_logger().warning('logged')\n"
    install_plugin(tmp_path / "plugins", "talking", talking + SOUND)
    (tmp_path / "pressroom.toml").write_text("[plugins.talking]\n[logging]\nformat = 'text'\nlevel = 'warning'\n")
    variables = command_environment(tmp_path, HOME=str(tmp_path))
    return {**variables, "PYTHONPATH": f"{variables['PYTHONPATH']}{os.pathsep}{tmp_path / 'plugins'}"}


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["explain", "talking"], ""),
        (["config", "show", "--json"], ""),
        (["keys", "list", "nobody@example.com"], ""),
        (["users", "add", "ada@example.com", "--password-stdin"], b"\xff" * 20),
        (["--config", "missing.toml", "doctor"], ""),
        (["cofnig"], ""),
    ],
)
def test_output_is_the_same_in_process_and_in_a_subprocess(
    arguments: list[str], stdin: str | bytes, tmp_path: Path, environment: dict[str, str]
) -> None:
    in_process = run_command(arguments, cwd=tmp_path, env=environment, stdin=stdin)
    in_subprocess = run_process(arguments, cwd=tmp_path, env=environment, stdin=stdin)

    assert (in_process.returncode, in_process.stdout) == (in_subprocess.returncode, in_subprocess.stdout)
    assert without_times(in_process.stderr) == without_times(in_subprocess.stderr)
    assert in_process.stdout + in_process.stderr


def without_times(log: str) -> list[str]:
    """Return the lines of a log without their timestamps."""
    return [line[line.find(" ") :] if line[:1].isdigit() else line for line in log.splitlines()]


def test_the_calling_process_is_unchanged(tmp_path: Path, environment: dict[str, str]) -> None:
    before = state()
    for _ in range(2):
        result = run_command(["doctor"], cwd=tmp_path, env=environment)
        assert result.returncode == 0
        assert "printed" in result.stderr  # so it was imported both times
        assert "logged" in result.stderr

    assert state() == before
    assert not [name for name in sys.modules if name.startswith("acme_talking")]


def state() -> list[object]:
    """Return the process-wide state that a command could change."""
    root = logging.getLogger()
    return [
        dict(os.environ),
        Path.cwd(),
        [*sys.path],
        (sys.stdin, sys.stdout, sys.stderr),
        ([*warnings.filters], warnings.showwarning),
        ([*root.handlers], root.level),
        (structlog.is_configured(), structlog.get_config()),
    ]


async def test_an_async_test_can_run_a_command_in_a_thread(tmp_path: Path, environment: dict[str, str]) -> None:
    before = state()
    result = await asyncio.to_thread(run_command, ["users", "list"], cwd=tmp_path, env=environment)

    assert (result.returncode, result.stdout) == (0, "There is no account.\n")
    assert state() == before
