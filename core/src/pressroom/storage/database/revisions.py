"""The revisions of a package of migrations, read without Alembic.

Importing it takes longer than all else that is needed to see that a schema is up to date.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

_NAMES: Final = frozenset({"revision", "down_revision", "branch_labels", "depends_on"})


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions that a version of a plugin knows, and the newest of them (`heads`)."""

    known: frozenset[str]
    heads: tuple[str, ...]


def plain_revisions(package: str) -> Revisions | None:
    """Return the revisions of a package of migrations where they are one line, each written as a constant.

    Returns:
        Nothing where Alembic has to be asked: there are branches, labels or dependencies, or a file that this cannot
        tell for certain.
    """
    try:
        found = [_declared(path) for path in _sources(files(package) / "versions")]
    except (OSError, SyntaxError, SystemError, ValueError, ImportError):
        # SystemError: compile() of Python 3.11 miscounts its depth if the garbage collector switches greenlets in it.
        return None
    before: dict[str, str | None] = {}
    for one in found:
        name, down = one.get("revision"), one.get("down_revision", 0)
        if one.get("branch_labels") or one.get("depends_on") or not isinstance(name, str) or name in before:
            return None
        if down is not None and not isinstance(down, str):
            return None
        before[name] = down
    heads = before.keys() - set(before.values())
    line: list[str] = []
    revision = next(iter(heads), None)
    while revision is not None and revision in before:
        line.append(revision)
        revision = before[revision]
    if revision is not None or len(heads) != 1 or len(line) != len(before):
        return None
    return Revisions(frozenset(before), tuple(heads))


def _sources(folder: Traversable) -> Iterator[Traversable]:
    for path in folder.iterdir():
        if path.name.endswith(".py") and not path.name.startswith(("__init__", ".#")):
            yield path


def _declared(path: Traversable) -> Mapping[str, Any]:
    """Return what a migration assigns to the names that Alembic looks at.

    Raises `ValueError` where that is not written as constants, once each.
    """
    values: dict[str, Any] = {}
    module = ast.parse(path.read_bytes())
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _NAMES:
                values[name] = ast.literal_eval(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in _NAMES:
                values[name] = ast.literal_eval(value)
    if len(values) != sum(_binds(node) for node in ast.walk(module)):
        raise ValueError(f"{path.name} does not name its revision plainly")
    return values


def _binds(node: ast.AST) -> bool:
    """Tell whether a node may give one of the names a value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.alias(asname=str(name)) | ast.alias(name=name):
            return name in _NAMES or name == "*"
        case _:
            return False
