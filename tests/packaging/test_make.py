"""Output of `make` during installation."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.distributions import REPOSITORY, clean_environment, copy_repository, projects, run
from support.needs import program, unavailable

STEPS = ("Making", "[1/3]", "[2/3]", "[3/3]")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return copy_repository(tmp_path / "clone")


def test_each_step_of_the_installation_is_reported(clone: Path) -> None:
    installers = ["PIP=true", "UV=true", f"PYTHON={sys.executable} -I"]
    command = [program("make"), *installers, ".venv/serve.stamp"]
    # Variables of the outer make, which runs the tests, would make this one print its directory.
    environment = {name: value for name, value in clean_environment().items() if not name.startswith("MAKE")}
    result = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=True)
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(STEPS)
    assert not any("--require-hashes" in line for line in lines)


def test_the_installers_show_progress_only_on_a_terminal(clone: Path) -> None:
    assert "--quiet" in dry_run(clone, subprocess.PIPE)
    reader, terminal = pty.openpty()
    try:
        commands = dry_run(clone, terminal)
    finally:
        os.close(terminal)
        os.close(reader)
    assert "pip install  --disable-pip-version-check" in commands
    assert "--quiet" not in commands


def dry_run(clone: Path, stderr: int) -> str:
    command = [program("make"), "--dry-run", f"PYTHON={sys.executable}", ".venv/serve.stamp"]
    return subprocess.run(
        command, cwd=clone, env=clean_environment(), stdout=-1, stderr=stderr, text=True, check=True
    ).stdout


def test_every_package_is_built_into_one_folder(clone: Path) -> None:
    venv = REPOSITORY / ".venv"
    if not (venv / "serve.stamp").exists():
        unavailable("the environment that make installs")
    run([program("make"), "dist", f"VENV={venv}", "-o", str(venv / "serve.stamp")], clone)
    built = {path.name for path in (clone / "dist").iterdir()}
    names = [project.replace("plugins/", "pressroom_").replace("core", "pressroom") for project in projects(clone)[1:]]
    wheels = {f"{name}-0.1.0-py3-none-any.whl" for name in names}
    assert built == wheels | {f"{name}-0.1.0.tar.gz" for name in names}


def test_a_release_is_built_by_make_and_published_without_a_stored_secret() -> None:
    text = (REPOSITORY / ".github/workflows/release.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    assert "make dist" in [step.get("run") for step in jobs["build"]["steps"]]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in text


def test_the_readme_says_where_the_command_is() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert ".venv/bin/pressroom" in readme.partition("## Call a tool")[0]
