"""The `pressroom` command, run by people and by programs."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.commands import Done, run_command

COMMAND = [sys.executable, "-c", "import sys; from pressroom.cli import main; sys.exit(main())"]


def run(*arguments: str, cwd: Path, **variables: str) -> Done:
    return run_command(arguments, cwd=cwd, env=environment(**variables))


def run_process(*arguments: str, cwd: Path, encoding: str = "utf-8", **variables: str) -> Done:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment(**variables),
        capture_output=True,
        encoding=encoding,
        check=False,
        timeout=60,
    )


def environment(**variables: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PRESSROOM_", "COV_"))}
    return {**inherited, "NO_COLOR": "", "PYTHONUTF8": "1", **variables}


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    (tmp_path / "pressroom.toml").write_text("[server]\nport = 70000\nprt = 1\n")
    return tmp_path


def test_a_valid_configuration_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("[server]\nport = 1\n")
    result = run_process("config", "check", cwd=tmp_path, PRESSROOM_LOGGING__LEVEL="debug")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "The configuration is fine (pressroom.toml and PRESSROOM_LOGGING__LEVEL).\n"


def test_no_configuration_is_valid_too(tmp_path: Path) -> None:
    result = run("config", "check", "--json", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {"ok": True, "file": None, "variables": []}


def test_problems_go_to_standard_error_with_exit_code_one(wrong: Path) -> None:
    result = run("config", "check", cwd=wrong, PRESSROOM_SERVER_HOST="::")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "Error: the configuration has 3 problems:",
        "  pressroom.toml:2: server.port: must be between 0 and 65535 (got 70000)",
        "  pressroom.toml:3: server.prt: unknown field; did you mean port?",
        "  PRESSROOM_SERVER_HOST: is not the name of a setting",
        "      Did you mean PRESSROOM_SERVER__HOST?",
    ]


@pytest.mark.parametrize(
    "arguments", [["config", "check", "--json"], ["--json", "config", "show"], ["config", "--json", "show", "--origin"]]
)
def test_json_problems_are_one_document_on_standard_output(wrong: Path, arguments: list[str]) -> None:
    result = run(*arguments, cwd=wrong)
    assert (result.returncode, result.stderr) == (1, "")
    error = json.loads(result.stdout)["error"]
    assert (error["code"], error["message"]) == ("config_error", "the configuration has 2 problems")
    assert error["problems"][0] == {
        "key": "server.port",
        "problem": "must be between 0 and 65535 (got 70000)",
        "origin": {"kind": "file", "name": "pressroom.toml", "line": 2},
        "hint": "",
    }


def test_a_single_problem_is_the_message_itself(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("[server]\nport = here\n")
    result = run("config", "check", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(
        "Error: pressroom.toml:2:8: not valid TOML: the value is not valid\nPut text in quotes"
    )
    error = json.loads(run("config", "check", "--json", cwd=tmp_path).stdout)["error"]
    assert error["problems"][0]["origin"] == {"kind": "file", "name": "pressroom.toml", "line": 2, "column": 8}


@pytest.mark.parametrize("before", [True, False])
def test_the_config_option_works_before_and_after_the_command(tmp_path: Path, before: bool) -> None:
    (tmp_path / "other.toml").write_text("[server]\nport = 4321\n")
    option = ["--config", "other.toml"]
    arguments = [*option, "config", "show"] if before else ["config", "show", *option]
    assert re.search(r"^server\.port +4321$", run(*arguments, cwd=tmp_path).stdout, re.MULTILINE)


def test_a_missing_config_file_is_an_error(tmp_path: Path) -> None:
    result = run("config", "check", "--config", "gone.toml", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: gone.toml: there is no such file\nCheck --config and PRESSROOM_CONFIG")


def test_show_masks_secrets_and_names_origins(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text(
        "[storage]\nredis = 'redis://:hunter2@localhost'\n[plugins.shout.config]\npassword = 'hunter2'\nvolume = 11\n"
    )
    human = run("config", "show", "--origin", cwd=tmp_path, PRESSROOM_SECRET_KEY="hunter2" * 9)
    machine = run("config", "show", "--origin", "--json", cwd=tmp_path, PRESSROOM_SECRET_KEY="hunter2" * 9)
    assert (human.returncode, machine.returncode, human.stderr + machine.stderr) == (0, 0, "")
    assert "hunter2" not in human.stdout + machine.stdout
    assert re.search(r"^storage\.redis +\*{8} +pressroom\.toml:2$", human.stdout, re.MULTILINE)
    assert re.search(r"^secret_key +\*{8} +PRESSROOM_SECRET_KEY$", human.stdout, re.MULTILINE)
    assert re.search(r"^server\.port +8000 +default$", human.stdout, re.MULTILINE)
    document = json.loads(machine.stdout)
    assert document["settings"]["plugins"]["shout"]["config"] == {"password": "********", "volume": 11}
    assert document["origins"]["plugins.shout.config.volume"] == {"kind": "file", "name": "pressroom.toml", "line": 5}
    assert document["file"] == "pressroom.toml"


@pytest.mark.parametrize("arguments", [["config", "schema"], ["config", "schema", "--json"]])
def test_the_schema_is_a_json_document(tmp_path: Path, arguments: list[str]) -> None:
    result = run(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert "server" in json.loads(result.stdout)["properties"]


@pytest.mark.parametrize(
    ("arguments", "says", "hint"),
    [
        (["cofnig"], "There is no command 'cofnig'. Did you mean config?", "Try 'pressroom --help'."),
        (["config", "chekc"], "There is no command 'chekc'. Did you mean check?", "Try 'pressroom config --help'."),
        (["config", "show", "--orign"], "No such option", "Try 'pressroom config show --help'."),
        (["config", "check", "surplus"], "unexpected extra argument", "Try 'pressroom config check --help'."),
    ],
)
def test_a_usage_error_has_exit_code_two_and_a_hint(tmp_path: Path, arguments: list[str], says: str, hint: str) -> None:
    human = run(*arguments, cwd=tmp_path)
    assert (human.returncode, human.stdout) == (2, "")
    assert says in human.stderr
    assert human.stderr.endswith(f"{hint}\n")
    machine = run(*arguments, "--json", cwd=tmp_path)
    assert (machine.returncode, machine.stderr) == (2, "")
    error = json.loads(machine.stdout)["error"]
    assert (error["code"], error["hint"]) == ("usage_error", hint)
    assert says in error["message"]


def test_no_command_shows_the_help_and_is_a_usage_error(tmp_path: Path) -> None:
    result = run(cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Usage: pressroom" in result.stderr
    assert "config" in result.stderr


def test_the_version_is_shown(tmp_path: Path) -> None:
    result = run("--version", cwd=tmp_path)
    assert re.fullmatch(r"pressroom \d+\.\d+\.\d+\S*\n", result.stdout)


def test_the_help_lists_every_command_without_heavy_imports(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pressroom.cli import COMMANDS, main\nmain(['--help'])\n"
        "print(sorted(COMMANDS), file=sys.stderr)\n"
        "print(sorted({'sanic', 'pydantic', 'rich', 'pluggy', 'PIL', 'jinja2'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    listed = re.findall(r"^  (\w+) +\S", result.stdout.partition("Commands:")[2], re.MULTILINE)
    assert str(sorted(listed)) == result.stderr.strip()
    assert result.stdout.splitlines()[-1] == "[]"


SERVING = {"aiohttp", "alembic", "httpcore", "httpx", "limits", "mako", "prometheus_client", "snowballstemmer"}
"""Packages that are slow to import and needed only to serve requests, migrate the database or read articles."""

GENERATORS_ALONE = "builtin_plugins = false\n[plugins.qr_code_generator]\n[plugins.image_generator]\n"


@pytest.mark.parametrize(
    ("arguments", "not_imported"),
    [
        (("plugins", "list"), {*SERVING, "sanic", "pebble"}),
        (("catalog",), {*SERVING, "sanic", "pebble"}),
        (("openapi",), {*SERVING, "sanic", "pebble"}),
        (("x", "--help"), {*SERVING, "sanic", "pebble"}),
        (("keys", "list", "ada@example.org"), {*SERVING, "sanic", "pebble"}),
    ],
)
def test_a_command_does_not_import_server_dependencies(
    tmp_path: Path, arguments: Sequence[str], not_imported: set[str]
) -> None:
    imports_none_of(not_imported, arguments, tmp_path)


def test_a_command_of_a_server_without_articles_imports_no_database(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text(GENERATORS_ALONE)
    not_imported = {*SERVING, "jinja2", "joserfc", "sqlalchemy", "sanic", "pebble", "PIL"}
    imports_none_of(not_imported, ("plugins", "list"), tmp_path)


def test_installed_packages_are_listed_without_loading_the_server(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pressroom.cli.installing import installed_packages\n"
        "print('pressroom-qr-code-generator' in installed_packages())\n"
        "print(sorted({'sqlalchemy', 'pydantic', 'structlog', 'rich', 'pluggy'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "True\n[]\n"


def imports_none_of(not_imported: set[str], arguments: Sequence[str], tmp_path: Path) -> None:
    variables = {"PRESSROOM_STORAGE__PATH": str(tmp_path / "data")}
    assert run("users", "add", "ada@example.org", cwd=tmp_path, **variables).returncode == 0
    program = (
        f"import sys\nfrom pressroom.cli import main\ncode = main({[*arguments]!r})\n"
        f"print(sorted({not_imported!r} & sys.modules.keys()), file=sys.stderr)\nsys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (result.returncode, result.stderr.splitlines()[-1]) == (0, "[]")


def test_a_closed_output_pipe_causes_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("".join(f"[tools.tool-{number}]\n" for number in range(3000)))
    with subprocess.Popen(
        [*COMMAND, "config", "show"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [("config", "show"), ("config", "show", "--json"), ("--help",)])
def test_a_result_that_the_disk_has_no_room_for_causes_no_traceback(tmp_path: Path, arguments: Sequence[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*COMMAND, *arguments], cwd=tmp_path, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    problem = "Error: the result cannot be written: No space left on device\nWhat the command changed stays changed.\n"
    assert (result.returncode, result.stderr.decode()) == (1, problem)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", [("config", "show"), ("config", "show", "--json"), ("users", "list")])
def test_a_command_without_standard_streams_works(tmp_path: Path, closed: str, arguments: Sequence[str]) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    result = subprocess.run(
        [*shell, *COMMAND, *arguments], cwd=tmp_path, env=environment(PRESSROOM_STORAGE__PATH="data"), check=False
    )
    assert result.returncode == 0


def test_text_the_locale_cannot_encode_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("[branding]\nname = 'Zürich ✓'\n", encoding="utf-8")
    human = run_process("config", "show", cwd=tmp_path, encoding="latin-1", PYTHONIOENCODING="latin-1")
    machine = run_process("config", "show", "--json", cwd=tmp_path, encoding="latin-1", PYTHONIOENCODING="latin-1")
    assert (human.returncode, human.stderr) == (0, "")
    assert r"Zürich \u2713" in human.stdout
    assert json.loads(machine.stdout)["settings"]["branding"]["name"] == "Zürich ✓"


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.mark.parametrize("arguments", [["config", "show"], ["config", "show", "--json"], ["config", "check"]])
def test_escape_sequences_in_values_and_names_never_reach_the_terminal(tmp_path: Path, arguments: list[str]) -> None:
    quoted = json.dumps(ESCAPES)
    (tmp_path / "pressroom.toml").write_text(f"[plugins.shout.config]\n{quoted} = 1\n[branding]\ntagline = {quoted}\n")
    result = run(*arguments, cwd=tmp_path)
    assert result.returncode == 0
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.stdout + result.stderr)
    (tmp_path / "pressroom.toml").write_text(f"[logging]\nlevel = {quoted}\n{quoted} = 1\n")
    result = run(*arguments, f"--config={tmp_path / 'pressroom.toml'}", cwd=tmp_path)
    assert result.returncode == 1
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(result.stdout + result.stderr)


def in_terminal(*arguments: str, cwd: Path, command: Sequence[str] = COMMAND, **variables: str) -> str:
    """Run a command in a 40-column terminal and return its output."""
    main_end, terminal = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    environ = {**environ, "TERM": "xterm-256color", "COLUMNS": "40", "PYTHONUTF8": "1", "NO_COLOR": "", **variables}
    with subprocess.Popen(
        [*command, *arguments], cwd=cwd, env=environ, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        output = b""
        while True:
            try:
                chunk = os.read(main_end, 4096)
            except OSError:  # Linux reports the end of a terminal's output as EIO
                break
            if not chunk:
                break
            output += chunk
        process.wait(timeout=60)
    os.close(main_end)
    return output.decode()


@pytest.mark.parametrize("no_color", ["", "1"])
def test_long_values_are_wrapped_on_a_terminal_without_loss(tmp_path: Path, no_color: str) -> None:
    value = "".join(f"{number:03d}" for number in range(40))
    (tmp_path / "pressroom.toml").write_text(f"[branding]\ntagline = '{value}'\n")
    output = in_terminal("config", "show", cwd=tmp_path, NO_COLOR=no_color)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    lines = plain.splitlines()
    assert max(map(len, lines)) <= 40
    column = next(line.index("Value") for line in lines if "Value" in line)
    assert value in "".join(line[column:].strip() for line in lines)
    assert "…" not in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", output) or not no_color


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_errors_are_coloured_on_a_terminal_unless_disabled(wrong: Path, no_color: str, coloured: bool) -> None:
    output = in_terminal("config", "check", cwd=wrong, NO_COLOR=no_color)
    assert ("\x1b[31m" in output) is coloured
    assert "server.port: must be between 0 and 65535 (got 70000)" in output


@pytest.mark.parametrize(("json_mode", "shown"), [(False, True), (True, False)])
def test_progress_is_shown_on_a_terminal_except_with_json(tmp_path: Path, json_mode: bool, shown: bool) -> None:
    program = f"""
