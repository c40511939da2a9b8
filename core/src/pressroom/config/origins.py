"""Origins of settings, and problems of the configuration, which state their origins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pressroom.errors import ConfigError
from pressroom.validation.echo import format_path

KeyPath = tuple[str | int, ...]
"""A key as its parts: `("tools", "qr-code-generator", "rate_limit")`; a number is an index in a list."""


def dotted(path: KeyPath) -> str:
    """Return a key in dotted notation: `tools.qr-code-generator.rate_limit`; unusual parts are quoted."""
    return format_path(path)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value.

    `name` is the path of the file or the name of the environment variable, and empty for the other kinds. `line` and
    `column` count from 1; 0 means unknown.
    """

    kind: Literal["default", "file", "environment", "command line"]
    name: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join([self.name or self.kind, *numbers])

    def as_data(self) -> dict[str, Any]:
        """Return the origin as a JSON object: `kind`, plus `name`, `line` and `column` if known."""
        members = {"name": self.name, "line": self.line, "column": self.column}
        return {"kind": self.kind} | {name: value for name, value in members.items() if value}


DEFAULT = Origin("default")
COMMAND_LINE = Origin("command line")


@dataclass(slots=True)
class Origins:
    """The origins of all keys that are set, including tables, by dotted key.

    `texts` keeps the text of environment variables that were decoded as JSON, because only the model of a plugin's
    configuration can tell whether `12345` is a number or a password. `hidden` contains the keys of values from
    referenced files or variables, which must not be shown.
    """

    origins: dict[str, Origin] = field(default_factory=dict)
    texts: dict[tuple[str, ...], str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def record(self, path: KeyPath, value: Any, origin: Origin) -> None:
        """Record the origin of a value and everything in it."""
        for key in leaves_and_tables(path, value):
            self.origins[dotted(key)] = origin

    def of(self, key: str) -> Origin:
        """Return the origin of a setting or table, or `DEFAULT` if it is not set."""
        return self.origins.get(key, DEFAULT)

    def hides(self, key: str) -> bool:
        """Return whether a value, or anything in or around it, must not be shown."""
        return any(f"{hidden}.".startswith(f"{key}.") or f"{key}.".startswith(f"{hidden}.") for hidden in self.hidden)

    def variables(self) -> list[str]:
        """Return the sorted names of the environment variables that settings come from."""
        return sorted({origin.name for origin in self.origins.values() if origin.kind == "environment"})

    def nearest(self, key: str) -> Origin:
        """Return the origin to report for a problem with a key.

        That is the key's own origin, else that of the closest table around it, else that of a key within it: if a
        variable sets one key of a table, the table itself has no origin.
        """
        enclosing = [candidate for candidate in self.origins if key == candidate or key.startswith(f"{candidate}.")]
        inner = [candidate for candidate in self.origins if candidate.startswith(f"{key}.")]
        closest = max(enclosing, key=len, default="") or min(inner, default="")
        return self.of(closest)


def leaves_and_tables(path: KeyPath, value: Any) -> Iterator[KeyPath]:
    """Yield the path of a value, and of every nested table and every value in a table."""
    yield path
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from leaves_and_tables((*path, key), child)
    elif isinstance(value, list | tuple):
        for index, child in enumerate(value):
            if isinstance(child, Mapping):
                yield from leaves_and_tables((*path, index), child)


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One problem in the configuration.

    `key` is the dotted key, or empty if the problem has none. `problem` is a phrase that follows it, such as
    `must be at most 65535 (got 70000)`. `hint` is a sentence about how to fix it. Neither contains secrets.
    """

    key: str
    problem: str
    origin: Origin = DEFAULT
    hint: str = ""

    def __str__(self) -> str:
        location = "" if self.origin.kind == "default" else str(self.origin)
        return ": ".join(part for part in (location, self.key, self.problem) if part)

    def as_data(self) -> dict[str, Any]:
        """Return the problem as a JSON object: `key`, `problem`, `origin` and `hint`."""
        return {"key": self.key, "problem": self.problem, "origin": self.origin.as_data(), "hint": self.hint}


class InvalidConfig(ConfigError):
    """The configuration has at least one problem; `problems` contains all of them, in the order of their origins."""

    def __init__(self, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(sorted(problems, key=_sort_key))
        if len(self.problems) == 1:
            super().__init__(str(self.problems[0]), hint=self.problems[0].hint)
        else:
            lines = "".join(f"\n- {problem}" for problem in self.problems)
            super().__init__(f"the configuration has {len(self.problems)} problems:{lines}")


def _sort_key(problem: ConfigProblem) -> tuple[int, int, str, str]:
    kinds = ("file", "environment", "command line", "default")
    return kinds.index(problem.origin.kind), problem.origin.line, problem.origin.name, problem.key
