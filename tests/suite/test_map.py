"""The test map: CONTRIBUTING lists every folder, and `support/README.md` every shared module."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CONTRIBUTING = TESTS.parent / "CONTRIBUTING.md"


def named_in(page: Path, pattern: str) -> set[str]:
    return set(re.findall(pattern, page.read_text("utf-8"), re.MULTILINE))


def test_contributing_names_every_folder_of_tests() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert named_in(CONTRIBUTING, r"^\| `tests/(\w+)/` \|") == folders


def test_the_map_of_support_names_every_module() -> None:
    support = TESTS / "support"
    modules = {path.name for path in support.glob("*.py")} - {"__init__.py"}
    packages = {f"{path.parent.name}/" for path in support.glob("*/__init__.py")}
    assert named_in(support / "README.md", r"^\| `([\w./]+)` \|") == modules | packages
