"""The fonts of the pages: those that the server draws with, cut down to what pages show, as WOFF2.

They are made from the installed packages when they are asked for first, and kept in the data folder. Without the extra
`graphics`, pages use fonts of the reader's system. Each is two files: what nearly every page shows, and the letters of
other Latin alphabets, which browsers load for pages that have any.
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
"""To be raised with every change of what is cut out: fonts are cached for a year under their version."""

_MODULES: Final = ("uharfbuzz", "fontTools", "brotli")
_MADE: Final[dict[str, bytes]] = {}
"""What this process made, by version: every server in it has the same fonts."""

_LATIN: Final = (*range(0x20, 0x7F), *range(0xA0, 0x100), 0x152, 0x153, 0x160, 0x161, 0x178, 0x17D, 0x17E)
_SIGNS: Final = (*range(0x2010, 0x2027), 0x202F, *range(0x2030, 0x2040), 0x20AC, 0x2122, *range(0x2190, 0x2194), 0x2197)
_SYMBOLS: Final = (0x2212, 0x2248, 0x2260, 0x2264, 0x2265, 0x25B2, 0x25BC, 0x25CB, 0x2713, 0x2715)
_BASIC: Final = frozenset({*_LATIN, *_SIGNS, *_SYMBOLS})
_EXTENDED: Final = frozenset({*range(0x100, 0x180), *range(0x218, 0x21C)}) - _BASIC
_FEATURES: Final = ("kern", "locl", "tnum")


@dataclass(frozen=True, slots=True)
class FontRecipe:
    """How a font of the pages is cut out of a package's file.

    `weights` are the least and the greatest of the `wght` axis, `pinned` the values of the other axes. `first` tells
    that every page shows it, so that browsers may load it before the style sheet asks for it. The others are loaded by
    pages that show text in them. `heights` are an ascent and a descent in percent of the size, where a line is to have
    others than the font's own.
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
"""Those of JetBrains Mono: images of code have the same base line in every font."""

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
    # For typing in an image that is drawn in them.
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
    """A font of the reader's system, scaled so that a text takes the same room in it while the font of the page loads.

    `names` are full names of faces of the same widths, `size` is in percent, `ascent` and `descent` are those of the
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
    """A font that can be made. `version` changes with its content, and is in its URL."""

    recipe: FontRecipe
    source: Path
    version: str
    extended: bool = False

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.recipe.name.replace(".", "-extended.") if self.extended else self.recipe.name

    @property
    def characters(self) -> frozenset[int]:
        """The characters that it is for."""
        return _EXTENDED if self.extended else _BASIC

    @property
    def href(self) -> str:
        """Its path below the server's root."""
        return f"{PATH}/{self.name}?v={self.version}"


class WebFonts:
    """The fonts of the pages of one server. `folder` is where they are kept; it is made with the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fonts = {font.name: font for font in _installed()}
        self._made: dict[str, bytes] = {}
        self._turn = asyncio.Lock()

    @property
    def css(self) -> str:
        """The `@font-face` rules of the style sheet, whose URLs are relative to it."""
        if not self._fonts:
            return ""
        return "".join((*map(_rule, self._fonts.values()), *map(_system_rule, _SYSTEM_FONTS)))

    @property
    def preloaded(self) -> tuple[str, ...]:
        """The paths of the fonts that every page shows."""
        return tuple(font.href for font in self._fonts.values() if font.recipe.first and not font.extended)

    def version(self, name: str) -> str:
        """Return the version of a font. Raises `NotFound`."""
        return self._font(name).version

    async def content(self, name: str) -> bytes:
        """Return a font as WOFF2. Raises `NotFound`."""
        font = self._font(name)
        if name not in self._made:
            async with self._turn:  # it takes the processor for a second, so one at a time
                if name not in self._made:
                    self._made[name] = await asyncio.to_thread(self._read_or_make, font)
        return self._made[name]

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
        content = _MADE.get(font.version) or _MADE.setdefault(font.version, make(font))
        with suppress(OSError):  # a full or read-only disk costs the next start a second
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(content)
            Path(file.name).replace(path)
        return content


def make(font: WebFont) -> bytes:
    """Return a font cut down to the characters, weights and features of the pages, as WOFF2."""
    import uharfbuzz  # noqa: PLC0415 - an extra, and loads with the first font
    from fontTools.ttLib import TTFont  # noqa: PLC0415

    # Without types of its own.
    harfbuzz: Any = uharfbuzz
    recipe = font.recipe
    face = harfbuzz.Face(harfbuzz.Blob.from_file_path(str(font.source)))
    wanted = harfbuzz.SubsetInput()
    for character in font.characters:
        wanted.unicode_set.add(character)
    wanted.layout_feature_tag_set.clear()
    for feature in _FEATURES:
        wanted.layout_feature_tag_set.add(int.from_bytes(feature.encode()))
    least, greatest = recipe.weights
    if least == greatest:
        wanted.pin_axis_location(face, "wght", least)
    else:
        wanted.set_axis_range(face, "wght", least, greatest, least)
    for axis, value in recipe.pinned.items():
        wanted.pin_axis_location(face, axis, value)
    subset = TTFont(io.BytesIO(wanted.subset(face).blob.data), recalcTimestamp=False)
    subset.flavor = "woff2"
    packed = io.BytesIO()
    subset.save(packed)
    return packed.getvalue()


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


@cache  # looking it up reads the folder of every distribution
def _version(distribution: str) -> str:
    return metadata.version(distribution)


def _rule(font: WebFont) -> str:
    least, greatest = font.recipe.weights
    weight = f"{least}" if least == greatest else f"{least} {greatest}"
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
    """Return characters as CSS writes them: `U+20-7E,U+A0`."""
    ranges: list[list[int]] = []
    for one in sorted(characters):
        if ranges and ranges[-1][1] == one - 1:
            ranges[-1][1] = one
        else:
            ranges.append([one, one])
    return ",".join(f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in ranges)
