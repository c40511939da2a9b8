"""Every public class name exists only once in all distributions."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_a_public_class_name_exists_once() -> None:
    modules: defaultdict[str, list[str]] = defaultdict(list)
    for folder in (REPOSITORY / "core/src", *sorted(REPOSITORY.glob("plugins/*/src"))):
        for path in sorted(folder.rglob("*.py")):
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    modules[node.name].append(str(path.relative_to(REPOSITORY)))
    assert len(modules) > 500
    assert {name: paths for name, paths in modules.items() if len(paths) > 1} == {}
