"""The documentation site, built once per session."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.doc_examples import DOCS


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built in strict mode from a copy of the documentation."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("site", ".cache"))
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    build = subprocess.run(
        [*command, "--config-file", str(folder / "zensical.toml")], capture_output=True, text=True, check=False
    )
    assert build.returncode == 0, build.stdout + build.stderr
    return folder / "site"
