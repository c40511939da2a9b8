"""No import cycles in the core or the plugins."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "core/src", *sorted(ROOT.glob("plugins/*/src")))

DELEGATES = frozenset({"pressroom_content.contract.control", "pressroom_content.contract.services"})
"""Contract modules whose functions import their implementation when called."""

Graph = Mapping[str, frozenset[str]]


def modules(*folders: Path) -> dict[str, Path]:
    """Return the files of all modules below the folders, by module name."""
    paths = {}
    for folder in folders:
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return paths


def imported(node: ast.AST, *, in_functions: bool) -> Iterator[str]:
    """Yield the names that a module imports, except those only for the type checker."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from imported(ast.Module([other], []), in_functions=in_functions)
        elif in_functions or not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported(child, in_functions=in_functions)


def graph_of(files: Mapping[str, Path]) -> Graph:
    """Return the imports of each module among the modules."""
    graph = {}
    for module, file in files.items():
        names = imported(ast.parse(file.read_text("utf-8")), in_functions=module not in DELEGATES)
        known = (name if name in files else name.rpartition(".")[0] for name in names)
        graph[module] = frozenset(name for name in known if name in files and name != module)
    return graph


def circles(graph: Graph) -> list[list[str]]:
    """Return the modules left once those outside any import cycle are removed, as one sorted group."""
    remaining = {module: set(targets) for module, targets in graph.items()}
    while True:
        targets = set[str]().union(*remaining.values()) if remaining else set()
        outside = {module for module, imports in remaining.items() if not imports or module not in targets}
        if not outside:
            break
        remaining = {module: imports - outside for module, imports in remaining.items() if module not in outside}
    return [sorted(remaining)] if remaining else []


def test_there_are_no_import_cycles() -> None:
    assert circles(graph_of(modules(*SOURCES))) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from two import name", True),
        ("import two", True),
        ("def late():\n    from two import name", True),
        ("class Late:\n    def late(self):\n        import two", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from two import name", False),
        ("import three", False),
    ],
)
def test_a_cycle_is_detected_wherever_the_import_is(text: str, found: bool, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(text)
    (tmp_path / "two.py").write_text("import one, three")
    (tmp_path / "three.py").write_text("import os")
    assert circles(graph_of(modules(tmp_path))) == ([["one", "two"]] if found else [])
