"""Test runs as a contributor sees them: without required programs, interrupted, and two at once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import asyncpg
import pytest
from support.coverage import FLOOR
from support.needs import PROGRAMS
from support.polling import wait_until
from support.run import POSTGRESQL, RUN_ID

TESTS = Path(__file__).parents[1]

WANTING = """
from support.needs import program

def test_one():
    program("memcached")

def test_two():
    program("hugo")

def test_three():
    program("hugo")
"""

ENDLESS = """
import subprocess
from support.databases import postgresql_url

def test_it():
    with postgresql_url() as url:
        sleeping = subprocess.Popen(["sleep", "600"], start_new_session=True)
        print("STARTED", sleeping.pid, url.rpartition("/")[2], flush=True)
        sleeping.wait()
"""

FOLDER = """
import pytest

@pytest.fixture(scope="package")
def server():
    print("STARTED")
    yield
    print("ENDED")
"""

PORTS = """
import sys
from support.needs import free_port
print(*(free_port() for _ in range(50)), flush=True)
sys.stdin.read()
"""


def environment(**variables: str) -> dict[str, str]:
    """Return the environment for a separate test run."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SLIPCOVER_", "CI"))
    }
    inherited.pop(RUN_ID, None)
    return {**inherited, "PYTHONPATH": str(TESTS), **variables}


def command(folder: Path, content: str, *plugins: str) -> list[str]:
    """Return the command that runs this test file with plugins from `support`."""
    file = folder / "test_it.py"
    file.write_text(content)
    options = [part for plugin in plugins for part in ("-p", f"support.{plugin}")]
    return [
        sys.executable,
        "-m",
        "pytest",
        "-s",
        "-p",
        "no:randomly",
        "-c",
        os.devnull,
        "--rootdir",
        str(folder),
        *options,
        str(file),
    ]


def run_without_programs(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, WANTING, "missing"),
        env=environment(PATH=str(folder), **variables),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_missing_programs_are_named_once_with_the_command_that_installs_them(tmp_path: Path) -> None:
    result = run_without_programs(tmp_path)
    assert result.returncode == 0, result.stdout
    assert "3 tests were skipped for want of hugo, memcached. This installs all of them:" in result.stdout
    assert result.stdout.count("apt-get install --no-install-recommends hugo memcached\n") == 1
    assert "3 skipped" in result.stdout


def test_a_missing_program_in_ci_is_a_failure(tmp_path: Path) -> None:
    result = run_without_programs(tmp_path, CI="true")
    assert result.returncode == 1
    assert "hugo is not installed (Debian package hugo)" in result.stdout
    assert "3 failed" in result.stdout


def test_the_readme_states_the_required_coverage() -> None:
    assert f"fails below\n{FLOOR} %" in (TESTS.parent / "README.md").read_text("utf-8")


def test_ci_installs_what_the_tests_need() -> None:
    assert "tests/support/programs.txt" in (TESTS.parent / ".ci" / "run").read_text("utf-8")
    assert PROGRAMS["tesseract"] == "tesseract-ocr"


def test_shared_fixtures_of_a_folder_end_with_it(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "conftest.py").write_text(FOLDER)
        for number in (1, 2):
            test = f"def test_it(server):\n    print('{name.upper()}')\n"
            (tmp_path / name / f"test_{number}.py").write_text(test)
    options = ["-s", "-q", "-p", "no:randomly", "-c", os.devnull, "--rootdir", str(tmp_path), "--import-mode=importlib"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "support.folders", str(tmp_path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    words = [word for word in result.stdout.split() if word.strip(".").isupper()]
    events = [word.strip(".") for word in words]
    assert events == [word for name in ("FIRST", "SECOND") for word in ("STARTED", name, name, "ENDED")], result.stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_run_leaves_no_process_and_no_database(tmp_path: Path, number: signal.Signals) -> None:
    running = subprocess.Popen(
        command(tmp_path, ENDLESS, "cleanup"), env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    try:
        started = next(line for line in running.stdout if "STARTED" in line)
        process, database = started.split()[-2:]
        running.send_signal(number)
        running.wait(60)
    finally:
        running.kill()
        running.communicate()
    wait_until(lambda: not Path("/proc", process, "environ").exists(), seconds=60)
    wait_until(lambda: database not in databases(), seconds=60)


def test_concurrent_runs_never_get_the_same_port() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", PORTS],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    ports: list[str] = []
    for run in runs:
        assert run.stdout is not None
        ports += run.stdout.readline().split()
    for run in runs:
        run.communicate(timeout=60)
    assert len(ports) == 150
    assert len(set(ports)) == 150


def databases() -> list[str]:
    """Return the names of all databases on the server."""

    async def ask() -> list[str]:
        connection = await asyncpg.connect(POSTGRESQL, timeout=10)
        try:
            return [row[0] for row in await connection.fetch("SELECT datname FROM pg_database")]
        finally:
            await connection.close()

    return asyncio.run(ask())
