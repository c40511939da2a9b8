"""Web fonts of the pages: the fonts for server-side drawing, subset to the characters of pages, as WOFF2.

They are built from the installed packages on first use, and kept in the data folder. Without the extra `graphics`,
pages use system fonts. Each font is split into two files: the characters of nearly every page, and the letters of other
Latin alphabets, which browsers load on demand.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from pressroom.errors import NotFound

MEDIA_TYPE: Final = "font/woff2"
PATH: Final = "/tools/static/fonts"

_RECIPE: Final = 3
"""Increment this with every change to the subset: browsers cache fonts for a year under their version."""

_MODULES: Final = ("uharfbuzz", "fontTools", "brotli")
_FONT_CACHE: Final[dict[str, bytes]] = {}
"""Fonts built by this process, by version, shared by all its servers."""

_LATIN: Final = (*range(0x20, 0x7F), *range(0xA0, 0x100), 0x152, 0x153, 0x160, 0x161, 0x178, 0x17D, 0x17E)
_SIGNS: Final = (*range(0x2010, 0x2027), 0x202F, *range(0x2030, 0x2040), 0x20AC, 0x2122, *range(0x2190, 0x2194), 0x2197)
_SYMBOLS: Final = (0x2212, 0x2248, 0x2260, 0x2264, 0x2265, 0x25B2, 0x25BC, 0x25CB, 0x2713, 0x2715)
_BASIC: Final = frozenset({*_LATIN, *_SIGNS, *_SYMBOLS})
_EXTENDED: Final = frozenset({*range(0x100, 0x180), *range(0x218, 0x21C)}) - _BASIC
_FEATURES: Final = ("kern", "locl", "tnum")


@dataclass(frozen=True, slots=True)
class FontRecipe:
    """How to build a web font from a package's font file.

    `weights` are the minimum and maximum of the `wght` axis, `pinned` the values of other axes. `first` marks fonts
    that every page uses, which browsers can preload; other fonts are loaded on demand. `heights` override the font's
    ascent and descent, in percent of the font size.
    """

    name: str
    family: str
    module: str
    distribution: str
    file: str
    weights: tuple[int, int]
    pinned: Mapping[str, int]
    first: bool = True
    style: Literal["normal", "italic"] = "normal"
    heights: tuple[int, int] | None = None


_CODE_HEIGHTS: Final = (102, 30)
"""The heights of JetBrains Mono, which give images of code the same baseline in every font."""

_RECIPES: Final = (
    FontRecipe(
        "inter.woff2", "Inter", "fontpkg_inter", "fontpkg-inter", "Inter[opsz,wght].ttf", (400, 700), {"opsz": 14}
    ),
    FontRecipe(
        "source-serif-4.woff2",
        "Source Serif 4",
        "fontpkg_source_serif_4",
        "fontpkg-source-serif-4",
        "SourceSerif4[opsz,wght].ttf",
        (600, 600),
        {"opsz": 40},
    ),
    FontRecipe(
        "source-serif-4-text.woff2",
        "Source Serif 4",
        "fontpkg_source_serif_4",
        "fontpkg-source-serif-4",
        "SourceSerif4[opsz,wght].ttf",
        (400, 400),
        {"opsz": 20},
        first=False,
    ),
    FontRecipe(
        "source-serif-4-italic.woff2",
        "Source Serif 4",
        "fontpkg_source_serif_4",
        "fontpkg-source-serif-4",
        "SourceSerif4-Italic[opsz,wght].ttf",
        (400, 400),
        {"opsz": 20},
        first=False,
        style="italic",
    ),
    FontRecipe(
        "jetbrains-mono.woff2",
        "JetBrains Mono",
        "fontpkg_jetbrains_mono",
        "fontpkg-jetbrains-mono",
        "JetBrainsMono[wght].ttf",
        (400, 600),
        {},
        first=False,
    ),
    # For editing text in place in an image drawn with these fonts.
    FontRecipe(
        "fira-code.woff2",
        "Fira Code",
        "fontpkg_fira_code",
        "fontpkg-fira-code",
        "FiraCode[wght].ttf",
        (400, 400),
        {},
        first=False,
        heights=_CODE_HEIGHTS,
    ),
    FontRecipe(
        "source-code-pro.woff2",
        "Source Code Pro",
        "fontpkg_source_code_pro",
        "fontpkg-source-code-pro",
        "SourceCodePro[wght].ttf",
        (400, 400),
        {},
        first=False,
        heights=_CODE_HEIGHTS,
    ),
)


@dataclass(frozen=True, slots=True)
class SystemFont:
    """A system font scaled to the dimensions of a page's font, to avoid layout shifts while that loads.

    `names` are full names of faces with equal widths. `size` is in percent. `ascent` and `descent` are those of the
    page's font in percent of that size. All were measured with English prose.
    """

    family: str
    names: tuple[str, ...]
    weight: str
    size: float
    ascent: float
    descent: float
    style: Literal["normal", "italic"] = "normal"


_SYSTEM_FONTS: Final = (
    SystemFont("Inter", ("Arial", "Liberation Sans", "Arimo"), "400 500", 107, 90.54, 22.54),
    SystemFont("Inter", ("Arial Bold", "Liberation Sans Bold", "Arimo Bold"), "600 700", 101.2, 95.73, 23.84),
    SystemFont("Source Serif 4", ("Times New Roman", "Liberation Serif", "Tinos"), "400", 110.8, 93.5, 30.23),
    SystemFont(
        "Source Serif 4",
        ("Times New Roman Italic", "Liberation Serif Italic", "Tinos Italic"),
        "400",
        101.9,
        101.67,
        32.88,
        "italic",
    ),
    SystemFont(
        "Source Serif 4",
        ("Times New Roman Bold", "Liberation Serif Bold", "Tinos Bold"),
        "600 700",
        101.4,
        102.17,
        33.04,
    ),
    SystemFont(
        "JetBrains Mono",
        ("Menlo Regular", "DejaVu Sans Mono", "Liberation Mono", "Courier New"),
        "400 700",
        100,
        102,
        30,
    ),
)


@dataclass(frozen=True, slots=True)
class WebFont:
    """A font that can be built. `version` changes with its content, and is part of its URL."""

    recipe: FontRecipe
    source: Path
    version: str
    extended: bool = False

    @property
    def name(self) -> str:
        """The file name."""
        return self.recipe.name.replace(".", "-extended.") if self.extended else self.recipe.name

    @property
    def characters(self) -> frozenset[int]:
        """The code points that the font covers."""
        return _EXTENDED if self.extended else _BASIC

    @property
    def href(self) -> str:
        """The path below the server's root, with the version."""
        return f"{PATH}/{self.name}?v={self.version}"


