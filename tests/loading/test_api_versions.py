"""API versions: plugins on hosts with a later plugin API, simulated by this server with a different version number."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pressroom
import pytest
from support.compiling import Compile, record_of
from support.plugin_source import SOUND, install_plugin
from support.server import command_environment

STATING = SOUND.replace('summary="For tests."', 'summary="For tests.", api="API"')


def host_of_api(folder: Path, api: str) -> None:
    """Copy the server with another plugin API version."""
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
def test_a_host_accepts_its_own_api_version_and_the_previous_one(
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
        result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return json.loads(result.stdout)

    records = {record["id"]: record["status"] for record in command("plugins", "list")}
    assert {id_: records[id_] for id_ in statuses} == statuses
    assert records["qr_code_generator"] == ("active" if host == "2" else "incompatible")
    checks = {row["check"]: row for row in command("doctor")["checks"]}
    for id_ in warned:
        row = checks[f"plugin {id_}"]
        assert row["status"] == "warning"
        assert f"this host offers {host}, and the next drops it" in row["message"]


DEPRECATING = """
from pressroom.sdk.deprecation import Deprecation, deprecated_names
from pressroom.sdk.backends import per_day as _per_day

__getattr__ = deprecated_names(
    __name__, {"per_day": (_per_day, Deprecation("pressroom.sdk.per_day", "pressroom.sdk.Rate", "4"))}
)
del per_day
"""

USING = """
from pressroom.sdk import per_day
import pressroom.sdk

@hookimpl
def pressroom_rate_limits():
    return [RateLimit("daily", lambda tool, plan: pressroom.sdk.per_day(100))]
"""


def test_plugins_that_use_a_deprecated_name_get_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "own"
    host_of_api(site, "2")
    module = site / "pressroom" / "sdk" / "__init__.py"
    text = module.read_text()
    assert text.count('    "per_day",\n') == 1
    module.write_text(text.replace('    "per_day",\n', "") + DEPRECATING)
    install_plugin(site, "using", STATING.replace('"API"', '"2"') + USING)
    install_plugin(site, "modern", STATING.replace('"API"', '"2"'))
    (tmp_path / "pressroom.toml").write_text("builtin_plugins = false\n[plugins.using]\n[plugins.modern]\n")
    environment = command_environment(tmp_path)
    environment["PYTHONPATH"] = f"{site}{os.pathsep}{environment['PYTHONPATH']}"

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pressroom", *arguments, "--config", "pressroom.toml"]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    message = "pressroom.sdk.per_day is deprecated and ends with plugin API 4: use pressroom.sdk.Rate"
    listed = command("plugins", "list", "--json")
    records = {record["id"]: record for record in json.loads(listed.stdout)}
    assert (records["using"]["status"], records["using"]["warnings"]) == ("active", [message])
    assert (records["modern"]["status"], records["modern"]["warnings"]) == ("active", [])
    assert f"using: {message}" in command("plugins", "list").stderr
    checks = {row["check"]: row for row in json.loads(command("doctor", "--json").stdout)["checks"]}
    assert (checks["plugin using"]["status"], checks["plugin modern"]["status"]) == ("warning", "ok")
    assert message in checks["plugin using"]["message"]


def test_a_plugin_without_an_api_version_gets_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "own"
    install_plugin(site, "silent")
    install_plugin(site, "one", STATING.replace('"API"', '"1"'))
    (tmp_path / "pressroom.toml").write_text("[plugins.silent]\n[plugins.one]\n")
    environment = command_environment(tmp_path)
    environment["PYTHONPATH"] = f"{site}{os.pathsep}{environment['PYTHONPATH']}"
    command = [sys.executable, "-m", "pressroom", "plugins", "list", "--json", "--config", "pressroom.toml"]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    records = {record["id"]: record for record in json.loads(result.stdout)}
    assert (records["silent"]["status"], records["silent"]["api"]) == ("active", "1")
    (warning,) = records["silent"]["warnings"]
    stated = 'PLUGIN = Plugin(id="silent", api="1", title=…, summary=…)'
    assert warning == f"it does not say which plugin API it is written for: say so with {stated}"
    assert records["one"]["warnings"] == []
    assert all(record["warnings"] == [] for record in records.values() if record["builtin"])


BARE: Final = '''
from pressroom.sdk import mcp_tool

@mcp_tool
async def count_words(text: str) -> int:
    """Counts the words of a text."""
    return len(text.split())
'''


def test_a_package_needs_only_a_decorated_function(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(install_plugin(tmp_path, "tally", BARE))
    record = record_of(compiled, "tally")
    assert (record.status, record.title, record.summary) == ("active", "Tally", "Tally")
    assert "count_words" in compiled.catalog.mcp_tools
    (warning,) = record.warnings
    assert 'say so with PLUGIN = Plugin(id="tally", api="1"' in warning


def test_a_package_that_offers_nothing_is_reported_with_what_to_write(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(install_plugin(tmp_path, "tally", BARE.replace("@mcp_tool\n", "")))
    record = record_of(compiled, "tally")
    assert (record.status, record.phase) == ("broken", "import")
    assert record.error == "acme_tally.plugin has no PLUGIN, no hook and no tool"
    assert 'put @mcp_tool or @generator above a function, or add PLUGIN = Plugin(id="tally"' in record.hint
