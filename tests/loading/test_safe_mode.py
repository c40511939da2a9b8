"""Safe mode: only built-in plugins are loaded, to help find the plugin that causes trouble."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.commands import run_command
from support.plugin_source import SOUND, filled, install_plugin
from support.server import serving

REASON = "left out: safe mode loads built-in plugins alone"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with an installed plugin, a plugin file in a folder, and an ID without a plugin."""
    site, folder = tmp_path / "site", tmp_path / "plugins"
    for name in ("named_one", "unnamed_one", "switched_off"):
        install_plugin(site, name, f"raise SystemExit('must not be imported')\n{SOUND}")
    folder.mkdir()
    (folder / "of_a_file.py").write_text(filled(f"raise SystemExit\n{SOUND}", "of_a_file"))
    (tmp_path / "pressroom.toml").write_text(
        f'plugins_dir = "{folder}"\n[plugins.named_one]\nrequired = true\n[plugins.missing]\n'
        "[plugins.switched_off]\nenabled = false\n"
        '[plugins.qr_code_generator]\ndistribution = "acme-qr"\n'
    )
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    return {**variables, "PYTHONPATH": str(site), "PRESSROOM_STORAGE__PATH": str(tmp_path / "data")}


def test_the_list_shows_what_is_disabled_and_why(tmp_path: Path, environment: dict[str, str]) -> None:
    result = run_command(["plugins", "list", "--safe-mode", "--json"], cwd=tmp_path, env=environment)
    records = {record["id"]: (record["status"], record["error"]) for record in json.loads(result.stdout)}
    assert result.returncode == 0
    assert {id_: state for id_, state in records.items() if state[1]} == {
        "named_one": ("disabled", REASON),
        "of_a_file": ("disabled", REASON),
        "missing": ("disabled", REASON),
    }
    assert records["unnamed_one"] == ("available", "")
    assert records["switched_off"] == ("disabled", "")
    assert records["qr_code_generator"] == ("active", "")


def test_the_output_says_that_it_is_on(tmp_path: Path, environment: dict[str, str]) -> None:
    result = run_command(["plugins", "list", "--safe-mode"], cwd=tmp_path, env=environment)
    assert "Safe mode: only built-in plugins are loaded. Left out: missing, named_one, of_a_file." in result.stderr
    normal = run_command(["plugins", "list"], cwd=tmp_path, env=environment)
    assert (normal.returncode, "Safe mode" in normal.stderr) == (1, False)


def test_doctor_reports_that_a_required_plugin_is_disabled(tmp_path: Path, environment: dict[str, str]) -> None:
    result = run_command(["doctor", "--safe-mode", "--json"], cwd=tmp_path, env=environment)
    checks = {(check["check"], check["status"]): check for check in json.loads(result.stdout)["checks"]}
    assert checks["security", "warning"]["message"] == "safe mode is on: only built-in plugins are loaded"
    required = checks["plugin named_one", "error"]
    assert (required["message"], required["hint"]) == (f"required, but {REASON}", "start without safe mode to load it")


def test_the_server_starts_with_built_in_plugins_only_and_logs_it(tmp_path: Path, environment: dict[str, str]) -> None:
    config = (tmp_path / "pressroom.toml").read_text()
    variables = {"PRESSROOM_SAFE_MODE": "true", "PYTHONPATH": environment["PYTHONPATH"]}
    with serving(tmp_path / "server", config, variables) as server:
        assert server.announced["safeMode"] is True
        statuses = {record["id"]: record["status"] for record in server.announced["plugins"]}
    assert (statuses["named_one"], statuses["qr_code_generator"]) == ("disabled", "active")
    assert "safe mode: only built-in plugins are loaded" in server.log
