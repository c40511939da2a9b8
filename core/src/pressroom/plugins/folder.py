"""One-file plugins: the files and packages in the folder `plugins_dir`.

Files are parsed here, not run, so disabled plugins are never imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from pressroom.config.models import Settings
from pressroom.gate.failures import one_line
from pressroom.plugins.discovery import Candidate
from pressroom.plugins.permissions import changeable
from pressroom.sdk.plugin import PLUGIN_ID

FOLDER_ID: Final = "plugins_dir"
"""The ID of the record that reports problems with the folder itself."""

NOTHING_OFFERED: Final = "has no PLUGIN, no hook and no tool"
OFFER_SOMETHING: Final = (
    "put @mcp_tool or @generator above a function, or begin the file's name with _ if others import it"
)
"""The problem and the hint for a module without contributions."""

_MAX_BYTES: Final = 4_194_304
_MAX_FILES: Final = 10_000
_VERSION_LENGTH: Final = 12


def discover_folder(settings: Settings) -> tuple[Candidate, ...]:
    """Return a candidate for each plugin in the configured folder, ordered by file name.

    Every `*.py` file and every package (a folder with `__init__.py`) counts, except names that begin with `_` or `.`.
    Problems with a file or with the folder itself are reported in the `problem` of a candidate.
    """
    if settings.plugins_dir is None:
        return ()
    folder = Path(os.path.abspath(settings.plugins_dir))  # noqa: PTH100 - symbolic links stay, as people named them
    files: list[Path] = []
    try:
        problem = _folder_problem(folder, settings.storage.path)
        if problem is None:
            files = sorted(filter(_may_be_plugin, folder.iterdir()))
    except OSError as error:
        problem = (
            f"the folder {folder} cannot be read: {error.strerror}",
            "check that it is there, and its permissions",
        )
    if problem is not None:
        return (Candidate(FOLDER_ID, str(folder), "", "", problem=problem[0], hint=problem[1], folder=folder),)
    names = Counter(file.stem for file in files)
    return tuple(_checked(_candidate(file), file, names[file.stem] > 1) for file in files)


def make_importable(folder: Path) -> None:
    """Let this process, and the worker processes that it starts, import the modules of the folder.

    The folder is appended to `sys.path`, so its files cannot shadow other modules.
    """
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    importlib.invalidate_caches()


def writable_by_others(folder: Path) -> Iterator[Path]:
    """Yield the folder, its code and its parent folders, as far as users other than root and the server can write."""
    try:
        entries = sorted(filter(_may_be_plugin, folder.iterdir()))
    except OSError:
        entries = []
    modules = islice((module for plugin in entries for module in _modules(plugin)), _MAX_FILES)
    return changeable((folder, *entries, *modules), above=folder)


def _modules(plugin: Path) -> Iterator[Path]:
    """Yield the folders and modules of a package; nothing for a single file."""
    if plugin.is_dir():
        yield from (path for path in plugin.rglob("*") if path.is_dir() or path.suffix == ".py")


def _folder_problem(folder: Path, storage: Path) -> tuple[str, str] | None:
    if not folder.exists():
        return f"there is no folder {folder}", "create it, or correct plugins_dir"
    if not folder.is_dir():
        return f"{folder} is not a folder", "name the folder that the plugins are in as plugins_dir"
    plugins, data = folder.resolve(), storage.resolve()
    if plugins.is_relative_to(data) or data.is_relative_to(plugins):
        return (
            f"{folder} and the data folder {storage} overlap: files that clients store would run as code",
            "set plugins_dir to a folder that contains only plugins",
        )
    return None


def _may_be_plugin(path: Path) -> bool:
    if path.name.startswith(("_", ".")):
        return False
    return (path / "__init__.py").exists() if path.is_dir() else path.suffix == ".py"


@dataclass(frozen=True, slots=True)
class _Source:
    """Facts about a plugin's source, found without running it.

    These are whether it has a `PLUGIN`, its ID if that is a literal, and whether it imports anything from Pressroom.
    """

    content: bytes
    has_plugin: bool
    plugin_id: str = ""
    uses_host: bool = False


def _candidate(file: Path) -> Candidate:
    candidate = Candidate(file.stem, file.name, "", file.stem, folder=file.parent)
    try:
        module, source = _read(file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return replace(candidate, problem=one_line(error), hint=f"correct {file}, or move it out of the folder")
    except OSError as error:
        reason = error.strerror or str(error)
        return replace(candidate, problem=f"{file} cannot be read: {reason}", hint="check that the server may read it")
    # Anything a plugin offers is declared with names from Pressroom, so a module without them need not run.
    if not source.has_plugin and not source.uses_host:
        return replace(candidate, problem=f"{file.name} {NOTHING_OFFERED}", hint=OFFER_SOMETHING)
    if not source.has_plugin and file.stem.isidentifier() and not PLUGIN_ID.fullmatch(file.stem):
        rule = "must be 2 to 32 lower-case letters, digits and underscores, and begin with a letter"
        hint = 'rename it, or give it a PLUGIN = Plugin(id="…", title="…", summary="…")'
        return replace(candidate, problem=f"its id would be {file.stem!r}, which {rule}", hint=hint)
    version = hashlib.sha256(source.content).hexdigest()[:_VERSION_LENGTH]
    return replace(candidate, id=source.plugin_id or file.stem, module=module, version=version)


def _read(file: Path) -> tuple[str, _Source]:
    """Return the module with the hooks, and the facts about its source.

    Raises:
        OSError: the file cannot be read.
        SyntaxError, ValueError: the file is not valid Python.
    """
    if not file.is_dir():
        return file.stem, _parsed(file)
    # In a package, the hooks are in `__init__.py` or in `plugin.py`.
    content = b"".join(path.read_bytes() for path in sorted(file.rglob("*.py")))
    init, inner = _parsed(file / "__init__.py"), file / "plugin.py"
    if not init.has_plugin and inner.is_file():
        source = _parsed(inner)
        if source.uses_host or not init.uses_host:
            return f"{file.name}.plugin", replace(source, content=content)
    return file.name, replace(init, content=content)


def _parsed(file: Path) -> _Source:
    with file.open("rb") as opened:
        content = opened.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{file.name} is larger than {_MAX_BYTES} bytes")
    tree = ast.parse(content, filename=str(file))
    value = next((value for names, value in _bound(tree.body) if "PLUGIN" in names), None)
    return _Source(content, value is not None, _literal_id(value) if value is not None else "", _uses_host(tree.body))


def _uses_host(body: Sequence[ast.stmt]) -> bool:
    """Check whether a module imports from Pressroom, or from its own package, which may import from Pressroom."""
    imported = [alias.name for statement in body if isinstance(statement, ast.Import) for alias in statement.names]
    imported += [statement.module or "" for statement in body if isinstance(statement, ast.ImportFrom)]
    relative = any(statement.level for statement in body if isinstance(statement, ast.ImportFrom))
    return relative or any(name.partition(".")[0] == "pressroom" for name in imported)


def _bound(body: Sequence[ast.stmt]) -> Iterator[tuple[set[str], ast.AST]]:
    """Yield the names bound by the top-level statements of a module, with the bound AST node."""
    for statement in body:
        match statement:
            case ast.Assign():
                yield {target.id for target in statement.targets if isinstance(target, ast.Name)}, statement.value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield {name}, value
            case ast.ImportFrom():
                yield {alias.asname or alias.name for alias in statement.names}, statement


def _literal_id(value: ast.AST) -> str:
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "id" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                return keyword.value.value
    return ""


def _checked(candidate: Candidate, file: Path, shares_its_name: bool) -> Candidate:
    """Return the candidate, with a `problem` if Python could not import it by its name."""
    if shares_its_name:
        return replace(
            candidate,
            problem=f"{file.stem}.py and the folder {file.stem} are modules of the same name",
            hint="rename one of them, or move it out of the folder",
        )
    if candidate.problem:
        return candidate
    if not file.stem.isidentifier():
        proposal = "".join(char if char.isalnum() else "_" for char in file.stem).lower()
        return replace(
            candidate,
            problem=f"{file.name} is not a name that Python can import",
            hint=f"rename it to {proposal}{file.suffix}: letters, digits and underscores",
        )
    other_module = _module_elsewhere(file)
    if other_module:
        return replace(
            candidate, problem=f"{file.name} has the name of another module, {other_module}", hint="rename it"
        )
    return candidate


def _module_elsewhere(file: Path) -> str:
    """Return the built-in or installed module that Python would import instead of the file, or an empty string."""
    name = file.stem
    if name in sys.builtin_module_names or name in sys.stdlib_module_names:
        return f"{name} of Python itself"
    other_paths = [entry for entry in sys.path if Path(entry or ".").absolute() != file.parent]
    try:
        spec = importlib.machinery.PathFinder.find_spec(name, other_paths)
    except (ImportError, OSError, ValueError):
        return ""
    # A spec without a loader is a namespace package, and a file of that name takes precedence.
    return str(spec.origin) if spec is not None and spec.loader is not None and spec.origin else ""
