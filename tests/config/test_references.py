"""Values that the configuration reads from files and variables, and that are never shown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pressroom.config import InvalidConfig, load
from pressroom.config.display import MASK, as_data
from support.commands import run_command
from support.plugin_source import SOUND, install_plugin
from support.server import command_environment

SECRET = "nutmeg-and-cinnamon"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(text: str, **environ: str) -> Any:
    Path("pressroom.toml").write_text(text)
    return load(environ=environ)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_secret_is_read_from_a_file_without_the_trailing_newline(end: str) -> None:
    Path("key").write_bytes(f" {SECRET} {end}".encode())
    config = loaded('secret_key = { "$file" = "key" }')
    assert config.settings.secret_key.get_secret_value() == f" {SECRET} "
    assert str(config.origin_of("secret_key")) == "key"


def test_every_type_of_setting_can_be_a_reference(folder: Path) -> None:
    (folder / "port").write_text("8123\n")
    (folder / "networks").write_text("10.0.0.0/8, 192.168.0.0/16\n")
    (folder / "plan").write_text('{"tools": ["*"]}')
    config = loaded(
        """
        [server]
        port = { "$file" = "port" }
        [fetch]
        private_networks = { "$file" = "networks" }
        [plans]
        staff = { "$file" = "plan" }
        [branding]
        name = { "$env" = "BRAND" }
        [plugins.acme.config]
        number = { "$file" = "port" }
        deep = { list = [1, { "$env" = "BRAND" }] }
        """,
        BRAND="Acme",
    )
    settings = config.settings
    assert (settings.server.port, settings.branding.name) == (8123, "Acme")
    assert [str(network) for network in settings.fetch.private_networks] == ["10.0.0.0/8", "192.168.0.0/16"]
    assert settings.plans["staff"].tools == ("*",)
    assert settings.plugins["acme"].config == {"number": "8123", "deep": {"list": [1, "Acme"]}}


def test_a_variable_and_the_command_line_override_a_file() -> None:
    Path("key").write_text(SECRET)
    text = 'secret_key = { "$file" = "key" }\nbase_url = { "$file" = "missing, and not needed" }'
    Path("pressroom.toml").write_text(text)
    environ = {"PRESSROOM_SECRET_KEY": "x" * 40, "PRESSROOM_BASE_URL": "https://a.example"}
    assert load(environ=environ).settings.secret_key.get_secret_value() == "x" * 40  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ('{ "$file" = "missing" }', "missing does not exist"),
        ('{ "$file" = "." }', ". is not a file"),
        ('{ "$file" = "binary" }', "binary is not UTF-8"),
        ('{ "$file" = "large" }', "large has more than 65,536 bytes"),
        ('{ "$env" = "MISSING" }', "the environment has no variable MISSING"),
        ('{ "$file" = 7 }', "and nothing beside it"),
        ('{ "$file" = "missing", also = 1 }', "and nothing beside it"),
        ('{ "$file" = "missing", "$env" = "MISSING" }', "and nothing beside it"),
    ],
)
@pytest.mark.parametrize("key", ["secret_key", "plugins.acme.config.deep.token"])
def test_a_missing_value_is_reported_with_its_key_and_location(key: str, reference: str, expected: str) -> None:
    Path("binary").write_bytes(b"\xff\xfe")
    Path("large").write_text("x" * 65_537)
    with pytest.raises(InvalidConfig) as caught:
        loaded(f"# A comment.\n{key} = {reference}\n")
    (problem,) = caught.value.problems
    assert expected in problem.problem
    assert str(problem).startswith(f"pressroom.toml:2: {key}: ")


def test_file_contents_are_never_shown(folder: Path) -> None:
    Path("brand").write_text(SECRET)
    config = loaded('[branding]\nname = { "$file" = "brand" }\n[server]\nhost = "127.0.0.1"\n')
    data = as_data(config.settings, origins=config.origins)
    assert (data["branding"]["name"], data["server"]["host"]) == (MASK, "127.0.0.1")
    for arguments in (["config", "show", "--origin"], ["config", "show", "--origin", "--json"]):
        result = run_command(arguments, cwd=folder, env=command_environment(folder))
        assert result.returncode == 0
        assert SECRET not in result.stdout + result.stderr
        assert "brand" in result.stdout


def test_a_message_does_not_repeat_the_value() -> None:
    Path("port").write_text(f"{SECRET}\n")
    with pytest.raises(InvalidConfig) as caught:
        loaded('[server]\nport = { "$file" = "port" }\n')
    assert str(caught.value).startswith("port: server.port: must be a whole number")
    assert SECRET not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("held", [f'{{"tools": ["{SECRET}"', f'["{SECRET}"]', SECRET])
@pytest.mark.parametrize("key", ["plans", "plans.staff", "storage.s3"])
def test_a_table_that_is_not_json_is_reported(key: str, held: str) -> None:
    Path("table").write_text(held)
    for reference, source in (('{ "$file" = "table" }', "table"), ('{ "$env" = "TABLE" }', "TABLE")):
        with pytest.raises(InvalidConfig) as caught:
            loaded(f"{key} = {reference}", TABLE=held)
        (problem,) = caught.value.problems
        assert str(problem) == f"{source}: {key}: must be a JSON object"
        assert SECRET not in str(caught.value) + caught.value.hint


PLUGIN = """
class Own(PluginConfig):
    token: str = Field(default="", description="A token.")
    number: int = Field(default=1, description="A number.")

PLUGIN = Plugin(id="$id", api="1", title="Own", summary="For tests.", config=Own)
"""


def test_a_plugins_values_are_not_shown_even_when_invalid(folder: Path) -> None:
    install_plugin(folder / "site", "own", SOUND + PLUGIN)
    environment = command_environment(folder)
    environment["PYTHONPATH"] += f"{os.pathsep}{folder / 'site'}"
    Path("token").write_text(f"{SECRET}\n")
    head = "builtin_plugins = false\n[plugins.own.config]\n"
    Path("pressroom.toml").write_text(head + 'token = { "$file" = "token" }\n')
    result = run_command(["plugins", "show", "own", "--json"], cwd=folder, env=environment)
    document = json.loads(result.stdout)
    (plugin,) = document if isinstance(document, list) else [document]
    assert {setting["name"]: setting["value"] for setting in plugin["settings"]} == {"token": MASK, "number": 1}
    Path("pressroom.toml").write_text(head + 'number = { "$file" = "token" }\n')
    doctor = run_command(["doctor", "--verbose"], cwd=folder, env=environment)
    assert "plugins.own.config.number" in doctor.stdout
    assert SECRET not in result.stdout + result.stderr + doctor.stdout + doctor.stderr
