"""A grammar of hostile or sloppy HTML and CSS: Hypothesis strategies for fuzzing the engine."""

from __future__ import annotations

import base64
from typing import Final

from hypothesis import strategies as st
from pressroom_image_generator.engine.properties import PROPERTIES
from pressroom_image_generator.engine.shorthands import SHORTHANDS

Texts = st.SearchStrategy[str]


def _words(text: str) -> Texts:
    return st.sampled_from(text.split())


_DOT: Final = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8DwH4QZYAwAR8oH+QXh8j8AAAAASUVORK5CYII="
_DRAWING: Final = base64.b64encode(
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2"><rect width="2" height="2" fill="red"/></svg>'
).decode()
ADDRESSES: Final = st.sampled_from(
    [
        f"data:image/png;base64,{_DOT}",
        f"data:image/png;base64,{_DOT[:60]}",
        f"data:image/svg+xml;base64,{_DRAWING}",
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E",
        "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=",
        "data:image/png,",
        "https://example.com/a.png",
        "http://example.com/a.png",
        "",
    ]
)

_NUMBERS: Final = _words(
    "0 1 2 3 -1 0.5 .25 1.5 7 12 100 1e3 -0 1e-9 -1e-9 1e9 -1e9 99999999 1e38 1e308 -1e308 1e999 2147483648"
)
_UNITS: Final = _words("px px px px % % em rem vw vh vmin vmax ch lh pt cm in q deg fr x")
_OPERATORS: Final = st.sampled_from([" + ", " - ", " * ", " / ", "+", "*"])
_plain_lengths = st.builds("{}{}".format, _NUMBERS, _UNITS) | st.sampled_from(["0", "auto", "50%", "100%", "10px"])


def _function(name: str | Texts, arguments: Texts, min_size: int = 1, max_size: int = 4, separator: str = ",") -> Texts:
    names = st.just(name) if isinstance(name, str) else name
    inner = st.lists(arguments, min_size=min_size, max_size=max_size).map(separator.join)
    return st.builds("{}({})".format, names, inner)


def _sequence(*parts: Texts) -> Texts:
    return st.tuples(*parts).map(" ".join)


def _some(part: Texts, max_size: int = 3, separator: str = " ") -> Texts:
    return st.lists(part, min_size=1, max_size=max_size).map(separator.join)


_sums = st.builds("{}{}{}".format, _plain_lengths, _OPERATORS, _plain_lengths | _NUMBERS)
LENGTHS: Final = (
    _plain_lengths
    | _function("calc", _sums, 1, 1)
    | _function(_words("min max clamp"), _plain_lengths | _sums, 1, 3)
    | _words("auto min-content max-content fit-content none var(--a) var(--b,3px) calc(infinity*1px) calc(1px/0)")
)
COLORS: Final = _words(
    "red #f008 #12345678 transparent currentcolor rgb(1,2,3) rgba(255,0,0,.5) hsl(40deg,50%,50%) hwb(1,2%,3%) black "
    "lab(50%,1,1) oklch(60%,.2,200) color-mix(in,red,blue) #ggg white rgb(1e9,-1e9,calc(1)) var(--a)"
).map(lambda text: text.replace(",", " ") if text.startswith(("lab", "oklch", "hwb")) else text)
ANGLES: Final = st.builds("{}{}".format, _NUMBERS, _words("deg rad turn grad")) | st.just("0")
_PLACES: Final = _some(_words("left right top bottom center 50% 10px -1e9px"), 4)
_stops = st.builds("{} {}".format, COLORS, st.just("") | _plain_lengths | _sequence(_plain_lengths, _plain_lengths))
_gradients = st.builds(
    "{}{}({}{})".format,
    st.sampled_from(["", "repeating-"]),
    _words("linear-gradient radial-gradient conic-gradient"),
    st.just("")
    | ANGLES.map("{},".format)
    | ANGLES.map("from {} at 10% 90%,".format)
    | _PLACES.map("to {},".format)
    | _PLACES.map("circle closest-side at {},".format)
    | LENGTHS.map("ellipse {} 20px,".format),
    _some(_stops, 5, ","),
)
IMAGES: Final = _gradients | ADDRESSES.map("url({})".format) | st.just("none")
SHADOWS: Final = _some(_sequence(_some(_plain_lengths, 4), COLORS, st.sampled_from(["", "inset"])), 3, ",")
TRANSFORMS: Final = _some(
    _function(_words("translate translateX translateY translate3d"), LENGTHS)
    | _function(_words("rotate rotateZ rotateX skew skewX skewY"), ANGLES)
    | _function(_words("scale scaleX scaleY matrix"), _NUMBERS, 1, 6)
    | st.just("perspective(1px)")
)
FILTERS: Final = _some(
    _function(_words("blur brightness contrast grayscale hue-rotate invert opacity saturate sepia"),
              _plain_lengths | _NUMBERS | ANGLES, 0, 1)
    | _function("drop-shadow", SHADOWS, 1, 1)
)  # fmt: skip
SHAPES: Final = (
    _function(_words("circle ellipse inset rect xywh"), LENGTHS, 0, 5, " ")
    | _function("polygon", _sequence(LENGTHS, LENGTHS), 0, 5)
    | _function("circle", st.builds("{} at {}".format, LENGTHS, _PLACES), 1, 1)
    | _function("path", st.just("'M0 0L9 9'"), 1, 1)
)
_sizes_of_tracks = LENGTHS | _words("1fr 2fr 0fr 1e308fr minmax(10px,1fr) minmax(1fr,2px) fit-content(9px) [a]")
TRACKS: Final = _some(
    _sizes_of_tracks
    | _function("repeat", _words("2 3 100000 auto-fill auto-fit 0 -1").flatmap(
        lambda times: _some(_sizes_of_tracks).map(f"{times},{{}}".format)), 1, 1)
)  # fmt: skip
_LINES: Final = _sequence(_words("thin 1px 3px 1e9px .3px -1px 0"), _words("solid dashed dotted double none"), COLORS)
_FONTS: Final = st.builds("{} {}/{} {}".format, _words("bold italic 900 normal 1"), LENGTHS, LENGTHS | _NUMBERS,
                          _words("Inter serif mono 'No,such' sans-serif,serif"))  # fmt: skip
