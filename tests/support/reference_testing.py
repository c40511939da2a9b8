"""Render the reference of the test kit: its fixtures, and the names of `pressroom.testing`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator

from pressroom import testing
from pressroom.testing import plugin

from support.reference_settings import cell


def fixtures() -> str:
    """Return the table of the fixtures with their types for annotations."""
    rows = [f"| `{name}` | `{kind}` | {cell(doc)} |" for name, kind, doc in _fixtures()]
    return "\n".join(["| Fixture | Type | What it is |", "|---|---|---|", *rows])


def _fixtures() -> Iterator[tuple[str, str, str]]:
    for node in ast.parse(inspect.getsource(plugin)).body:
        if isinstance(node, ast.FunctionDef) and any(
            "fixture" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            kind = ast.unparse(node.returns) if node.returns else "Any"
            doc = (ast.get_docstring(node) or "").partition("\n\n")[0]
            # The cell begins with the noun: the table has no room for "Return".
            doc = doc.removeprefix("Return ").partition(": `")[0].rstrip(".") + "."
            doc = doc[:1].upper() + doc[1:]
            yield node.name, kind.removeprefix("Iterator[").removesuffix("]" * kind.startswith("Iterator[")), doc


def names(entry: Callable[[str, object, str], list[str]]) -> str:
    """Return a section for each public name of `pressroom.testing`."""
    lines: list[str] = []
    for name in testing.__all__:
        value = getattr(testing, name)
        home = getattr(value, "__module__", "")
        lines += [f"### {name}", "", *entry(name, value, home if home.startswith("pressroom.") else _HOMES[name])]
    return "\n".join(lines)


_HOMES = {"Trouble": "pressroom.testing.fake_site"}
"""Defining modules of names without a usable `__module__`."""
