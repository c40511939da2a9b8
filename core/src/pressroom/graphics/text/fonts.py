"""Available fonts, from packages and from the operator's folders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import uharfbuzz as hb

from pressroom.errors import ConfigError
from pressroom.graphics.font_sources import FONT_PACKAGES, font_files, font_folders

SANS, SERIF, MONO = "Inter", "Source Serif 4", "JetBrains Mono"

_GENERIC: Final = {
    "sans-serif": SANS,
    "system-ui": SANS,
    "ui-sans-serif": SANS,
    "serif": SERIF,
    "ui-serif": SERIF,
    "monospace": MONO,
    "mono": MONO,
    "ui-monospace": MONO,
}
"""The families that generic names of CSS and of the tools stand for."""

_FAMILY_NAME, _TYPOGRAPHIC_FAMILY = 1, 16
_ITALIC_BIT: Final = 1


@dataclass(frozen=True, eq=False)
class Face:
    """A font face. `weights` and `optical_sizes` are the ranges of its axes; a static font has a single weight."""

    path: Path
    family: str
    italic: bool
    weights: tuple[float, float]
    optical_sizes: tuple[float, float] | None
    _face: hb.Face = field(repr=False)

    @cached_property
    def coverage(self) -> hb.Set:
        """The code points for which the font has glyphs."""
        return self._face.unicodes

    @property
    def units_per_em(self) -> int:
        """The number of design units per em."""
        return int(self._face.upem)

    def font(self, size: float, weight: float) -> hb.Font:
        """Return the font at a size in pixels; positions and extents are in 64ths of a pixel."""
        return _font(self, size, weight)


@lru_cache(maxsize=256)
def _font(face: Face, size: float, weight: float) -> hb.Font:
    font = hb.Font(face._face)  # noqa: SLF001 - the face keeps its own handle to itself
    scale = round(size * 64)
    font.scale = (scale, scale)
    axes: dict[str, float] = {}
    if face.weights[0] != face.weights[1]:
        axes["wght"] = min(max(weight, face.weights[0]), face.weights[1])
    if face.optical_sizes:
        axes["opsz"] = min(max(size, face.optical_sizes[0]), face.optical_sizes[1])
    if axes:
        font.set_variations(axes)
    return font


class FontLibrary:
    """Faces by family, and the fallback order for characters that a face lacks."""

    def __init__(self, faces: Iterable[Face]) -> None:
        self._faces = tuple(faces)
        self._families: dict[str, list[Face]] = {}
        for face in self._faces:
            self._families.setdefault(face.family.casefold(), []).append(face)

    @property
    def families(self) -> tuple[str, ...]:
        """The names of all families."""
        return tuple(sorted({face.family for face in self._faces}))

    def candidates(self, families: Sequence[str], *, weight: float, italic: bool) -> tuple[Face, ...]:
        """Return the faces to try for each character in order of preference: the given families, then all others."""
        return _candidates(self, tuple(families), weight, italic)

    def of_family(self, name: str) -> Sequence[Face]:
        """Return the faces of a family or a generic one such as `serif`; empty if it is unknown."""
        key = name.strip().strip("'\"").casefold()
        return self._families.get(_GENERIC.get(key, key).casefold(), ())

    def all_faces(self) -> Sequence[Face]:
        """Return all faces in order of preference."""
        return self._faces


@lru_cache(maxsize=256)
def _candidates(library: FontLibrary, families: tuple[str, ...], weight: float, italic: bool) -> tuple[Face, ...]:
    def distance(face: Face) -> tuple[bool, float]:
        low, high = face.weights
        return face.italic != italic, max(low - weight, weight - high, 0.0)

    by_family: dict[str, Face] = {}
    for family in families:
        if faces := library.of_family(family):
            by_family.setdefault(faces[0].family, min(faces, key=distance))
    grouped: dict[str, list[Face]] = {}
    for face in library.all_faces():
        grouped.setdefault(face.family, []).append(face)
    for family, faces in grouped.items():
        by_family.setdefault(family, min(faces, key=distance))
    return tuple(by_family.values())


def load_faces(path: Path) -> list[Face]:
    """Return the faces of a font file.

    Raises:
        ConfigError: the file is not a font.
    """
    try:
        blob = hb.Blob.from_file_path(str(path))
        first = hb.Face(blob)
        return [_described(path, first), *(_described(path, hb.Face(blob, index)) for index in range(1, first.count))]
    except (hb.HarfBuzzError, OSError, ValueError, IndexError) as error:
        raise ConfigError(f"{path.name} is not a readable font") from error


def _described(path: Path, face: hb.Face) -> Face:
    if not face.glyph_count:
        raise ValueError(path.name)
    axes = {axis.tag: (axis.min_value, axis.max_value) for axis in face.axis_infos}
    family_name = face.get_name(_TYPOGRAPHIC_FAMILY) or face.get_name(_FAMILY_NAME) or ""
    family = family_name.strip() or path.stem
    weight = 400.0
    os2 = face.reference_table("OS/2").data if "OS/2" in face.table_tags else b""
    italic = False
    if len(os2) >= 64:
        weight = float(int.from_bytes(os2[4:6], "big")) or 400.0
        italic = bool(int.from_bytes(os2[62:64], "big") & _ITALIC_BIT)
    return Face(path, family, italic, axes.get("wght", (weight, weight)), axes.get("opsz"), face)


def default_library() -> FontLibrary:
    """Return the fonts in the operator's folders, followed by those of installed packages.

    Raises:
        ConfigError: a folder cannot be read, contains an invalid font file, or no font is available.
    """
    return _library(font_folders())


@lru_cache(maxsize=8)
def _library(folders: tuple[Path, ...]) -> FontLibrary:
    paths = [path for folder in folders for path in font_files(folder)]
    for package in FONT_PACKAGES:
        if find_spec(package) is not None:
            paths += font_files(Path(str(files(package))))
    faces = [face for path in paths for face in load_faces(path)]
    if not faces:
        raise ConfigError("there are no fonts", hint="install the extra `graphics`, or name a folder of fonts")
    return FontLibrary(faces)
