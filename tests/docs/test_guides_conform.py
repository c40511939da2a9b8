"""The plugins written in the guides pass the checks that readers are told to run: the contract and strict types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pressroom.testing import assert_plugin_conforms
from support.doc_examples import DOCS, blocks
from support.downloads import STRICT
from support.installing import install, on_path

GUIDES = {
    "keep-tables": ("notes", "pressroom_notes"),
    "background-jobs": ("crawler", "pressroom_crawler"),
    "replace-a-backend": ("forgetful", "pressroom_forgetful"),
    "use-articles-and-websites": ("descriptions", "pressroom_descriptions"),
    "add-a-platform": ("bulletin", "pressroom_bulletin"),
    "add-a-language": ("esperanto", "pressroom_esperanto"),
}
REQUIRED = {"descriptions": "content", "bulletin": "content", "esperanto": "content"}


@pytest.fixture(params=GUIDES)
def guide(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Install a guide's plugin into the test's folder, and return the guide's name."""
    name: str = request.param
    text = (DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    files = {
        block.mark.removeprefix("file "): block.text
        for block in blocks(text)
        if block.mark.startswith("file pressroom_") and block.mark.endswith((".py", ".toml"))
    }
    id_, module = GUIDES[name]
    install(tmp_path, f"guide-{id_}", files, {id_: module})
    return name


def test_a_guides_plugin_conforms_to_the_contract(guide: str, tmp_path: Path) -> None:
    id_, _ = GUIDES[guide]
    with on_path(tmp_path):
        required: dict[str, object] = {REQUIRED[id_]: {}} if id_ in REQUIRED else {}
        assert_plugin_conforms(id_, host_config={"builtin_plugins": False, "plugins": required})


def test_a_guides_plugin_passes_strict_type_checks(guide: str, tmp_path: Path) -> None:
    files = sorted(path for path in tmp_path.rglob("*.py") if "migrations" not in path.parts)
    command = [sys.executable, "-m", "mypy", *STRICT]
    result = subprocess.run(
        [*command, *map(str, files)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stdout