from pressroom.cli.output import Output
with Output(json={json_mode}).progress("Reading [red]\\x1b]0;owned\\x07", total=2) as progress:
    progress.advance()
    progress.advance()
"""
    output = in_terminal(cwd=tmp_path, command=[sys.executable, "-c", program])
    assert (r"Reading [red]\x1b]0;owned\x07" in re.sub(r"\s+", " ", output)) is shown
    assert "\x1b]0;" not in output


def test_piped_output_has_one_line_per_row_without_colour(tmp_path: Path) -> None:
    value = "word " * 30 + "end"
    (tmp_path / "pressroom.toml").write_text(f"[branding]\ntagline = '{value}'\n")
    result = run("config", "show", cwd=tmp_path, COLUMNS="40", TERM="xterm-256color")
    assert re.search(rf"^branding\.tagline +{value}$", result.stdout, re.MULTILINE)
    assert "\x1b" not in result.stdout


def test_the_installed_script_runs_this_command(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("pressroom")
    result = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.startswith("pressroom ")


def test_explain_finds_the_plan_of_a_tool_or_suggests_one(tmp_path: Path) -> None:
    variables = {"PRESSROOM_STORAGE__PATH": str(tmp_path / "data")}
    result = run("explain", "create_content", cwd=tmp_path, **variables)
    assert result.returncode == 0
    assert "free sees" in result.stdout
    assert "For callers on the plan 'free'" in result.stderr
    refused = run("explain", "create_content", "--plan", "anonymous", cwd=tmp_path, **variables)
    assert refused.returncode == 1
    assert "--plan free" in refused.stderr


def test_a_path_of_the_wrong_type_is_explained_without_python_terms(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("[storage]\npath = 5\n")
    refused = run("config", "check", cwd=tmp_path)
    assert "storage.path: must be a path, as a string" in refused.stdout + refused.stderr
    assert "pathlib" not in refused.stdout + refused.stderr


UNREADABLE = "x" * 300
"""A name too long for the file system. Like a folder that a user may not enter, it fails at the first look."""


@pytest.mark.parametrize(
    ("variable", "check"),
    [
        ("PRESSROOM_STORAGE__PATH", "database"),
        ("PRESSROOM_PLUGINS_DIR", "plugin plugins_dir"),
        ("PRESSROOM_BRANDING__TEMPLATES", "templates"),
        ("PRESSROOM_BRANDING__STYLESHEET", "templates"),
    ],
)
def test_doctor_reports_what_it_cannot_look_at(variable: str, check: str, tmp_path: Path) -> None:
    variables = {"PRESSROOM_STORAGE__PATH": str(tmp_path / "data"), variable: str(tmp_path / UNREADABLE)}
    result = run("doctor", "--json", cwd=tmp_path, **variables)
    problems = {row["check"]: row["message"] for row in json.loads(result.stdout)["checks"] if row["status"] != "ok"}
    assert "File name too long" in problems[check]


@pytest.mark.parametrize(
    "arguments",
    [("migrate", "--check"), ("backup", UNREADABLE), ("backup", f"{UNREADABLE}/backup.tar"), ("users", "list")],
)
def test_a_command_says_what_it_cannot_look_at(arguments: Sequence[str], tmp_path: Path) -> None:
    path = "data" if arguments[0] == "backup" else UNREADABLE
    result = run(*arguments, cwd=tmp_path, PRESSROOM_STORAGE__PATH=str(tmp_path / path))
    assert result.returncode == 1
    assert "File name too long" in result.stderr
