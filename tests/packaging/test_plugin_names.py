"""A plugin's folder is the only source of its name. Build files that repeat it must be up to date."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.plugin_names import ROOT, build_files, plugins


@pytest.mark.parametrize(("path", "text", "wanted"), list(build_files()), ids=lambda value: getattr(value, "name", ""))
def test_build_files_name_every_plugin(path: Path, text: str, wanted: str) -> None:
    assert text == wanted, "run: .venv/bin/python tests/support/plugin_names.py"


def test_every_mention_of_a_plugin_is_checked() -> None:
    names = plugins()
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    selection = (ROOT / "core/src/pressroom/plugins/discovery.py").read_text("utf-8")
    for plugin in names:
        assert project.count(f"plugins/{plugin.folder}") == 2, "as a dependency and in mypy_path"
        rules = 2 if plugin.folder == "content" else 4
        assert project.count(f'  "{plugin.package}",\n') == rules, "in the lists of the import rules"
        assert f"{plugin.distribution} = {{" in project
        assert f'"{plugin.distribution}",' in selection
