"""The accessibility checker axe, for pages in a browser."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from support.needs import program, unavailable

VERSION = "4.14.1"
_FOLDER = Path(__file__).parents[2] / ".cache" / "npm" / f"axe-core-{VERSION}"


def axe_script() -> str:
    """Return the checker's source, installed once with npm."""
    script = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        _install()
    return script.read_text("utf-8")


def _install() -> None:
    npm = program("npm", "npm")
    _FOLDER.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=_FOLDER.parent))
    options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(fresh)]
    done = subprocess.run(
        [npm, "install", *options, f"axe-core@{VERSION}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        shutil.rmtree(fresh)
        unavailable(f"axe-core {VERSION} could not be installed: {done.stderr.strip()[-300:]}")
    try:
        fresh.rename(_FOLDER)
    except OSError:  # another worker was first
        shutil.rmtree(fresh)


async def violations(page: Any) -> list[str]:
    """Return what is wrong on a page at the impacts serious and critical, with the elements, by WCAG 2.2 AA."""
    await page.evaluate(axe_script())
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {[node['html'][:120] for node in violation['nodes']]}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
