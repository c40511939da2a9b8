"""`pressroom plugins` and `pressroom doctor` report the fault of each plugin and how to fix it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import run_command
from support.plugin_distributions import BROKEN, EXEMPLARY, Distribution, Expected, healthy, slow
from support.plugin_source import SOUND, install_plugin


@pytest.fixture(autouse=True)
def only_one_builtin_plugin() -> None:
    """Hide nothing, unlike in the other tests: operators run these commands with everything installed."""


def run(commands: list[str], folder: Path, *installed: Distribution) -> list[tuple[int, str]]:
    """Run commands one after another; return the exit code and the output of each."""
    tables = {id_: table for distribution in installed for id_, table in distribution.plugins.items()}
    environment = {"PYTHONPATH": str(folder), "PRESSROOM_STORAGE__PATH": str(folder / "data")}
    # An environment variable can hold JSON arrays and objects; the standard library has no TOML writer.
    environment |= {f"PRESSROOM_PLUGINS__{id_.upper()}__ENABLED": "true" for id_ in tables}
    for id_, table in tables.items():
        for name, value in table.items():
            text = json.dumps(value) if isinstance(value, dict | bool) else value
            environment[f"PRESSROOM_PLUGINS__{id_.upper()}__{name.upper()}"] = text
    results = [run_command(command.split(), cwd=folder, env=environment) for command in commands]
    return [(result.returncode, result.stdout) for result in results]


def assert_in(words: tuple[str, ...], text: str) -> None:
    assert [word for word in words if word not in text] == [], text


@pytest.mark.parametrize("name", EXEMPLARY)
def test_each_command_reports_a_broken_plugin(name: str, tmp_path: Path) -> None:
    broken = BROKEN[name](tmp_path)
    commands = ["plugins list --json", "doctor --json", "catalog --json", f"plugins show {broken.expected[0].id}"]
    (listed, list_output), (checked, doctor_output), (_, catalog), (shown, shown_output) = run(
        commands, tmp_path, broken, healthy(tmp_path)
    )
    assert (listed, checked, shown) == (1, 1, 1)
    assert "healthy" in catalog
    assert_listed(broken.expected, json.loads(list_output))
    assert_diagnosed(broken.expected, json.loads(doctor_output)["checks"])
    assert_in(broken.expected[0].error, shown_output)


def assert_listed(expected: tuple[Expected, ...], records: list[dict[str, Any]]) -> None:
    rows = [row for row in records if row["id"] in {expectation.id for expectation in expected}]
    assert [row["id"] for row in rows] == sorted(expectation.id for expectation in expected)
    assert {row["id"]: row["status"] for row in records}["healthy"] == "active"
    for expectation in expected:
        row = rows.pop(next(number for number, row in enumerate(rows) if row["id"] == expectation.id))
        assert (row["status"], row["phase"]) == (expectation.status, expectation.phase)
        assert_in(expectation.error, row["error"])
        assert_in(expectation.hint, row["hint"])


def assert_diagnosed(expected: tuple[Expected, ...], checks: list[dict[str, str]]) -> None:
    errors = [check for check in checks if check["status"] == "error"]
    assert [check["check"] for check in errors] == sorted(f"plugin {expectation.id}" for expectation in expected)
    for expectation in expected:
        check = errors.pop(next(i for i, check in enumerate(errors) if check["check"] == f"plugin {expectation.id}"))
        assert_in((expectation.status, expectation.phase, *expectation.error), check["message"])
        assert_in(expectation.hint, check["hint"])


CONFIGURED = """
class Config(PluginConfig):
    language: str = Field(default="en", description="Language of the words.")
    token: SecretStr = Field(default=SecretStr(""), description="Token of the service.")
    words: tuple[str, ...] = Field(default=(), description="Words that are left out.")
    account: str = Field(description="Name of the account.")

PLUGIN = Plugin(id="$id", api="1", title="Cloud", summary="For tests.", config=Config)
"""


def test_plugin_settings_are_listed_with_values_and_masked_secrets(tmp_path: Path) -> None:
    installed = install_plugin(tmp_path, "cloud", f"from pydantic import SecretStr\n{SOUND}{CONFIGURED}")
    config = {"language": "de", "token": "nutmeg", "account": "acme"}
    distribution = Distribution(installed.folder, {"cloud": {"config": config}})
    (_, data), (_, table), (_, broken) = [
        *run(["plugins show cloud --json", "plugins show cloud"], tmp_path, distribution),
        *run(["plugins show cloud --json"], tmp_path, Distribution(installed.folder, {"cloud": {}})),
    ]
    settings = {setting["name"]: setting for setting in json.loads(data)[0]["settings"]}
    assert {name: (setting["value"], setting["default"]) for name, setting in settings.items()} == {
        "language": ("de", "en"),
        "token": ("**********", ""),
        "words": ([], []),
        "account": ("acme", None),
    }
    assert [name for name, setting in settings.items() if setting["required"]] == ["account"]
    assert_a_line(table, "language", "de", "en", "Language of the words.")
    assert_a_line(table, "account", "acme", "required", "Name of the account.")
    assert "nutmeg" not in data + table
    assert json.loads(broken)[0]["settings"] == []


def test_human_readable_output_matches_json(tmp_path: Path) -> None:
    broken = [BROKEN[name](tmp_path) for name in EXEMPLARY]
    (listed, list_output), (checked, doctor_output) = run(["plugins list", "doctor"], tmp_path, *broken)
    assert (listed, checked) == (1, 1)
    for expectation in (expectation for installed in broken for expectation in installed.expected):
        assert_a_line(list_output, expectation.id, expectation.status, expectation.phase, *expectation.error)
        assert_a_line(
            doctor_output,
            f"plugin {expectation.id}",
            expectation.status,
            expectation.phase,
            *expectation.error,
            *expectation.hint,
        )


def assert_a_line(output: str, *words: str) -> None:
    assert any(all(word in line for word in words) for line in output.splitlines()), (words, output)


def test_both_commands_report_a_slow_import(tmp_path: Path) -> None:
    (listed, list_output), (checked, doctor_output) = run(["plugins list", "doctor"], tmp_path, slow(tmp_path))
    assert (listed, checked) == (0, 0)
    assert "import took 0." in list_output
    assert "active, but its import took 0." in doctor_output
    assert "heavy libraries belong inside functions" in doctor_output
