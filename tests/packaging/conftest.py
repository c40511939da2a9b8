"""Published packages, built from what a fresh clone contains."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.distributions import Built, Environment, built_once


@pytest.fixture(scope="session")
def _built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    return built_once(tmp_path_factory)


@pytest.fixture(scope="session")
def repository(_built: tuple[Path, Built]) -> Path:
    """A pristine copy of the repository."""
    return _built[0]


@pytest.fixture(scope="session")
def built(_built: tuple[Path, Built]) -> Built:
    """The wheel and the source distribution of every package."""
    return _built[1]


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the host and the built-in plugins installed from wheels."""
    environment = Environment(tmp_path_factory.mktemp("installed"))
    plugins = [wheel for project, wheel in built.wheels.items() if project.startswith("plugins/")]
    environment.install(f"{built.wheels['core']}[cjk,graphics,postgresql,redis,s3,template]", *plugins)
    return environment
