"""A Node.js from npm, for programs that do not run on the system's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from support.downloads import installed, run
from support.needs import program

NODE: Final = "node@22.23.3"


def node_folder() -> Path:
    """Return the folder with `bin/node`, and headers in `include`. The test cannot run if npm cannot install it."""
    modules = installed("node", NODE, _install) / "node_modules"
    return next(modules.glob("**/include/node/node.h")).parents[2]


def node_environment(*folders: Path) -> dict[str, str]:
    """Return an environment whose path begins with this Node.js, followed by `folders`."""
    path = [str(folder) for folder in (node_folder() / "bin", *folders)]
    return {**os.environ, "PATH": os.pathsep.join([*path, os.environ.get("PATH", os.defpath)])}


def _install(folder: Path) -> None:
    (folder / "package.json").write_text("{}")
    run([program("npm"), "install", "--no-audit", "--no-fund", "--no-package-lock", NODE], folder)
