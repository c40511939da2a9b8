"""The architecture page refers only to existing paths and tests."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs/explanation/architecture.md").read_text("utf-8")
HOST = REPOSITORY / "core/src/pressroom"


def test_every_path_exists() -> None:
    paths = set(re.findall(r"`((?:core|plugins)/[\w/.]+)`", PAGE))
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (REPOSITORY / path).exists()] == []


def test_every_test_named_in_an_explanation_exists() -> None:
    tests = REPOSITORY / "tests"
    names = {
        name
        for page in (REPOSITORY / "docs/explanation").glob("*.md")
        for name in re.findall(r"`((?:[a-z_]+/)+test_[a-z_]+\.py)`", page.read_text("utf-8"))
    }
    assert len(names) > 10
    assert [name for name in sorted(names) if not (tests / name).exists()] == []


def test_every_package_and_module_of_the_host_is_in_the_table() -> None:
    table = PAGE[PAGE.index("| Package or module |") : PAGE.index("### Starting")]
    names = set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line)))
    packages = {path.parent.name for path in HOST.glob("*/__init__.py")}
    modules = {path.stem for path in HOST.glob("*.py")} - {"__init__", "__main__", "version"}
    assert names == packages | modules
