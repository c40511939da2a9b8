"""Settings from environment variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.config import ConfigProblem, InvalidConfig, LoadedConfig, Settings, load


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(file: str = "", **environ: str) -> LoadedConfig:
    path = Path("pressroom.toml")
    path.write_text(file)
    return load(path, {f"PRESSROOM_{name}": text for name, text in environ.items()})


def problem(file: str = "", **environ: str) -> ConfigProblem:
    with pytest.raises(InvalidConfig) as caught:
        loaded(file, **environ)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("name", "text", "path", "value"),
    [
        ("BASE_URL", "https://a.example/", "base_url", "https://a.example"),
        ("SERVER__PORT", "80", "server.port", 80),
        ("server__Port", "80", "server.port", 80),
        ("STORAGE__S3__TIMEOUT", "500ms", "storage.s3.timeout", 0.5),
        ("STORAGE__MAX_TOTAL_BYTES", "5GiB", "storage.max_total_bytes", 5 * 2**30),
        ("LOGGING__REQUESTS", "off", "logging.requests", False),
        ("METRICS__PORT", "0", "metrics.port", 0),
        ("SERVER", '{"port": 81}', "server.port", 81),
        ("AUTH__AUTHENTICATORS", "keys, oauth", "auth.authenticators", ("keys", "oauth")),
        ("AUTH__AUTHENTICATORS", '["keys"]', "auth.authenticators", ("keys",)),
    ],
)
def test_a_variable_is_named_after_its_key(name: str, text: str, path: str, value: Any) -> None:
    config = loaded(**{name: text})
    setting: Any = config.settings
    for part in path.split("."):
        setting = getattr(setting, part)
    assert setting == value
    assert str(config.origin_of(path)) == f"PRESSROOM_{name}"


def test_an_empty_variable_is_ignored() -> None:
    assert loaded("base_url = 'https://a'", BASE_URL="").settings.base_url == "https://a"


@pytest.mark.parametrize("name", ["CONFIG", "SOURCE", "CHECK_POSTGRESQL", "TEST_RECORD"])
def test_variables_for_commands_and_plugin_ci_are_not_settings(name: str) -> None:
    assert loaded(**{name: "1"}).settings == loaded().settings


def test_no_setting_clashes_with_those_variables() -> None:
    assert not [name for name in Settings.model_fields if name.startswith(("config", "source", "check", "test"))]


def test_variables_without_the_prefix_are_ignored() -> None:
    assert load(environ={"PRESSROOMS": "1", "pressroom_server__port": "1", "PORT": "1"}).settings.server.port == 8000


@pytest.mark.parametrize(
    ("variable", "file", "name"),
    [
        ("QR_CODE_GENERATOR", "", "qr-code-generator"),
        ("list_pages", "", "list_pages"),
        ("getPage", "", "getPage"),
        ("qr-code-generator", "", "qr-code-generator"),
        ("LIST_PAGES", "[tools.list_pages]\ntimeout = 1\n", "list_pages"),
        ("GETPAGE", "[tools.getPage]\n", "getPage"),
        ("LIST_PAGES", "[tools.list_pages]\n[tools.list-pages]\n", "list-pages"),
    ],
)
def test_a_tool_name_becomes_a_slug_unless_the_file_or_case_differs(variable: str, file: str, name: str) -> None:
    config = loaded(file, **{f"TOOLS__{variable}__ENABLED": "false"})
    assert not config.settings.tools[name].enabled
    assert [key for key, tool in config.settings.tools.items() if not tool.enabled] == [name]


def test_tools_of_a_plan_are_named_like_tools() -> None:
    plans = loaded(
        PLANS__FREE__RATE_LIMITS__QR_CODE_GENERATOR="5/day", PLANS__FREE__TOOLS="generate_*, *-page"
    ).settings.plans
    assert plans["free"].rate_limits == {"qr-code-generator": "5/day"}
    assert plans["free"].tools == ("generate_*", "*-page")


def test_plugin_names_and_keys_keep_their_underscores() -> None:
    config = loaded(PLUGINS__MY_PLUGIN__ENABLED="false", PLUGINS__MY_PLUGIN__CONFIG__MAX_SIZE__IN_BYTES="5")
    assert not config.settings.plugins["my_plugin"].enabled
    assert config.settings.plugins["my_plugin"].config == {"max_size": {"in_bytes": 5}}
    assert str(config.origin_of("plugins.my_plugin.config.max_size.in_bytes")).endswith("__MAX_SIZE__IN_BYTES")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("11", 11),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
        ('["a", 1]', ["a", 1]),
        ('{"a": {"b": 1}}', {"a": {"b": 1}}),
        ('"11"', "11"),
        ("loud", "loud"),
        ("007", "007"),
        ("NaN", "NaN"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_plugins_values_are_parsed_as_json_where_possible(text: str, value: Any) -> None:
    config = loaded(PLUGINS__SHOUT__CONFIG__VOLUME=text)
    assert config.settings.plugins["shout"].config == {"volume": value}


def test_a_complete_table_is_merged_with_the_file_and_single_keys() -> None:
    config = loaded(
        "[server]\nhost = 'file'\nport = 1\n", SERVER='{"port": 2, "trusted_proxies": 3}', SERVER__TRUSTED_PROXIES="4"
    )
    server = config.settings.server
    assert (server.host, server.port, server.trusted_proxies) == ("file", 2, 4)
    assert [str(config.origin_of(f"server.{key}")) for key in ("host", "port", "trusted_proxies")] == [
        "pressroom.toml:2",
        "PRESSROOM_SERVER",
        "PRESSROOM_SERVER__TRUSTED_PROXIES",
    ]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SERVER__PROT", "SERVER__PORT"),
        ("SERVR__PORT", "SERVER__PORT"),
        ("SERVER_PORT", "SERVER__PORT"),
        ("BASEURL", "BASE_URL"),
        ("PORT", "SERVER__PORT"),
        ("S3__REGION", "STORAGE__S3__REGION"),
        ("TOOLS__QR_CODE_GENERATOR__TIMOUT", "TOOLS__QR_CODE_GENERATOR__TIMEOUT"),
        ("PLUGINS__SHOUT__CONFG__VOLUME", "PLUGINS__SHOUT__CONFIG__VOLUME"),
        ("LOGGING__LEVEL__ROOT", "LOGGING__LEVEL"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_closest_one(name: str, meant: str) -> None:
    config_problem = problem(**{name: "1"})
    assert str(config_problem) == f"PRESSROOM_{name}: is not the name of a setting"
    assert config_problem.hint == f"Did you mean PRESSROOM_{meant}?"


@pytest.mark.parametrize("name", ["", "__", "SERVER__", "__PORT", "PLUGINS____ENABLED", "XYZZY", "PORT_80"])
def test_an_unrecognisable_variable_is_refused_too(name: str) -> None:
    assert problem(**{name: "1"}).problem == "is not the name of a setting"


def test_kubernetes_service_variables_are_ignored() -> None:
    environ = {
        "PRESSROOM_SERVICE_HOST": "10.0.0.1",
        "PRESSROOM_SERVICE_PORT": "80",
        "PRESSROOM_SERVICE_PORT_HTTP": "80",
        "PRESSROOM_PORT": "tcp://10.0.0.1:80",
        "PRESSROOM_PORT_80_TCP": "tcp://10.0.0.1:80",
        "PRESSROOM_PORT_80_TCP_PROTO": "tcp",
        "PRESSROOM_PORT_80_TCP_PORT": "80",
        "PRESSROOM_PORT_80_TCP_ADDR": "10.0.0.1",
        "PRESSROOM_REDIS_SERVICE_HOST": "10.0.0.2",
        "PRESSROOM_REDIS_PORT": "tcp://10.0.0.2:6379",
    }
    assert load(environ=environ).origins.variables() == []


def test_an_invalid_value_is_reported_with_variable_and_key() -> None:
    config_problem = problem(SERVER__PORT="http")
    assert str(config_problem) == 'PRESSROOM_SERVER__PORT: server.port: must be a whole number (got the string "http")'


@pytest.mark.parametrize("name", ["SERVER", "TOOLS", "TOOLS__QR", "PLUGINS__SHOUT__CONFIG"])
def test_a_table_has_to_be_json(name: str) -> None:
    assert "must be a JSON object" in problem(**{name: "[1]"}).problem


def test_an_invalid_table_name_is_reported_with_its_variable() -> None:
    config_problem = problem(**{"PLUGINS__x-y__CONFIG__SERVER": "0"})
    assert str(config_problem).startswith("PRESSROOM_PLUGINS__x-y__CONFIG__SERVER: ")
    assert "its name must match the pattern" in config_problem.problem


def test_two_variables_for_one_key_are_refused() -> None:
    config_problem = problem(SERVER__PORT="1", server__port="2")
    assert str(config_problem) == "PRESSROOM_server__port: sets server.port, and so does PRESSROOM_SERVER__PORT"


@given(
    environ=st.dictionaries(
        st.lists(
            st.sampled_from(
                ["SERVER", "PORT", "TOOLS", "PLUGINS", "PLANS", "CONFIG", "A_B", "x-y", "", "S3", "STORAGE"]
            ),
            max_size=5,
        ).map("__".join),
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
        | st.sampled_from(["{}", "[]", "1", "null", '{"port": 1}', "\udcff", "1e999", "{" * 2000]),
        max_size=4,
    )
)
def test_any_environment_is_loaded_or_refused_in_words(environ: dict[str, str]) -> None:
    given_names = {f"PRESSROOM_{name}": text for name, text in environ.items() if name != "CONFIG"}
    problems: tuple[ConfigProblem, ...] = ()
    used: list[str] = []
    refused = False
    try:
        used = load(environ=given_names).origins.variables()
    except InvalidConfig as error:
        refused, problems = True, error.problems
    assert bool(problems) is refused
    assert set(used) <= set(given_names)
    assert {problem.origin.name for problem in problems} <= set(given_names)
    assert all(problem.problem and problem.origin.kind == "environment" for problem in problems)
