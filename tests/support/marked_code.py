"""Source files compiled with slipcover's marks of branches, once for all processes that measure.

Marking takes two thirds of what measuring adds to an import, and each worker imports everything. `make test` runs
`python tests/support/marked_code.py FOLDER...` before it starts them.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from typing import Any, Final

FILE: Final = Path(__file__).parents[2] / ".cache/marked_code"

_Entries = dict[str, tuple[int, int, bytes]]
"""For each file when it was changed in nanoseconds, its size, and its code in `marshal`'s format."""


def write(files: Iterable[Path]) -> None:
    """Compile what has changed since the last time, and forget all other files."""
    # Tests that are not measured do without it.
    from slipcover.branch import preinstrument  # type: ignore[import-untyped]  # noqa: PLC0415

    known, entries = dict(_read()), {}
    for path in files:
        state = path.stat()
        seen = known.get(str(path))
        if seen is None or seen[:2] != (state.st_mtime_ns, state.st_size):
            code = compile(preinstrument(ast.parse(path.read_bytes())), str(path), "exec")
            seen = (state.st_mtime_ns, state.st_size, marshal.dumps(code))
        entries[str(path)] = seen
    FILE.parent.mkdir(parents=True, exist_ok=True)
    unfinished = FILE.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(marshal.dumps((_maker(), entries)))
    unfinished.replace(FILE)


def code_of(path: Path) -> CodeType | None:
    """Return the marked code of a source file, or `None` where there is none of this version of the file."""
    entry = _read().get(str(path))
    if entry is None:
        return None
    state = path.stat()
    if entry[:2] != (state.st_mtime_ns, state.st_size):
        return None
    code: CodeType = marshal.loads(entry[2])
    return code


def use(loader: type[Any]) -> None:
    """Have slipcover's loader take marked code where there is some."""
    execute = loader.exec_module

    def exec_module(self: Any, module: Any) -> None:
        code = None
        if self.sci.branch and isinstance(self.orig_loader, SourceFileLoader):
            code = code_of(self.origin)
        if code is None:
            execute(self, module)
        else:
            self.sci.register_module(module)
            exec(self.sci.instrument(code), module.__dict__)

    loader.exec_module = exec_module


@cache
def _read() -> Mapping[str, tuple[int, int, bytes]]:
    try:
        maker, entries = marshal.loads(FILE.read_bytes())
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    found: _Entries = entries if maker == _maker() else {}
    return found


def _maker() -> tuple[str, bytes]:
    return version("slipcover"), importlib.util.MAGIC_NUMBER


if __name__ == "__main__":
    write(path.resolve() for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.py")))
