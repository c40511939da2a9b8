"""The font check of `pressroom doctor`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pressroom.errors import ConfigError
from pressroom.graphics.font_sources import CJK_PACKAGES, FONT_PACKAGES, font_files
from pressroom.sdk import CheckResult

if TYPE_CHECKING:
    from pressroom.graphics.text import Face

_SCRIPTS: Final = (
    ("Arabic", "\u0627", ("fontpkg_noto_sans_arabic",)),
    ("Hebrew", "\u05d0", ("fontpkg_heebo",)),
    ("Hindi", "\u0915", ("fontpkg_noto_sans_devanagari",)),
    ("Thai", "\u0e01", ("fontpkg_noto_sans_thai",)),
    ("Chinese", "\u7684", CJK_PACKAGES),
    ("Japanese", "\u306e", CJK_PACKAGES),
    ("Korean", "\uc758", CJK_PACKAGES),
)
"""Languages, an indispensable character of each, and the packages that support it (any one is enough)."""


def check_fonts(folders: Sequence[Path]) -> CheckResult:
    """Report the number of fonts, unreadable fonts of the operator, and languages without a font."""
    if find_spec("uharfbuzz") is None:
        return CheckResult("ok", "nothing draws text: the extra graphics is not installed")
    from pressroom.graphics.text.fonts import load_faces  # noqa: PLC0415 - it comes with the extra

    files = [path for folder in folders for path in font_files(folder)]
    faces: list[Face] = []
    for path in files:
        try:
            faces += load_faces(path)
        except ConfigError as error:
            return CheckResult("error", f"[graphics] fonts: {error.message}", "remove the file, or replace it")
    if folders and not files:
        return CheckResult("warning", "the folders of [graphics] fonts hold no font", "put .ttf, .otf or .ttc files in")
    families = ", ".join(sorted({face.family for face in faces}))
    custom = f"{len(files)} of your own ({families}), and " if files else ""
    packages = sum(1 for package in FONT_PACKAGES if find_spec(package) is not None)
    summary = f"{custom}those of {packages} packages"
    if lacking := _languages_without_font(faces):
        hint = "install pressroom[graphics,cjk], or put a font for each into a folder of [graphics] fonts"
        return CheckResult("warning", f"{summary}; none for {' or '.join(lacking)}: their text is drawn as boxes", hint)
    return CheckResult("ok", summary)


def _languages_without_font(faces: Collection[Face]) -> list[str]:
    """Return the languages that neither the operator's fonts nor installed packages support."""
    return [
        language
        for language, character, packages in _SCRIPTS
        if not any(find_spec(package) is not None for package in packages)
        and not any(ord(character) in face.coverage for face in faces)
    ]
