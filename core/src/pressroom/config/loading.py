"""From the file, the environment and the command line to `Settings`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from pressroom.config.environment import CONFIG_VARIABLE, Environment
from pressroom.config.models import Settings
from pressroom.config.origins import COMMAND_LINE, Origin, Origins, leaves_and_tables
from pressroom.config.problems import ConfigProblem, InvalidConfig
from pressroom.config.sections import problems_of
from pressroom.config.toml_file import TomlFile, read_toml
from pressroom.config.values import merge, nested

DEFAULT_FILE: Final = Path("pressroom.toml")


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A configuration without problems. `file` is the one that was read, `None` where there was none."""

    settings: Settings
    file: Path | None
    origins: Origins

    def origin_of(self, key: str) -> Origin:
        """Return where the setting with that dotted key was set, such as `tools.qr-code-generator.enabled`."""
        return self.origins.of(key)


def load(
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Read the configuration: `overrides` win over the environment, that over the file, and that over the defaults.

    The file is `config_file`, else the one that `PRESSROOM_CONFIG` names, else `pressroom.toml` in the current
    folder, if it is there. `environ` is the process's environment unless it is given. `overrides` come from the
    command line: dotted keys such as `server.port`, and values as in the file; `None` means not given.

    Raises:
        InvalidConfig: something is wrong; it holds all problems that were found, not only the first.
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
    for name, value in (overrides or {}).items():
        if value is not None:
            parts = tuple(name.split("."))
            values = merge(values, nested(parts, value))
            origins.record(parts, value, COMMAND_LINE)
    settings = _validated(values, origins, problems)
    if problems or settings is None:
        raise InvalidConfig(problems)
    return LoadedConfig(settings, path, origins)


def find_file(config_file: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the configuration file to read; one that was named need not be there, the default one is."""
    named = config_file or environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    return DEFAULT_FILE if os.path.lexists(DEFAULT_FILE) else None


def _validated(values: Mapping[str, Any], origins: Origins, problems: list[ConfigProblem]) -> Settings | None:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems += problems_of(error, Settings, "", origins)
        return None
