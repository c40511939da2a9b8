"""Terminal output with every built-in plugin: brief if all is well, problems first."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import run_command
from support.server import command_environment

ALL = "".join(
    f"[plugins.{name}]\n"
    for name in ("content", "seo", "images", "search_performance", "wordpress", "ghost", "devto", "git", "webhook")
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "pressroom.toml").write_text(ALL)
    return command_environment(tmp_path)


def test_doctor_is_brief_without_problems(tmp_path: Path, environment: dict[str, str]) -> None:
    result = run_command(["doctor"], cwd=tmp_path, env=environment)
    assert result.returncode == 0
    lines = (result.stdout + result.stderr).splitlines()
    assert lines[0] == "No problems found."
    assert len(lines) <= 4
    assert re.fullmatch(r"\d\d fine, 0 warnings, 0 errors \(--verbose lists every check\)", lines[-1])


def test_doctor_lists_every_check_on_request_and_in_json(tmp_path: Path, environment: dict[str, str]) -> None:
    verbose = run_command(["doctor", "--verbose"], cwd=tmp_path, env=environment)
    checks = json.loads(run_command(["doctor", "--json"], cwd=tmp_path, env=environment).stdout)["checks"]
    rows = verbose.stdout.splitlines()[1:]
    assert len(rows) == len(checks) > 20
    (content,) = (row for row in rows if "plugin content" in row)
    assert len(content) < 200
    (full,) = (check for check in checks if check["check"] == "plugin content")
    assert "tool create_content" in full["message"]


def test_doctor_lists_only_errors_and_warnings_errors_first(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "pressroom.toml").write_text('[storage]\nredis = "redis://127.0.0.1:1"\n')
    result = run_command(["doctor"], cwd=tmp_path, env=environment)
    assert result.returncode == 1
    statuses = [line.split()[0] for line in result.stdout.splitlines()[1:] if line.isascii() and "  " in line]
    assert statuses[0] == "ERROR"
    assert set(statuses) == {"ERROR", "WARNING"}
    assert statuses == sorted(statuses)


@pytest.mark.services
def test_start_up_on_a_terminal_is_brief_and_shows_the_url(tmp_path: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pressroom", "serve", "--port", "0"]
    reader, terminal = pty.openpty()
    environment |= {"COLUMNS": "100", "TERM": "xterm"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=terminal, stderr=terminal, stdin=terminal)
    os.close(terminal)
    text = b""
    try:
        while b"/setup?token=" not in text:
            text += os.read(reader, 65_536)
    finally:
        process.send_signal(signal.SIGTERM)
        while True:
            try:
                text += os.read(reader, 65_536) or b""
            except OSError:  # the terminal is closed: the process has exited
                break
        process.wait(60)
        os.close(reader)
    output = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode())
    assert "PRODUCTION" not in output
    assert r"\u001b" not in output
    table, _, end = output.partition("What it adds")[2].partition("\nTools ")
    assert len(table.splitlines()) < 30
    rows = dict(re.findall(r"^ *(\w+) +active +(.*?)[ \r]*$", table, re.MULTILINE))
    assert rows["account"] == "tools get_account_usage, get_job, list_activity"
    assert rows["qr_code_generator"] == "generator qr-code-generator"
    assert rows["wordpress"] == rows["ghost"] == "site connectors"
    assert re.match(r"\d+ tools, \d+ URLs, \d+ background jobs", rows["content"])
    assert "pressroom_" not in table
    assert "models" not in table
    url = r"http://127\.0\.0\.1:\d+"
    expected = [
        rf" *{url}/tools",
        rf"Dashboard +{url}/dashboard",
        rf"MCP endpoint +{url}/api/mcp",
        rf" +claude mcp add --transport http pressroom {url}/api/mcp",
        rf"Docs +{url}/openapi\.json \(HTTP API\), {url}/llms\.txt \(index\)",
        r"Data +/.+",
        r"There is no account yet\. Create the first one \(the link is valid for 24 hours\):",
        rf"{url}/setup\?token=\w+",
    ]
    for line, pattern in zip(end.splitlines(), expected, strict=False):
        assert re.fullmatch(pattern, line.strip("\r") if line.startswith(" ") else line.strip()), line
