"""Plugin commands that raise uncaught exceptions: the message names the plugin, and the exit code is non-zero."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands import run_command
from support.plugin_source import SOUND, install_plugin

COMMANDS = """
import asyncio, click

class Panic(BaseException): ...

@click.command()
@click.argument("how")
def go(how):
    match how:
        case "panic": raise Panic("no way")
        case "cancel": raise asyncio.CancelledError
        case "error": raise ZeroDivisionError("no way")
        case "told": raise NotFound("no such thing")

@hookimpl
def pressroom_commands(): return [go]
"""


@pytest.mark.parametrize(
    ("how", "code", "expected"),
    [
        ("panic", 1, "the command go of the plugin own failed: Panic: no way"),
        ("cancel", 1, "the command go of the plugin own failed: CancelledError"),
        ("error", 1, "the command go of the plugin own failed: ZeroDivisionError: no way"),
        ("told", 1, "no such thing"),
    ],
)
def test_a_failing_command_names_its_plugin(tmp_path: Path, how: str, code: int, expected: str) -> None:
    install_plugin(tmp_path / "site", "own", SOUND + COMMANDS)
    (tmp_path / "pressroom.toml").write_text("builtin_plugins = false\n[plugins.own]\n")
    result = run_command(["x", "own", "go", how], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")})
    assert result.returncode == code
    assert expected in result.stderr
    assert result.stdout == ""


def test_a_command_of_a_plugin_that_does_not_load_is_explained(tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "own", SOUND + "raise ZeroDivisionError('no way')\n")
    (tmp_path / "pressroom.toml").write_text("builtin_plugins = false\n[plugins.own]\n[plugins.missing]\n")
    for name, message in (("own", "the plugin own is broken: ZeroDivisionError: no way"), ("missing", "no installed")):
        result = run_command(["x", name, "go"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")})
        assert result.returncode == 1
        assert message in result.stderr
    result = run_command(["x", "nobody", "go"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")})
    assert (result.returncode, "No such command 'nobody'" in result.stderr) == (2, True)