KEYWORDS: Final = _words(
    "none auto normal flex inline-flex block inline inline-block grid inline-grid contents flow-root list-item table "
    "table-row table-cell -webkit-box static relative absolute fixed sticky border-box content-box visible hidden "
    "collapse rtl ltr clip scroll row column row-reverse column-reverse nowrap wrap wrap-reverse stretch flex-start "
    "flex-end start end self-end center baseline left right space-between space-around space-evenly dense italic "
    "oblique justify uppercase capitalize pre pre-wrap pre-line break-spaces break-all keep-all break-word anywhere "
    "balance pretty ellipsis disc decimal lower-alpha super sub middle text-top underline line-through wavy dotted "
    "solid dashed double repeat repeat-x no-repeat space round padding-box text cover contain fill scale-down "
    "pixelated multiply screen difference plus-lighter inherit initial unset revert !important thick xx-large larger"
)
ANYTHING: Final = st.one_of(
    KEYWORDS, LENGTHS, COLORS, _NUMBERS, IMAGES, SHADOWS, TRANSFORMS, FILTERS, SHAPES, TRACKS, _LINES,
    _FONTS, _PLACES, _some(KEYWORDS | LENGTHS | COLORS, 5), st.text("()[]{}'\"\\/*,;:!@#%-. aA0\0\n\u202e", max_size=8),
)  # fmt: skip

_BY_WORD: Final[tuple[tuple[tuple[str, ...], Texts], ...]] = (
    (("shadow",), SHADOWS),
    (("transform-origin", "position"), _PLACES | KEYWORDS),
    (("transform",), TRANSFORMS | KEYWORDS),
    (("filter",), FILTERS),
    (("clip-path",), SHAPES),
    (("image",), IMAGES | _some(IMAGES, 3, ",")),
    (("grid-template", "grid-auto-rows", "grid-auto-columns"), TRACKS),
    (("grid-column", "grid-row", "grid-area"), _some(_words("1 -1 3 span 2 9999 auto / 0"), 5)),
    (("background",), _some(IMAGES | COLORS | _PLACES | KEYWORDS, 3) | _some(IMAGES, 3, ",")),
    (("color",), COLORS),
    (("display", "direction", "align", "justify", "wrap", "style", "white-space", "word-break", "overflow"), KEYWORDS),
    (("border-", "outline-"), LENGTHS | KEYWORDS),
    (("border", "outline", "stroke"), _LINES),
    (("font",), _FONTS | LENGTHS | _NUMBERS),
    (("opacity", "order", "z-index", "grow", "shrink", "ratio", "clamp", "weight", "line-height"), _NUMBERS | LENGTHS),
)
_NAMES: Final = st.sampled_from(sorted([*PROPERTIES, *SHORTHANDS, "--a", "--b"]))
_OFTEN: Final = _words(
    "display display position width height flex-direction flex-wrap padding margin gap font-size line-height "
    "background overflow flex align-items justify-content min-width max-height transform filter opacity border left "
    "top white-space"
)


