"""Sites to crawl."""

from pathlib import Path

import pytest
from support.origins import Authority

from .sites import NAME, World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    authority = Authority()
    folder: Path = tmp_path_factory.mktemp("certificates")
    return World(authority, authority.server_context(folder, NAME, "example.org"))
