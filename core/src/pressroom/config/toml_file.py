"""Reading of the TOML file, with the line of each key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pressroom.config.origins import ConfigProblem, InvalidConfig, KeyPath, Origin, leaves_and_tables

MAX_BYTES: Final = 1_048_576

_MISSING: Final = "Check --config and PRESSROOM_CONFIG; without both, the defaults are used."
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_CLOSING = re.compile(r"\"\"\"|'''|[\]}]")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The contents of a file. `lines` maps every key and table to its line, counted from 1."""

    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)


def read_toml(path: Path) -> TomlFile:
    """Read a TOML file of at most 1 MiB.

    Raises:
        InvalidConfig: The file cannot be read, or is not TOML 1.0 in UTF-8.
    """
    text = _read_text(path)
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise _invalid(path, "its values are nested too deeply") from None
    except ValueError as error:
        raise InvalidConfig([_syntax_problem(path, text, error)]) from None
    return TomlFile(values, locate(text))


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _invalid(path, "there is no such file", _MISSING) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _invalid(path, f"the file cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise _invalid(path, "the file is larger than 1 MiB, the maximum for a configuration")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _invalid(path, "the file is not UTF-8", "Save it in the encoding UTF-8.", line) from None


def _invalid(path: Path, problem: str, hint: str = "", line: int = 0) -> InvalidConfig:
    return InvalidConfig([ConfigProblem("", problem, Origin("file", str(path), line), hint)])


def _syntax_problem(path: Path, text: str, error: ValueError) -> ConfigProblem:
    message = str(error)
    match = _POSITION.search(message)
    line, column = (int(match[1]), int(match[2])) if match and match[1] else (_line_of_unfinished(text), 0)
    reason = _POSITION.sub("", message)
    hint = ""
    if reason == "Invalid value":
        reason, hint = "the value is not valid", 'Put text in quotes, such as name = "value".'
    elif reason == "Cannot overwrite a value":
        reason, hint = "the same key is set twice", "Keep one of the two."
    elif reason.startswith("Cannot declare"):
        reason, hint = "the same table is opened twice", "Put the keys of both under one heading."
    return ConfigProblem("", f"not valid TOML: {reason}", Origin("file", str(path), line, column), hint)


def _line_of_unfinished(text: str) -> int:
    """Return the line of the first unterminated statement, or of the last statement if all are complete."""
    last = 1
    for line, statement in _statements(text):
        last = line
        if statement is None:
            break
    return last


def locate(text: str) -> dict[KeyPath, int]:
    """Return the line of every key and table of a valid TOML document, counted from 1.

    Everything in an array or inline table has the line on which that starts. A table opened only by its sub-tables has
    the line of the first of them.
    """
    lines: dict[KeyPath, int] = {}
    arrays: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for line, statement in _statements(text):
        if isinstance(statement, _Heading):
            table = _path_of(statement, arrays)
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], line)
        elif statement:
            for key, value in statement.items():
                for path in leaves_and_tables((*table, key), value):
                    lines.setdefault(path, line)
    return lines


@dataclass(frozen=True, slots=True)
class _Heading:
    keys: tuple[str, ...]
    of_array: bool


def _statements(text: str) -> Iterator[tuple[int, _Heading | dict[str, Any] | None]]:
    """Yield each heading and assignment with its first line; `None` stands for an unterminated statement.

    TOML statements end at a line end, and each is a valid document on its own. The TOML parser therefore finds the end
    of multi-line values, and no second parser is needed.
    """
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        first, statement = number, lines[number]
        number += 1
        parsed = _parse(statement)
        while parsed is None and number < len(lines):
            statement += "\n" + lines[number]
            number += 1
            if _CLOSING.search(lines[number - 1]):
                parsed = _parse(statement)
        if parsed is None:
            yield first + 1, None
        elif parsed:
            yield first + 1, _heading(parsed) if statement.lstrip(" \t").startswith("[") else parsed


def _parse(statement: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(statement)
    except (ValueError, RecursionError):
        return None


def _heading(parsed: dict[str, Any]) -> _Heading:
    keys: list[str] = []
    inner: Any = parsed
    while isinstance(inner, dict) and inner:
        key, inner = next(iter(inner.items()))
        keys.append(key)
    return _Heading(tuple(keys), isinstance(inner, list))


def _path_of(heading: _Heading, arrays: dict[KeyPath, int]) -> KeyPath:
    """Return the path of a table. `arrays` maps each array of tables to its latest index."""
    path: KeyPath = ()
    for key in heading.keys[:-1]:
        path = (*path, key)
        if path in arrays:
            path = (*path, arrays[path])
    path = (*path, heading.keys[-1])
    if heading.of_array:
        arrays[path] = arrays.get(path, -1) + 1
        path = (*path, arrays[path])
    return path
