"""Source files precompiled with slipcover's branch instrumentation, once for all measuring processes.

Each worker imports everything. Marking branches takes two thirds of the time that measuring adds to an import, and
inserting probes into the marked code, as slipcover does before Python 3.12, takes six seconds in each worker.
`make test` runs `python tests/support/marked_code.py FOLDER...` before it starts the workers.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, Final
from unittest import mock

FILE: Final = Path(__file__).parents[2] / ".cache/marked_code"

_Label = int | tuple[int, int]
"""A line, or a branch from one line to another."""

_Probes = list[tuple[int, _Label]]
"""Bytecode offset and label of each probe of a code object."""

_Compiled = tuple[CodeType, list[_Probes], list[int], list[tuple[int, int]]]
"""The code of a module, the probes of each of its code objects, all lines, and all branches."""

_Entries = dict[str, tuple[int, int, bytes]]
"""For each file its modification time in nanoseconds, its size, and its compiled form in `marshal`'s format."""

_WITH_PROBES: Final = sys.version_info < (3, 12)
_PROBE, _SIGNAL = "slipcover's probe", ("slipcover's signal",)
"""Placeholders in stored code for objects of the running process."""


def write(files: Iterable[Path]) -> None:
    """Compile files that have changed since the last run, and drop entries of all other files."""
    known, entries = dict(_read()), {}
    for path in files:
        state = path.stat()
        entry = known.get(str(path))
        if entry is None or entry[:2] != (state.st_mtime_ns, state.st_size):
            entry = (state.st_mtime_ns, state.st_size, marshal.dumps(_compiled(path)))
        entries[str(path)] = entry
    FILE.parent.mkdir(parents=True, exist_ok=True)
    unfinished = FILE.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(marshal.dumps((_maker(), entries)))
    unfinished.replace(FILE)


def _compiled(path: Path) -> _Compiled:
    # Imported here, because unmeasured test runs do without slipcover.
    from slipcover import slipcover  # type: ignore[import-untyped]  # noqa: PLC0415
    from slipcover.branch import preinstrument  # type: ignore[import-untyped]  # noqa: PLC0415

    code = compile(preinstrument(ast.parse(path.read_bytes())), str(path), "exec")
    if not _WITH_PROBES:
        return code, [], [], []
    measured = slipcover.Slipcover(branch=True)
    stored = SimpleNamespace(signal=_SIGNAL, new=lambda _measured, _file, label, _threshold: (_PROBE, label))
    with mock.patch.object(slipcover, "probe", stored):
        code = measured.instrument(code)
    probes = [measured.code2index[part] for part in _code_objects(code)]
    return code, probes, list(measured.code_lines[str(path)]), list(measured.code_branches[str(path)])


def _code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield the nested code objects in order, then the object itself."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_objects(constant)
    yield code


def compiled_of(path: Path) -> _Compiled | None:
    """Return the compiled form of a source file, or `None` if this version of the file is not stored."""
    entry = _read().get(str(path))
    if entry is None:
        return None
    state = path.stat()
    if entry[:2] != (state.st_mtime_ns, state.st_size):
        return None
    compiled: _Compiled = marshal.loads(entry[2])
    return compiled


def use(loader: type[Any]) -> None:
    """Make slipcover's loader use precompiled code if available."""
    execute = loader.exec_module

    def exec_module(self: Any, module: Any) -> None:
        compiled = None
        if self.sci.branch and isinstance(self.orig_loader, SourceFileLoader):
            compiled = compiled_of(self.origin)
        if compiled is None:
            execute(self, module)
        else:
            self.sci.register_module(module)
            exec(_measuring(self.sci, compiled) if _WITH_PROBES else self.sci.instrument(compiled[0]), module.__dict__)

    loader.exec_module = exec_module


def _measuring(measured: Any, compiled: _Compiled) -> CodeType:
    """Return the code with probes of this process, and register it with slipcover as `instrument` does."""
    from slipcover import probe  # noqa: PLC0415 - as above

    code, probes, lines, branches = compiled
    file, remaining_probes = code.co_filename, iter(probes)

    def with_probes(code: CodeType) -> CodeType:
        constants: list[Any] = []
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                constants.append(with_probes(constant))
            elif constant == _SIGNAL:
                constants.append(probe.signal)
            elif isinstance(constant, tuple) and constant[:1] == (_PROBE,):
                constants.append(probe.new(measured, file, constant[1], measured.d_miss_threshold))
            else:
                constants.append(constant)
        probed = code.replace(co_consts=tuple(constants))
        measured.code2index[probed] = next(remaining_probes)
        return probed

    with measured.lock:
        probed = with_probes(code)
        measured.code_lines[file].update(lines)
        measured.code_branches[file].update(branches)
        measured.instrumented[file].add(probed)
    return probed


@cache
def _read() -> Mapping[str, tuple[int, int, bytes]]:
    try:
        maker, entries = marshal.loads(FILE.read_bytes())
    except (OSError, EOFError, ValueError, TypeError):
        return {}
    valid: _Entries = entries if maker == _maker() else {}
    return valid


def _maker() -> tuple[str, bytes, str]:
    return version("slipcover"), importlib.util.MAGIC_NUMBER, "with probes"


if __name__ == "__main__":
    write(path.resolve() for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.py")))
