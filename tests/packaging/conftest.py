"""What is published, built from what a fresh clone would hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.distributions import Built, Environment, build_all, copy_repository


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, in which nothing has been run yet."""
    return copy_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="session")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel and the source distribution of every project."""
    return build_all(repository, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the host and the built-in plugins, from their wheels."""
    environment = Environment(tmp_path_factory.mktemp("installed"))
    plugins = [wheel for project, wheel in built.wheels.items() if project.startswith("plugins/")]
    environment.install(f"{built.wheels['core']}[graphics,postgresql,redis,s3,template]", *plugins)
    return environment
