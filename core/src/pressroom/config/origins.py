"""Where each setting comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pressroom.validation.echo import shown_path

KeyPath = tuple[str | int, ...]
"""A key as its parts: `("tools", "qr-code-generator", "rate_limit")`; a number is a place in a list."""


def dotted(path: KeyPath) -> str:
    """Return a key as people write it: `tools.qr-code-generator.rate_limit`; odd parts are in quotes."""
    return shown_path(path)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from.

    `name` is the path of the file or the name of the environment variable, and empty for the other kinds.
    `line` and `column` count from 1; 0 means unknown.
    """

    kind: Literal["default", "file", "environment", "command line"]
    name: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        places = [str(place) for place in (self.line, self.column) if place]
        return ":".join([self.name or self.kind, *places])

    def as_data(self) -> dict[str, Any]:
        """Return the origin as a JSON object: `kind`, and of `name`, `line` and `column` those that are known."""
        known = {"name": self.name, "line": self.line, "column": self.column}
        return {"kind": self.kind} | {name: value for name, value in known.items() if value}


DEFAULT = Origin("default")
COMMAND_LINE = Origin("command line")


@dataclass(slots=True)
class Origins:
    """The origins of all keys that were set anywhere, tables included, by dotted key.

    `texts` keeps the text of environment variables whose value was taken as JSON, because only the model
    of a plugin's configuration can tell whether `12345` is a number or a password. `hidden` are the keys of values that
    come from a file or a variable that the configuration refers to: nobody is shown what they hold.
    """

    places: dict[str, Origin] = field(default_factory=dict)
    texts: dict[tuple[str, ...], str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)

    def record(self, path: KeyPath, value: Any, origin: Origin) -> None:
        """Note that a value, and everything in it, comes from `origin`."""
        for key in leaves_and_tables(path, value):
            self.places[dotted(key)] = origin

    def of(self, key: str) -> Origin:
        """Return where a setting or a table was set; `DEFAULT` where it was not."""
        return self.places.get(key, DEFAULT)

    def hides(self, key: str) -> bool:
        """Tell whether a value, or anything in or around it, is not to be shown."""
        return any(f"{one}.".startswith(f"{key}.") or f"{key}.".startswith(f"{one}.") for one in self.hidden)

    def variables(self) -> list[str]:
        """Return the names of the environment variables that settings come from."""
        return sorted({origin.name for origin in self.places.values() if origin.kind == "environment"})

    def nearest(self, key: str) -> Origin:
        """Return where to look for what is wrong with a key.

        That is where it was set, or else the closest table around it, or else what was set in it: a variable for one
        setting of a table is all that there is of that table.
        """
        around = [known for known in self.places if key == known or key.startswith(f"{known}.")]
        within = [known for known in self.places if known.startswith(f"{key}.")]
        closest = max(around, key=len, default="") or min(within, default="")
        return self.of(closest)


def leaves_and_tables(path: KeyPath, value: Any) -> Iterator[KeyPath]:
    """Yield the path of a value, and of every table and every value of a table in it."""
    yield path
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from leaves_and_tables((*path, key), child)
    elif isinstance(value, list | tuple):
        for index, child in enumerate(value):
            if isinstance(child, Mapping):
                yield from leaves_and_tables((*path, index), child)
