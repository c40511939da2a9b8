"""The configuration: one TOML file, the environment and command-line options."""

from pressroom.config.loading import LoadedConfig, load
from pressroom.config.models import Settings
from pressroom.config.origins import ConfigProblem, InvalidConfig, Origin, Origins
from pressroom.config.sections import validate_section

__all__ = [
    "ConfigProblem",
    "InvalidConfig",
    "LoadedConfig",
    "Origin",
    "Origins",
    "Settings",
    "load",
    "validate_section",
]