def values_of(name: str) -> Texts:
    """Return values of which most are valid for a property."""
    for words, fitting in _BY_WORD:
        if any(word in name for word in words):
            return st.one_of(fitting, fitting, fitting, ANYTHING)
    return st.one_of(LENGTHS, LENGTHS, KEYWORDS, ANYTHING)


DECLARATIONS: Final = (_OFTEN | _NAMES).flatmap(lambda name: values_of(name).map(lambda value: f"{name}:{value}"))
STYLES: Final = st.lists(DECLARATIONS, max_size=7).map(";".join)

TEXTS: Final = st.text(max_size=20) | st.sampled_from(
    [
        "Hello, world",
        "A longer text that has to be broken into several lines",
        "Donaudampfschifffahrtsgesellschaftskapitän",
        "שלום (abc) 12-34",
        "مرحبا\u0640\u0640 بالعالم",
        "漢字かな交じり文。「括弧」",
        "สวัสดีชาวโลก",
        "नमस्ते दुनिया",
        "a\n\tb\u00a0\u00adc\u200bd",
        "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇩🇪🇩1️⃣",
        "\u202e\u2066abc\u2069\u202c\u200f",
        "Z" + "\u0301" * 60,
        "👩‍" * 30,
        "&amp;&#x0;&#xd800;&notanentity;",
        "]]>--><!--",
    ]
)
_TAGS: Final = _words("div div div div span span p b i u small sub code pre br hr h1 ul ol li a img table tr td mark q")
_ATTRIBUTES: Final = st.sampled_from(
    ["", "", "", "dir=rtl", "dir=auto", "hidden", "width=9", "height=1e9", "align=center", "start=-5", "onclick=x"]
)


def _quoted(style: str) -> str:
    return style.replace("&", "&amp;").replace('"', "&quot;")


def _element(children: Texts) -> Texts:
    return st.builds(
        lambda tag, style, attribute, inner: f'<{tag} {attribute} style="{_quoted(style)}">{"".join(inner)}</{tag}>',
        _TAGS, STYLES, _ATTRIBUTES, st.lists(children, max_size=4),
    )  # fmt: skip


_IMAGE_ELEMENTS: Final = st.builds(
    lambda address, alt, style: f'<img src="{address}" {alt} style="{_quoted(style)}">',
    ADDRESSES, st.sampled_from(["", "alt", 'alt="An image of hills"']), STYLES,
)  # fmt: skip
_SVG_TAGS: Final = _words(
    "g rect circle path text use image defs filter feGaussianBlur linearGradient stop mask pattern style script a "
    "symbol clipPath feOffset foreignObject switch marker polygon feTurbulence"
)
_SVG_ATTRIBUTES: Final = st.lists(
    st.builds('{}="{}"'.format, _words("x width height r d fill id href filter mask transform stdDeviation points"),
              st.sampled_from(["1", "9", "1e9", "-1", "#a", "url(#a)", "a", "M0 0L9 9z", "rotate(9)", "red", "nan"])),
    max_size=4, unique_by=lambda text: text.partition("=")[0],
).map(" ".join)  # fmt: skip


def _svg_element(children: Texts) -> Texts:
    return st.builds(
        lambda tag, attributes, inner: f"<{tag} {attributes}>{''.join(inner)}</{tag}>",
        _SVG_TAGS, _SVG_ATTRIBUTES, st.lists(children, max_size=3),
    )  # fmt: skip


SVG: Final = st.builds(
    "<svg {} {}>{}</svg>".format,
    st.sampled_from(["", 'width="90" height="1e9"', 'viewBox="0 0 10 10"', 'viewBox="0 0 0 -1"', 'width="-9"']),
    STYLES.map(lambda style: f'style="{_quoted(style)}"'),
    st.recursive(st.just("") | TEXTS.filter(lambda text: "<" not in text), _svg_element, max_leaves=5),
)

DOCUMENTS: Final = st.recursive(st.one_of(TEXTS, TEXTS, _IMAGE_ELEMENTS, SVG), _element, max_leaves=10)
"""Mostly well-formed documents."""


_CUTS: Final = st.tuples(st.floats(0, 1), st.floats(0, 1))
_PATCHES: Final = st.sampled_from(["", "doubled"]) | st.text("<>/='\"&;:(){}!-#%\0\u202e", max_size=6)


def _broken(html: str, cuts: tuple[float, float], patch: str) -> str:
    start, end = sorted(round(cut * len(html)) for cut in cuts)
    middle = html[start:end] * 2 if patch == "doubled" else patch
    return html[:start] + middle + html[end:]


BROKEN_DOCUMENTS: Final = st.builds(_broken, DOCUMENTS, _CUTS, _PATCHES)
"""Documents with a part missing, doubled or replaced."""
