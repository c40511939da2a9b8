"""Command-line switches that disable or enable single plugins, overriding the configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_command, run_process
from support.plugin_source import SOUND, install_plugin
from support.server import serving


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a plugin whose import kills the process, and one that is not configured."""
    site = tmp_path / "site"
    install_plugin(site, "deadly", "import os\nos.kill(os.getpid(), 9)\n")
    install_plugin(site, "unnamed_one", SOUND)
    (tmp_path / "pressroom.toml").write_text("[plugins.deadly]\n")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    return {**variables, "PYTHONPATH": str(site), "PRESSROOM_STORAGE__PATH": str(tmp_path / "data")}


def statuses(result: Any) -> dict[str, tuple[str, str]]:
    return {record["id"]: (record["status"], record["error"]) for record in json.loads(result.stdout)}


def test_a_plugin_that_ends_the_process_can_be_left_out(tmp_path: Path, environment: dict[str, str]) -> None:
    assert run_process(["plugins", "list", "--json"], cwd=tmp_path, env=environment).returncode == -9
    result = run_process(["plugins", "list", "--without", "deadly", "--json"], cwd=tmp_path, env=environment)
    assert (result.returncode, statuses(result)["deadly"]) == (0, ("disabled", ""))


def test_with_loads_an_unconfigured_plugin_and_without_disables_dependants(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    options = ["--without", "deadly", "--with", "unnamed_one", "--without", "content"]
    states = statuses(run_process(["plugins", "list", *options, "--json"], cwd=tmp_path, env=environment))
    assert states["unnamed_one"][0] == "active"
    assert states["content"][0] == "disabled"
    assert "content" in states["images"][1]
    result = run_command(["doctor", *options, "--json"], cwd=tmp_path, env=environment)
    checks = {check["check"]: check["message"] for check in json.loads(result.stdout)["checks"]}
    assert (checks["plugin deadly"], checks["plugin unnamed_one"].partition(",")[0]) == ("switched off", "active")


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path, environment: dict[str, str]) -> None:
    result = run_command(["serve", "--without", "dedly"], cwd=tmp_path, env=environment)
    assert (result.returncode, result.stdout) == (2, "")
    assert (
        "There is no plugin 'dedly'. Did you mean deadly? There are account, code_to_image, content," in result.stderr
    )
    result = run_command(["doctor", "--with", "deadly", "--without", "deadly"], cwd=tmp_path, env=environment)
    assert (result.returncode, "deadly is named with --with and --without" in result.stderr) == (2, True)


def test_the_server_starts_without_an_excluded_plugin(tmp_path: Path, environment: dict[str, str]) -> None:
    variables = {"PYTHONPATH": environment["PYTHONPATH"]}
    options = ("--without", "deadly", "--with", "unnamed_one")
    with serving(tmp_path / "server", "[plugins.deadly]\n", variables, options=options) as server:
        states = {record["id"]: record["status"] for record in server.announced["plugins"]}
    assert (states["deadly"], states["unnamed_one"]) == ("disabled", "active")
