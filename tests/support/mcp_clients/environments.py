"""Environments with one version of a client each: created on first use, cached, shared by all workers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from uv import find_uv_bin

from support.downloads import installed, npm_packages, run
from support.node import node_folder

HERE = Path(__file__).parent


def python_environment(*requirements: str, overrides: Sequence[str] = ()) -> Path:
    """Return the interpreter of a virtual environment with exactly these requirements installed.

    `overrides` are requirements that replace those of the packages themselves.
    """
    pins = "\n".join([*requirements, "", *overrides])

    def install(folder: Path) -> None:
        uv = find_uv_bin()
        run([uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")])
        options = []
        if overrides:
            (folder / "overrides.txt").write_text("\n".join(overrides))
            options = ["--override", str(folder / "overrides.txt")]
        python = folder / "venv" / "bin" / "python"
        run([uv, "pip", "install", "--quiet", "--python", str(python), *options, *requirements])

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = requirements[0].replace("==", "-")
    return installed(f"{name}-py{version}", pins, install) / "venv" / "bin" / "python"


def node_packages() -> Path:
    """Return the `node_modules` folder with the packages of `package.json`."""
    return npm_packages("mcp-clients", HERE / "package.json")


def node() -> str:
    """Return the path of the Node.js that the packages run on."""
    return str(node_folder() / "bin" / "node")
