"""Operator fonts: found by name, part of the cache key of results, and available in worker processes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.errors import ConfigError
from pressroom.graphics.font_check import check_fonts
from pressroom.graphics.font_sources import folders_revision, fonts_revision, use_font_folders
from pressroom.graphics.text import TextStyle, default_library, shape
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

FAVICON = "/tools/favicon-generator/api/generate"
MONO = default_library().of_family("monospace")[0].path


@pytest.fixture(autouse=True)
def _only_packages_afterwards() -> Iterator[None]:
    """Reset the font folders, which are process-wide and remain after a host stops."""
    yield
    use_font_folders(())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one operator font in a subfolder."""
    folder = tmp_path / "fonts"
    (folder / "mono").mkdir(parents=True)
    shutil.copy(MONO, folder / "mono" / "ours.TTF")
    return folder


def test_operator_fonts_take_precedence_over_packages(folder: Path) -> None:
    use_font_folders([folder])
    library = default_library()
    assert library.all_faces()[0].path == folder / "mono" / "ours.TTF"
    assert library.of_family("JetBrains Mono")[0].path == folder / "mono" / "ours.TTF"
    glyphs = shape("ab", TextStyle(20, ("JetBrains Mono",)), library).glyphs
    assert {glyph.face and glyph.face.path for glyph in glyphs} == {folder / "mono" / "ours.TTF"}


def test_the_revision_depends_on_the_contents_of_the_fonts(folder: Path, tmp_path: Path) -> None:
    first = folders_revision([folder])
    moved = tmp_path / "elsewhere"
    shutil.copytree(folder, moved)
    assert folders_revision([moved]) == first
    with (moved / "mono" / "ours.TTF").open("ab") as file:
        file.write(b"\0")
    assert folders_revision([moved]) != first
    assert folders_revision([]) == ""


def test_the_revision_of_packages_is_stable() -> None:
    assert fonts_revision() == fonts_revision() != ""


def test_a_missing_folder_is_refused_at_start_up(tmp_path: Path) -> None:
    config: dict[str, Any] = {"graphics": {"fonts": [str(tmp_path / "nowhere")]}}
    with (
        pytest.raises(ConfigError, match="nowhere is not a readable folder"),
        RunningHost(settings_for_test(config, tmp_path)),
    ):
        pass


def test_doctor_counts_fonts_and_reports_a_broken_one(folder: Path) -> None:
    assert check_fonts([]).status == "ok"
    result = check_fonts([folder])
    assert result.status == "ok"
    assert "1 of your own (JetBrains Mono)" in result.message
    (folder / "broken.otf").write_text("no font")
    broken = check_fonts([folder])
    assert (broken.status, broken.message) == ("error", "[graphics] fonts: broken.otf is not a readable font")


def test_doctor_warns_of_folders_without_fonts(tmp_path: Path) -> None:
    assert check_fonts([tmp_path]).status == "warning"


def made(config: dict[str, Any], folder: Path) -> tuple[str, bytes]:
    """Return the ID and the bytes of a favicon made in a worker process."""
    with RunningHost(settings_for_test(config, folder)) as host:
        data = httpx.post(host.url + FAVICON, json={"content": "g"}, timeout=30).json()["data"]
        return data["id"], httpx.get(data["url"]).content


def test_worker_processes_use_the_operator_fonts(tmp_path: Path) -> None:
    fonts = tmp_path / "fonts"
    fonts.mkdir()
    serif = default_library().of_family("serif")[0].path
    shutil.copy(renamed(serif, tmp_path), fonts / "own.ttf")
    plain_id, plain = made({}, tmp_path / "plain")
    own_id, own = made({"graphics": {"fonts": [str(fonts)]}}, tmp_path / "own")
    assert own_id != plain_id
    assert own != plain


def renamed(path: Path, folder: Path) -> Path:
    """Return a copy of a font renamed to Inter; the name table stores names as UTF-16."""
    content = path.read_bytes()
    name = default_library().of_family("serif")[0].family
    old, new = name.encode("utf-16-be"), "Inter".ljust(len(name), " ").encode("utf-16-be")
    assert old in content
    changed = folder / "changed.ttf"
    changed.write_bytes(content.replace(old, new))
    return changed
