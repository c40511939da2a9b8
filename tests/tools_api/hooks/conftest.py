"""Plugins that tests write and start."""

from pathlib import Path

import pytest
from support.shared_hooks import Plugins, Start


@pytest.fixture
def plugins(tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    folder = tmp_path / "third parties"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return Plugins(folder, start)
