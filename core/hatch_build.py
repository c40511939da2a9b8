"""Puts the plugin template into what is built, so that `pressroom new` works wherever the package is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGED: Final = "pressroom/plugin_template"


class TemplateBuildHook(BuildHookInterface[Any]):
    """Adds the repository's `plugin-template` to wheels and source distributions.

    An unpacked source distribution has it inside the package already. An editable installation reads the repository's.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder to be included. Raises `FileNotFoundError` where there is none."""
        sources = Path(self.root, "src")
        if version == "editable" or (sources / PACKAGED).is_dir():
            return
        template = Path(self.root).parent / "plugin-template"
        if not (template / "cookiecutter.json").is_file():
            raise FileNotFoundError(f"the plugin template is missing: {template}; build inside the whole repository")
        build_data["force_include"][str(template)] = f"src/{PACKAGED}" if self.target_name == "sdist" else PACKAGED
