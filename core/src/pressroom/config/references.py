"""References to values stored elsewhere: `{ "$file" = "/run/secrets/key" }` or `{ "$env" = "KEY" }`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pressroom.config.origins import ConfigProblem, KeyPath, Origin, Origins, dotted

FILE: Final = "$file"
VARIABLE: Final = "$env"
MAX_BYTES: Final = 65_536

Read = Callable[[KeyPath, str], Any]
"""Converts the text of a reference to the value for a key. Raises `ValueError` with the problem, without the text."""


class References:
    """Replaces references with the contents of files and variables, and marks these values as hidden.

    `problems` contains those of unresolvable references; their keys are left out of the result.
    """

    def __init__(self, environ: Mapping[str, str], origins: Origins, read: Read) -> None:
        self._environ = environ
        self._origins = origins
        self._read = read
        self.problems: list[ConfigProblem] = []

    def resolved(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the table with all references replaced."""
        resolved: dict[str, Any] = self._resolved((), values)
        return resolved

    def _resolved(self, path: KeyPath, value: Any) -> Any:
        if isinstance(value, Mapping):
            if value.keys() & {FILE, VARIABLE}:
                return self._value(path, value)
            members = {name: self._resolved((*path, name), child) for name, child in value.items()}
            return {name: child for name, child in members.items() if child is not _MISSING}
        if isinstance(value, list):
            elements = [self._resolved((*path, number), element) for number, element in enumerate(value)]
            return [element for element in elements if element is not _MISSING]
        return value

    def _value(self, path: KeyPath, reference: Mapping[str, Any]) -> Any:
        key = dotted(path)
        try:
            origin, text = self._text(reference)
        except ValueError as error:
            self.problems.append(ConfigProblem(key, str(error), self._origins.nearest(key)))
            return _MISSING
        try:
            value = self._read(path, text)
        except ValueError as error:
            self.problems.append(ConfigProblem(key, str(error), origin))
            return _MISSING
        self._origins.record(path, value, origin)
        self._origins.hidden.add(key)
        return value

    def _text(self, reference: Mapping[str, Any]) -> tuple[Origin, str]:
        """Return the origin and the text of a referenced value. Raises `ValueError` with the problem."""
        (name, source), *extra = reference.items()
        if extra or not isinstance(source, str) or not source:
            raise ValueError(f'must be {{ "{FILE}" = "…" }} or {{ "{VARIABLE}" = "…" }}, and nothing beside it')
        if name == VARIABLE:
            if source not in self._environ:
                raise ValueError(f"the environment has no variable {source}")
            return Origin("environment", source), self._environ[source]
        return Origin("file", source), _text_of(Path(source))


def _text_of(path: Path) -> str:
    """Return the contents of a file, without a trailing newline. Raises `ValueError` with the problem."""
    try:
        if not path.is_file():
            raise ValueError(f"{path} {'is not a file' if path.exists() else 'does not exist'}")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"{path} has more than {MAX_BYTES:,} bytes")
        text = content.decode("utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or type(error).__name__}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r")


_MISSING: Final = object()