class WebFonts:
    """The web fonts of one server. `folder` is their cache, created with the first font."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fonts = {font.name: font for font in _installed()}
        self._built: dict[str, bytes] = {}
        self._build_lock = asyncio.Lock()

    @property
    def css(self) -> str:
        """The `@font-face` rules of the style sheet, with URLs relative to it."""
        if not self._fonts:
            return ""
        return "".join((*map(_rule, self._fonts.values()), *map(_system_rule, _SYSTEM_FONTS)))

    @property
    def preloaded(self) -> tuple[str, ...]:
        """The paths of the fonts that every page uses."""
        return tuple(font.href for font in self._fonts.values() if font.recipe.first and not font.extended)

    def version(self, name: str) -> str:
        """Return the version of a font. Raises `NotFound` for an unknown name."""
        return self._font(name).version

    async def content(self, name: str) -> bytes:
        """Return a font as WOFF2. Raises `NotFound` for an unknown name."""
        font = self._font(name)
        if name not in self._built:
            async with self._build_lock:  # building takes about a second of CPU time, so one at a time
                if name not in self._built:
                    self._built[name] = await asyncio.to_thread(self._read_or_make, font)
        return self._built[name]

    def _font(self, name: str) -> WebFont:
        try:
            return self._fonts[name]
        except KeyError:
            raise NotFound(f"there is no font {name[:64]}") from None

    def _read_or_make(self, font: WebFont) -> bytes:
        path = self._folder / f"{font.version}-{font.name}"
        with suppress(OSError):
            if content := path.read_bytes():
                return content
        content = _FONT_CACHE.get(font.version) or _FONT_CACHE.setdefault(font.version, make(font))
        with suppress(OSError):  # with a full or read-only disk, the font is built again after a restart
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(content)
            Path(file.name).replace(path)
        return content


def make(font: WebFont) -> bytes:
    """Build a font as WOFF2 with only the characters, weights and features that pages need."""
    import uharfbuzz  # noqa: PLC0415 - an extra, and loads with the first font
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    # The package is untyped.
    harfbuzz: Any = uharfbuzz
    recipe = font.recipe
    face = harfbuzz.Face(harfbuzz.Blob.from_file_path(str(font.source)))
    subset_input = harfbuzz.SubsetInput()
    for character in font.characters:
        subset_input.unicode_set.add(character)
    subset_input.layout_feature_tag_set.clear()
    for feature in _FEATURES:
        subset_input.layout_feature_tag_set.add(int.from_bytes(feature.encode()))
    min_weight, max_weight = recipe.weights
    if min_weight == max_weight:
        subset_input.pin_axis_location(face, "wght", min_weight)
    else:
        subset_input.set_axis_range(face, "wght", min_weight, max_weight, min_weight)
    for axis, value in recipe.pinned.items():
        subset_input.pin_axis_location(face, axis, value)
    subset = TTFont(io.BytesIO(subset_input.subset(face).blob.data), recalcTimestamp=False)
    subset.flavor = "woff2"
    buffer = io.BytesIO()
    subset.save(buffer)
    return buffer.getvalue()


def _installed() -> Iterator[WebFont]:
    """Yield the fonts whose packages are installed."""
    if any(find_spec(module) is None for module in _MODULES):
        return
    for recipe in _RECIPES:
        spec = find_spec(recipe.module)
        source = Path(spec.origin).parent / "files" / recipe.file if spec is not None and spec.origin else None
        if source is not None and source.is_file():
            versions = [f"{name} {_version(name)}" for name in (recipe.distribution, "fonttools", "uharfbuzz")]
            for extended in (False, True):
                parts = [str(_RECIPE), repr(recipe), str(extended), *versions]
                yield WebFont(recipe, source, hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16], extended)


@cache  # the lookup reads the folder of every distribution
def _version(distribution: str) -> str:
    return metadata.version(distribution)


def _rule(font: WebFont) -> str:
    min_weight, max_weight = font.recipe.weights
    weight = f"{min_weight}" if min_weight == max_weight else f"{min_weight} {max_weight}"
    url = f"fonts/{font.name}?v={font.version}"
    heights = ""
    if font.recipe.heights is not None:
        ascent, descent = font.recipe.heights
        heights = f"ascent-override: {ascent}%; descent-override: {descent}%; line-gap-override: 0%; "
    return (
        f'@font-face {{ font-family: "{font.recipe.family}"; font-style: {font.recipe.style}; '
        f"font-weight: {weight}; font-display: swap; {heights}"
        f'src: url("{url}") format("woff2"); unicode-range: {_ranges(font.characters)}; }}\n'
    )


def _system_rule(font: SystemFont) -> str:
    names = ", ".join(f'local("{name}")' for name in font.names)
    return (
        f'@font-face {{ font-family: "{font.family} System"; font-style: {font.style}; font-weight: {font.weight}; '
        f"src: {names}; size-adjust: {font.size}%; ascent-override: {font.ascent}%; "
        f"descent-override: {font.descent}%; line-gap-override: 0%; "
        f"unicode-range: {_ranges(_BASIC | _EXTENDED)}; }}\n"
    )


@cache
def _ranges(characters: frozenset[int]) -> str:
    """Return characters in the CSS syntax of `unicode-range`: `U+20-7E,U+A0`."""
    ranges: list[list[int]] = []
    for code_point in sorted(characters):
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return ",".join(f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in ranges)
