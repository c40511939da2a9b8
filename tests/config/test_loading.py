"""Loading: which file is read, precedence, where each value comes from, and reporting all problems at once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pressroom.config import ConfigProblem, InvalidConfig, Settings, load
from pressroom.errors import ConfigError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, name: str = "pressroom.toml") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def problems(
    text: str = "", environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> tuple[ConfigProblem, ...]:
    with pytest.raises(InvalidConfig) as caught:
        load(write(text), environ or {}, overrides)
    return caught.value.problems


def test_everything_has_its_default_without_a_file_and_variables() -> None:
    loaded = load(environ={})
    assert loaded.settings == Settings()
    assert loaded.file is None
    assert str(loaded.origin_of("server.port")) == "default"


def test_the_file_in_the_current_folder_is_read_if_present() -> None:
    write("[server]\nport = 1234\n")
    loaded = load(environ={})
    assert loaded.settings.server.port == 1234
    assert str(loaded.origin_of("server.port")) == "pressroom.toml:2"
    assert str(loaded.origin_of("server")) == "pressroom.toml:1"
    assert str(loaded.origin_of("server.host")) == "default"


def test_the_argument_overrides_the_file_named_by_a_variable() -> None:
    write("[server]\nport = 1\n")
    write("[server]\nport = 2\n", "second.toml")
    third = write("[server]\nport = 3\n", "third.toml")
    environ = {"PRESSROOM_CONFIG": "second.toml"}
    assert load(environ=environ).settings.server.port == 2
    assert load(third, environ).settings.server.port == 3
    assert load(environ={"PRESSROOM_CONFIG": ""}).settings.server.port == 1


@pytest.mark.parametrize("environ", [{}, {"PRESSROOM_CONFIG": "gone.toml"}])
def test_a_named_file_must_exist(environ: dict[str, str]) -> None:
    write("")
    with pytest.raises(InvalidConfig, match=r"gone\.toml: there is no such file"):
        load(None if environ else Path("gone.toml"), environ)


def test_a_dangling_symlink_is_reported_as_missing() -> None:
    Path("pressroom.toml").symlink_to("gone.toml")
    with pytest.raises(InvalidConfig, match="there is no such file"):
        load(environ={})


def test_the_command_line_overrides_the_environment_and_the_file() -> None:
    write("[server]\nhost = 'file'\nport = 1\ntrusted_proxies = 1\n")
    loaded = load(
        environ={"PRESSROOM_SERVER__HOST": "environment", "PRESSROOM_SERVER__PORT": "2"},
        overrides={"server.port": 3, "server.host": None, "executors": {"threads": 4}},
    )
    server = loaded.settings.server
    assert (server.trusted_proxies, server.host, server.port, loaded.settings.executors.threads) == (
        1,
        "environment",
        3,
        4,
    )
    assert str(loaded.origin_of("server.trusted_proxies")) == "pressroom.toml:4"
    assert str(loaded.origin_of("server.host")) == "PRESSROOM_SERVER__HOST"
    assert str(loaded.origin_of("server.port")) == "command line"
    assert loaded.origin_of("executors.threads").kind == "command line"


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_SERVER__PORT", "4321")
    assert load().settings.server.port == 4321
    assert load(environ={}).settings.server.port == 8000


def test_all_problems_are_reported_together_in_order_of_origin() -> None:
    all_problems = problems(
        "[server]\nport = 70000\nprt = 1\n\n[loging]\nlevel = 'info'\n",
        {"PRESSROOM_EXECUTORS__THREADS": "many", "PRESSROOM_LIMITS__BACKEN": "redis"},
        {"branding.accent": "red"},
    )
    assert [str(problem.origin) for problem in all_problems] == [
        "pressroom.toml:2",
        "pressroom.toml:3",
        "pressroom.toml:5",
        "PRESSROOM_EXECUTORS__THREADS",
        "PRESSROOM_LIMITS__BACKEN",
        "command line",
    ]


def test_a_problem_has_the_key_the_bounds_and_the_value() -> None:
    (problem,) = problems("[server]\nport = 70000\n")
    assert str(problem) == "pressroom.toml:2: server.port: must be between 0 and 65535 (got 70000)"


@pytest.mark.parametrize("key", ["data", "meta", "error", "tools", "platform"])
def test_the_promotional_block_cannot_replace_a_member_of_responses(key: str) -> None:
    (problem,) = problems(f"[branding]\nkey = '{key}'\n")
    assert "branding.key: must not be the name of another member of responses (baseUrl, data, error," in str(problem)


def test_a_syntax_error_does_not_hide_problems_in_the_environment() -> None:
    all_problems = problems("[server\n", {"PRESSROOM_SERVER__PORT": "http"})
    assert [problem.origin.kind for problem in all_problems] == ["file", "environment"]


@pytest.mark.parametrize(
    ("text", "line", "meant"),
    [
        ("[server]\nprot = 1\n", 2, "did you mean port?"),
        ("[sever]\nport = 1\n", 1, "did you mean server?"),
        ("[tools.qr-code-generator]\n\nrate-limit = '5/h'\n", 3, "did you mean rate_limit?"),
        ("[plugins.shout]\nconfg = {}\n", 2, "did you mean config?"),
    ],
)
def test_an_unknown_key_is_refused_with_the_closest_one(text: str, line: int, meant: str) -> None:
    (problem,) = problems(text)
    assert problem.origin.line == line
    assert meant in problem.problem


def test_a_key_in_the_wrong_table_has_a_hint_to_the_right_one() -> None:
    top, level, interval = problems("[server]\nbase_url = 'https://a'\nlevel = 'info'\n[cache]\nprune_interval = 5\n")
    assert top.hint == "base_url is at the top of the file, before the first [table]."
    assert level.hint == "level is in [logging]."
    assert interval.hint == "prune_interval is in [storage]."


def test_invalid_names_of_plugins_tools_and_plans_are_refused() -> None:
    plan, plugin, tool = sorted(
        problems("[plugins.QR-Code]\n[tools.'qr code']\n[plans.Free]\n"), key=lambda problem: problem.key
    )
    assert (plan.key, plugin.key, tool.key) == ("plans.Free", "plugins.QR-Code", 'tools."qr code"')
    assert "^[a-z][a-z0-9_]{1,31}$" in plugin.problem


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[executors]\nthreads = true\n", "must be a whole number"),
        ("[executors]\nthreads = 1.5\n", "must be a whole number"),
        ("[server]\nhost = ''\n", "must be at least 1 character"),
        ("[storage]\nprune_interval = nan\n", "must be a finite number"),
        ("[storage]\nprune_interval = '2w'\n", 'such as "90s" or "24h"'),
        ("[storage]\nretention = '1h'\n", "must be at least 10800"),
        ("secret_key = 'fifteen bytes -'\n", "must have at least 16 bytes (got 15)"),
        ("server = 5\n", "must be an object"),
        ("[[server]]\nport = 1\n", "must be an object"),
    ],
)
def test_a_value_of_the_wrong_type_or_size_is_explained(text: str, says: str) -> None:
    (problem,) = problems(text)
    assert says in problem.problem
    assert problem.origin.line in (1, 2)


SECRET = "hunter2-correct-horse"


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        (f"[storage]\nredis = 'http://u:{SECRET}@h'\n", {}),
        (f"[storage]\nredis = ['{SECRET}']\n", {}),
        (f"[metrics]\ntoken = {{ a = '{SECRET}' }}\n", {}),
        (f"storage = '{SECRET}'\n", {}),
        (f"[storage]\nsecret_acess_key = '{SECRET}'\n", {}),
        (f"secret_key = '{SECRET}\n", {}),
        (f"secret_key = '{SECRET[:15]}'\n", {}),
        ("", {"PRESSROOM_STORAGE": SECRET}),
        ("", {"PRESSROOM_STORAGE__REDIS": SECRET}),
        ("", {"PRESSROOM_SECRETKEY": SECRET}),
        ("", {"PRESSROOM_PLUGINS__SHOUT__CONFIG": SECRET}),
        ("", {"PRESSROOM_PLUGINS": SECRET}),
    ],
)
def test_no_message_contains_a_secret(text: str, environ: dict[str, str]) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(write(text), environ)
    error = caught.value
    assert error.problems
    assert SECRET[:15] not in f"{error!r} {error} {error.hint} {[problem.as_data() for problem in error.problems]}"
    assert error.__suppress_context__ or error.__context__ is None


def test_the_error_is_a_config_error_that_survives_pickling() -> None:
    with pytest.raises(InvalidConfig) as caught:
        load(write("[server]\nport = 70000\nhost = 5\n"), {})
    assert isinstance(caught.value, ConfigError)
    restored = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(restored, InvalidConfig)
    assert restored.problems == caught.value.problems
    assert str(restored).startswith("the configuration has 2 problems:\n- pressroom.toml:2: server.port: must be")


def test_keys_with_dots_and_quotes_have_origins_too() -> None:
    loaded = load(
        write('[plugins.shout.config]\n"a.b" = 1\nlist = [{x = 1}]\n[[plugins.shout.config.sites]]\nurl = "u"\n')
    )
    assert str(loaded.origin_of('plugins.shout.config."a.b"')) == "pressroom.toml:2"
    assert str(loaded.origin_of("plugins.shout.config.list.0.x")) == "pressroom.toml:3"
    assert str(loaded.origin_of("plugins.shout.config.sites.0.url")) == "pressroom.toml:5"
