"""Loading of `Settings` from the file, the environment and the command line.

An environment variable has the name of its key in upper case, with two underscores in place of each dot:
`PRESSROOM_SERVER__PORT` is `server.port`. Each part is resolved according to the table it is in:

- The name of a setting can be written in any case.
- The name of an entry (a plugin, a plan, a tool, a key of a plugin's own configuration) matches the name in the file if
  exactly one differs only in case and in `-` and `_`. Otherwise, a name without lower-case letters is converted to
  lower case, and for tools underscores become hyphens, as in slugs: `PRESSROOM_TOOLS__QR_CODE_GENERATOR__ENABLED` is
  `tools.qr-code-generator.enabled`. Any other name is used unchanged: `PRESSROOM_TOOLS__list_pages__ENABLED` is
  `tools.list_pages.enabled`.

The text of a variable is parsed according to the type of its setting. Lists are JSON or separated by commas, and whole
tables are JSON. In a plugin's own configuration, any valid JSON is decoded, so that `11` is a number. An empty variable
sets nothing. A value can also come from a file or another variable: see `references`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, get_args, get_origin

from pydantic import ValidationError

from pressroom.config.models import Settings
from pressroom.config.origins import (
    COMMAND_LINE,
    ConfigProblem,
    InvalidConfig,
    KeyPath,
    Origin,
    Origins,
    dotted,
    leaves_and_tables,
)
from pressroom.config.references import References
from pressroom.config.sections import fixed_keys, is_model, problems_of
from pressroom.config.toml_file import TomlFile, read_toml
from pressroom.config.values import merge, nested
from pressroom.validation.echo import nearest

PREFIX: Final = "PRESSROOM_"
DELIMITER: Final = "__"
CONFIG_VARIABLE: Final = "PRESSROOM_CONFIG"
"""Contains the path of the configuration file, so it is not a setting itself."""

_NOT_SETTINGS: Final = frozenset({CONFIG_VARIABLE, "PRESSROOM_SOURCE", "PRESSROOM_CHECK_POSTGRESQL"})
"""Variables for commands and for the CI of plugins. The tests of plugins have their own, with `_OF_TESTS` as prefix."""

_OF_TESTS: Final = "PRESSROOM_TEST_"

_SERVICE_LINK = re.compile(
    r"_SERVICE_(HOST|PORT(_[A-Z0-9_]{1,200})?)\Z|_PORT_\d{1,5}_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?\Z"
)
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://.*")

DEFAULT_FILE: Final = Path("pressroom.toml")


class Environment:
    """The environment variables that are settings, with their origins and problems."""

    def __init__(self, environ: Mapping[str, str], file_values: Mapping[str, Any], origins: Origins) -> None:
        self._variables = {
            name: text
            for name, text in environ.items()
            if name.startswith(PREFIX) and text and not (_is_no_setting(name) or _is_service_link(name, text))
        }
        self._file_values = file_values
        self._origins = origins
        self.problems: list[ConfigProblem] = []

    def values(self) -> dict[str, Any]:
        """Return the values of the variables as nested tables, and record their origins. Problems are collected."""
        values: dict[str, Any] = {}
        setters: dict[tuple[str, ...], str] = {}
        # Deeper keys come last, so that a variable for one key overrides one for the table around it.
        for name, text in sorted(self._variables.items(), key=lambda item: (item[0].count(DELIMITER), item[0])):
            try:
                path, kind = self._setting_of(name)
                if path in setters:
                    _fail(name, f"sets {dotted(path)}, and so does {setters[path]}", "Keep one of the two.")
                value, is_json = self._value(name, kind, text)
            except _UnusableVariable as unusable:
                self.problems.append(unusable.problem)
                continue
            setters[path] = name
            values = merge(values, nested(path, value))
            self._origins.record(path, value, Origin("environment", name))
            if is_json:
                self._origins.texts[path] = text
        return values

    def _setting_of(self, name: str) -> tuple[tuple[str, ...], Any]:
        """Return the key that a variable sets, and the type of its value."""
        path: tuple[str, ...] = ()
        kind: Any = Settings
        table: Any = self._file_values
        for segment in name.removeprefix(PREFIX).split(DELIMITER):
            entry = _entry_name(path, segment, table) if _has_free_names(kind) else segment.lower()
            child = _type_in(kind, entry)
            if child is None or not segment:
                _fail(name, "is not the name of a setting", _suggestion(name, path, kind, segment))
            path = (*path, entry)
            kind = child
            table = table.get(entry) if isinstance(table, Mapping) else None
        return path, kind

    def _value(self, name: str, kind: Any, text: str) -> tuple[Any, bool]:
        """Return the value of a text, and whether it was decoded as JSON but could be meant as text."""
        decoded = _decoded(text)
        if kind is Any:
            return (text, False) if decoded is None and text != "null" else (decoded, not isinstance(decoded, dict))
        if get_origin(kind) is tuple:
            return decoded if isinstance(decoded, list) else [part.strip() for part in text.split(",")], False
        if get_origin(kind) is dict or is_model(kind):
            if not isinstance(decoded, dict):
                _fail(name, "must be a JSON object, or be followed by __ and the name of a setting in it")
            return decoded, False
        return text, False


class _UnusableVariable(Exception):
    """A variable that cannot be used."""

    def __init__(self, problem: ConfigProblem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _fail(name: str, problem: str, hint: str = "") -> NoReturn:
    raise _UnusableVariable(ConfigProblem("", problem, Origin("environment", name), hint))


def _is_no_setting(name: str) -> bool:
    return name in _NOT_SETTINGS or name.startswith(_OF_TESTS)


def _is_service_link(name: str, text: str) -> bool:
    """Return whether Kubernetes set the variable, as it does in pods for every service named `pressroom…`."""
    if DELIMITER in name:
        return False
    return bool(_SERVICE_LINK.search(name)) or bool(name.endswith("_PORT") and _SERVICE_URL.fullmatch(text))


def _has_free_names(kind: Any) -> bool:
    return kind is Any or get_origin(kind) is dict


def _type_in(kind: Any, name: str) -> Any:
    """Return the type of a key in a table, or `None` if a table of that type has no such key."""
    if kind is Any:
        return Any
    if is_model(kind):
        return kind.model_fields[name].annotation if name in kind.model_fields else None
    return get_args(kind)[1] if get_origin(kind) is dict else None


def _entry_name(path: Sequence[str], segment: str, table: Any) -> str:
    """Return an entry's name in a table with free names. `table` is the table in the file, if any."""
    names = [str(name) for name in table] if isinstance(table, Mapping) else []
    matching = [name for name in names if _folded(name) == _folded(segment)]
    if segment in names:
        return segment
    if len(matching) == 1:
        return matching[0]
    if segment != segment.upper():
        return segment
    names_tools = path == ("tools",) or (len(path) == 3 and path[0] == "plans")
    return segment.lower().replace("_", "-") if names_tools else segment.lower()


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _decoded(text: str) -> Any:
    """Parse a text as JSON; return `None` if it is invalid."""
    try:
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _suggestion(name: str, path: Sequence[str], kind: Any, segment: str) -> str:
    variables = [DELIMITER.join(setting).upper() for setting in fixed_keys(Settings)]
    key = name.removeprefix(PREFIX).upper()
    suggestion: str | None = next(
        (variable for variable in variables if variable.replace("_", "") == key.replace("_", "")), None
    )
    suggestion = suggestion or next(
        (variable for variable in variables if variable.endswith(f"{DELIMITER}{key}")), None
    )
    sibling = nearest(segment, kind.model_fields) if is_model(kind) else None
    if not suggestion and sibling:
        parts = name.removeprefix(PREFIX).split(DELIMITER)
        suggestion = DELIMITER.join([*parts[: len(path)], sibling.upper(), *parts[len(path) + 1 :]])
    suggestion = suggestion or nearest(key, variables)
    return (
        f"Did you mean {PREFIX}{suggestion}?"
        if suggestion
        else "Remove it; `pressroom config show` lists what there is."
    )


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A valid configuration. `file` is the file that was read, or `None`."""

    settings: Settings
    file: Path | None
    origins: Origins

    def origin_of(self, key: str) -> Origin:
        """Return the origin of a dotted key, such as `tools.qr-code-generator.enabled`."""
        return self.origins.of(key)


def load(
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Load the configuration; `overrides` beat the environment, which beats the file, which beats the defaults.

    The file is `config_file`, else the path in `PRESSROOM_CONFIG`, else `pressroom.toml` in the current folder if it
    exists. `environ` defaults to the process's environment. `overrides` come from the command line, as dotted keys such
    as `server.port` with values as in the file; `None` means not given.

    Raises:
        InvalidConfig: The configuration is invalid; the exception contains all problems, not only the first.
    """
    environ = os.environ if environ is None else environ
    problems: list[ConfigProblem] = []
    origins = Origins()
    path = find_file(config_file, environ)
    content = TomlFile()
    if path is not None:
        try:
            content = read_toml(path)
        except InvalidConfig as error:
            problems += error.problems
        for key in leaves_and_tables((), content.values):
            if key:
                origins.record(key, None, Origin("file", str(path), content.lines.get(key, 0)))

    environment = Environment(environ, content.values, origins)
    values = merge(content.values, environment.values())
    problems += environment.problems
    references = References(environ, origins, _read_at)
    values = references.resolved(values)
    problems += references.problems
    for name, value in (overrides or {}).items():
        if value is not None:
            parts = tuple(name.split("."))
            values = merge(values, nested(parts, value))
            origins.record(parts, value, COMMAND_LINE)
    missing = {problem.key for problem in references.problems}
    settings = _validated(values, origins, problems, missing)
    if problems or settings is None:
        raise InvalidConfig(problems)
    return LoadedConfig(settings, path, origins)


def find_file(config_file: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the path of the configuration file, or `None`. Only the default file is checked for existence."""
    selected = config_file or environ.get(CONFIG_VARIABLE)
    if selected:
        return Path(selected)
    return DEFAULT_FILE if os.path.lexists(DEFAULT_FILE) else None


def _validated(
    values: Mapping[str, Any], origins: Origins, problems: list[ConfigProblem], missing: set[str]
) -> Settings | None:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems += [problem for problem in problems_of(error, Settings, "", origins) if problem.key not in missing]
        return None


def _read_at(path: KeyPath, text: str) -> Any:
    """Convert the text of a reference to the type at a key. In a plugin's own configuration, it stays text.

    Raises:
        ValueError: The key is a table, and the text is not a JSON object.
    """
    kind: Any = Settings
    for part in path:
        kind = _type_in(kind, str(part)) if kind is not None and not isinstance(part, int) else str
    if get_origin(kind) is tuple:
        decoded = _decoded(text)
        return decoded if isinstance(decoded, list) else [part.strip() for part in text.split(",")]
    if get_origin(kind) is dict or is_model(kind):
        decoded = _decoded(text)
        if not isinstance(decoded, dict):
            raise ValueError("must be a JSON object")
        return decoded
    return text
