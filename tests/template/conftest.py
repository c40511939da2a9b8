"""A plugin created from the template, and environments to try it in."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.distributions import Built, Environment, build, built_once

NAME = "my-tool"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheels of the host and the built-in plugins."""
    return built_once(tmp_path_factory)[1]


@pytest.fixture(scope="session")
def workshop(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A plugin author's environment: the installed host and the tools for testing a plugin."""
    environment = Environment(tmp_path_factory.mktemp("workshop"))
    host, content = f"{built.wheels['core']}[postgresql,template,testing]", built.wheels["plugins/content"]
    environment.install(host, content, "mypy", "ruff", "hatchling", "editables")
    return environment


@pytest.fixture(scope="session")
def project(workshop: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project created by the installed `pressroom new`, installed as its README says."""
    folder = tmp_path_factory.mktemp("projects")
    workshop.pressroom("new", NAME, "--into", folder)
    project_folder = folder / f"pressroom-{NAME}"
    workshop.install("--no-build-isolation", "--editable", f"{project_folder}[test,lint]")
    return project_folder


@pytest.fixture(scope="session")
def wheel(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of that project."""
    (archive,) = build(project, tmp_path_factory.mktemp("wheel"), "wheel")
    return archive


@pytest.fixture(scope="session")
def operator(built: Built, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A server operator's environment: the host, a built-in plugin and the new plugin, from wheels."""
    environment = Environment(tmp_path_factory.mktemp("operator"))
    environment.install(built.wheels["core"], built.wheels["plugins/qr_code_generator"], wheel)
    return environment
