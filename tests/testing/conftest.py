"""A third-party plugin installed next to the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.third_party import write_plugin


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path for plugins."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def install(site: Path) -> Callable[..., str]:
    """Return a function that installs a plugin with the given source and returns its ID."""

    def write(*source: str) -> str:
        return write_plugin(site, *source)

    return write
