"""Plugins on hosts of later plugin interfaces: this server with nothing changed but the number."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pressroom
import pytest
from support.plugin_source import SOUND, install_plugin
from support.server import command_environment

STATING = SOUND.replace('summary="For tests."', 'summary="For tests.", api="API"')


def host_of_api(folder: Path, api: str) -> None:
    """Copy the server, with another number of its interface."""
    copy = folder / "pressroom"
    shutil.copytree(Path(pressroom.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    module = copy / "sdk" / "plugin.py"
    text = module.read_text()
    assert 'API: Final = "1"' in text
    module.write_text(text.replace('\nAPI: Final = "1"', f'\nAPI: Final = "{api}"'))


@pytest.mark.parametrize(
    ("host", "statuses", "warned"),
    [
        ("2", {"silent": "active", "one": "active", "two": "active"}, {"silent", "one", "qr_code_generator"}),
        ("3", {"silent": "incompatible", "one": "incompatible", "two": "active"}, {"two"}),
    ],
)
def test_a_host_takes_its_own_interface_and_the_one_before(
    tmp_path: Path, host: str, statuses: dict[str, str], warned: set[str]
) -> None:
    site = tmp_path / "own"
    host_of_api(site, host)
    install_plugin(site, "silent")
    install_plugin(site, "one", STATING.replace('"API"', '"1"'))
    install_plugin(site, "two", STATING.replace('"API"', '"2"'))
    (tmp_path / "pressroom.toml").write_text("".join(f"[plugins.{id_}]\n" for id_ in statuses))
    environment = command_environment(tmp_path)
    environment["PYTHONPATH"] = f"{site}{os.pathsep}{environment['PYTHONPATH']}"

    def command(*arguments: str) -> Any:
        command = [sys.executable, "-m", "pressroom", *arguments, "--json", "--config", "pressroom.toml"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    records = {record["id"]: record["status"] for record in command("plugins", "list")}
    assert {id_: records[id_] for id_ in statuses} == statuses
    assert records["qr_code_generator"] == ("active" if host == "2" else "incompatible")
    checks = {row["check"]: row for row in command("doctor")["checks"]}
    for id_ in warned:
        row = checks[f"plugin {id_}"]
        assert row["status"] == "warning"
        assert f"this host offers {host}, and the next drops it" in row["message"]
