"""The pytest plugin in a third-party project, whose tests run in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.third_party import HEAD, write_plugin

CONFIG = """
import pytest

@pytest.fixture(scope="session")
def pressroom_config():
    return {"plugins": {"PLUGIN": {}}}
"""

ALONE = CONFIG.replace("}}}", '}}, "builtin_plugins": False}')
"""The same without the built-in plugins, whose imports take most of the time of such a process."""

TESTS = """
import httpx
import pytest
from pressroom.testing import RunningHost, ToolFailed

def test_host(host):
    assert isinstance(host, RunningHost)
    assert httpx.get(host.url + "/readyz").status_code == 200

def test_http(http):
    assert http.post("/tools/shout/api/generate", json={"text": "a", "response": "binary"}).text == "A!"

def test_call_tool(call_tool):
    assert call_tool("measure_volume", text="hello") == {"letters": 5}
    with pytest.raises(ToolFailed) as refused:
        call_tool("measure_volume", txet="hello")
    assert refused.value.code == "validation_error"

@pytest.mark.parametrize("again", [1, 2])
def test_all_tests_share_the_host(host, again, seen=set()):
    seen.add(host.url)
    assert len(seen) == 1
"""

Suite = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Return a function that runs pytest on a project with these files, with warnings as errors."""

    def run(*arguments: str, plugin: str | None = None, **files: str) -> subprocess.CompletedProcess[str]:
        site = tmp_path / "site"
        site.mkdir()
        id_ = write_plugin(site, plugin) if plugin else write_plugin(site)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        for name, source in files.items():
            (tmp_path / f"{name}.py").write_text(source.replace("PLUGIN", id_))
        return subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-W",
                "error",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:randomly",
                *arguments,
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    return run


def test_the_command_line_can_opt_in_to_the_fixtures(suite: Suite) -> None:
    result = suite("-p", "pressroom.testing.plugin", conftest=CONFIG, test_it=TESTS)
    assert "5 passed" in result.stdout, result.stdout + result.stderr
    assert result.returncode == 0


ASKING = 'pytest_plugins = ["pressroom.testing.plugin"]\n'


@pytest.mark.parametrize(
    "files",
    [
        {"conftest": ASKING + ALONE, "test_it": TESTS},
        {"conftest": "import pressroom.testing.plugin\n", "test_it": ASKING + ALONE + TESTS},
    ],
    ids=["conftest", "a test module, although something has imported them before"],
)
def test_a_file_can_opt_in_to_the_fixtures(suite: Suite, files: dict[str, str]) -> None:
    result = suite(**files)
    assert "5 passed" in result.stdout, result.stdout + result.stderr
    assert result.returncode == 0


NOT_ASKING = """
import sys

def test_nothing_is_imported():
    assert "pressroom" not in sys.modules

def test_http(http):
    raise AssertionError("the fixture is there")
"""


def test_a_project_that_does_not_opt_in_has_no_fixtures_and_imports_nothing(suite: Suite) -> None:
    result = suite(test_it=NOT_ASKING)
    assert result.returncode == 1
    assert "fixture 'http' not found" in result.stdout
    assert "1 passed, 1 error" in result.stdout, result.stdout


def test_a_broken_plugin_fails_the_tests_with_the_reason(suite: Suite) -> None:
    misspelt = HEAD + "\n@hookimpl\ndef pressroom_generatros():\n    return []\n"
    result = suite("-p", "pressroom.testing.plugin", plugin=misspelt, conftest=ALONE, test_it=TESTS)
    assert result.returncode == 1
    assert "is broken (register): there is no hook pressroom_generatros" in result.stdout
    assert "did you mean pressroom_generators?" in result.stdout
