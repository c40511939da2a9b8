"""The files of the bundle: the nine standard ones, and optional ones."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from html import escape
from typing import Final

from PIL import Image
from pressroom.graphics.color import contrast, parse_color
from pressroom.graphics.emoji import is_emoji
from pressroom.graphics.icons import icon_sheet
from pressroom.graphics.png import encode_png
from pressroom.graphics.segments import grapheme_clusters
from pressroom.sdk import Artifact, InvalidInput

from pressroom_favicon_generator.icon import Icon, draw_icon, read_image, vector_icon
from pressroom_favicon_generator.params import FaviconDetails, FaviconParams

ICO_SIZES: Final = (16, 32, 48)
_APPLE, _ANDROID_SMALL, _ANDROID_LARGE = 180, 192, 512
_SAFE_ZONE: Final = 0.4
"""Radius, relative to the size, of a maskable icon's safe zone (W3C Web Application Manifest)."""

_MIN_CONTRAST: Final = 1.5
"""The contrast of letters and background below which people see an empty icon."""

_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a ZIP can store. A constant makes bundles reproducible."""


def make_bundle(params: FaviconParams) -> Artifact:
    """Return the ZIP with all files. Raises `InvalidInput` if the content cannot be drawn."""
    image = read_image(params.image) if params.image is not None else None
    vector = image.svg if image is not None else None
    if params.darkColor is not None and vector is None:
        raise InvalidInput("darkColor", "only goes with an SVG in image; a PNG has one look")
    icons = {size: draw_icon(params, size) for size in (*ICO_SIZES, _ANDROID_SMALL, _ANDROID_LARGE)}
    pngs = {size: encode_png(icon.image) for size, icon in icons.items()}
    apple = draw_icon(params, _APPLE, square=True).image.convert("RGB")
    sheet = icon_sheet({size: icons[size].image for size in ICO_SIZES} | {_APPLE: apple})
    files = {
        **{f"favicon-{size}x{size}.png": pngs[size] for size in ICO_SIZES},
        "apple-touch-icon.png": encode_png(apple),
        "android-chrome-192x192.png": pngs[_ANDROID_SMALL],
        "android-chrome-512x512.png": pngs[_ANDROID_LARGE],
        "favicon.ico": ico([(size, pngs[size]) for size in ICO_SIZES]),
        "site.webmanifest": _manifest(params, maskable=_maskable(icons[_ANDROID_LARGE], params)),
        "favicon-tags.html": _tags(params, vector=vector is not None),
    }
    if vector is not None:
        files["favicon.svg"] = vector_icon(vector, params)
    if params.maskable:
        for size in (_ANDROID_SMALL, _ANDROID_LARGE):
            maskable_icon = draw_icon(params, size, maskable=True).image
            files[f"maskable-{size}x{size}.png"] = encode_png(maskable_icon.convert("RGB"))
    return Artifact(
        _zip(files),
        "application/zip",
        FaviconDetails(files=list(files), html=files["favicon-tags.html"].decode()),
        warnings=image.warnings if image else _contrast_warnings(params),
        preview=("image/png", encode_png(sheet)),
    )


def ico(pngs: list[tuple[int, bytes]]) -> bytes:
    """Return an ICO of square PNGs, given as pairs of edge length (1 to 255) and bytes, in order."""
    offset = 6 + 16 * len(pngs)
    entries, contents = b"", b""
    for edge, png in pngs:
        entries += struct.pack("<BBBBHHII", edge, edge, 0, 0, 1, 32, len(png), offset + len(contents))
        contents += png
    return struct.pack("<HHH", 0, 1, len(pngs)) + entries + contents


def _zip(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _NO_DATE)
            entry.create_system = 3  # Unix, whatever the platform
            entry.external_attr = 0o644 << 16
            packed = zipfile.ZIP_STORED if name.endswith((".png", ".ico")) else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, packed)
    return written.getvalue()


def _maskable(icon: Icon, params: FaviconParams) -> bool:
    """Return whether an icon can be masked to any shape: it fills its square, and the ink is in the safe zone."""
    if params.image is not None or params.radius or not parse_color(params.bgColor).opaque:
        return False
    size = icon.image.width
    left, top, right, bottom = icon.ink
    reach = math.hypot(max(size / 2 - left, right - size / 2), max(size / 2 - top, bottom - size / 2))
    return reach <= _SAFE_ZONE * size


def _manifest(params: FaviconParams, *, maskable: bool) -> bytes:
    color = _theme_color(params)
    icons: list[dict[str, str]] = [
        {
            "src": f"/android-chrome-{size}x{size}.png",
            "sizes": f"{size}x{size}",
            "type": "image/png",
            "purpose": "any maskable" if maskable else "any",
        }
        for size in (_ANDROID_SMALL, _ANDROID_LARGE)
    ]
    if params.maskable:
        icons = [{**icon, "purpose": "any"} for icon in icons]
        icons += [
            {
                "src": f"/maskable-{size}x{size}.png",
                "sizes": f"{size}x{size}",
                "type": "image/png",
                "purpose": "maskable",
            }
            for size in (_ANDROID_SMALL, _ANDROID_LARGE)
        ]
    # Without a name, systems show the page's title or host, which says more than an emoji.
    text = "" if params.image is not None or params.source == "emoji" else params.content
    name = params.name or text
    document: dict[str, object] = {
        **({"name": name, "short_name": name} if name else {}),
        "start_url": "/",
        "icons": icons,
        "theme_color": color,
        "background_color": color,
        "display": "standalone",
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n"


def _tags(params: FaviconParams, *, vector: bool) -> bytes:
    lines = [
        '<link rel="icon" href="/favicon.ico" sizes="16x16 32x32 48x48">',
        *(['<link rel="icon" type="image/svg+xml" sizes="any" href="/favicon.svg">'] if vector else []),
        *(
            f'<link rel="icon" type="image/png" sizes="{size}x{size}" href="/favicon-{size}x{size}.png">'
            for size in ICO_SIZES
        ),
        f'<link rel="apple-touch-icon" sizes="{_APPLE}x{_APPLE}" href="/apple-touch-icon.png">',
        '<link rel="manifest" href="/site.webmanifest">',
        f'<meta name="theme-color" content="{escape(_theme_color(params))}">',
    ]
    return ("\n".join(lines) + "\n").encode()


def _theme_color(params: FaviconParams) -> str:
    return _opaque(params.imageBackground if params.image is not None else params.bgColor)


def _contrast_warnings(params: FaviconParams) -> tuple[str, ...]:
    """Warn of letters that can hardly be seen on their background, or on white if it is transparent."""
    ground = _opaque(params.bgColor)
    ratio = contrast(parse_color(_opaque(params.fgColor, ground)), parse_color(ground))
    if ratio >= _MIN_CONTRAST or all(map(is_emoji, grapheme_clusters(params.content))):
        return ()
    place = "" if parse_color(params.bgColor).opaque else " on white, as in apple-touch-icon.png"
    return (f"The letters can hardly be seen: the contrast of fgColor and bgColor is {ratio:.1f}:1{place}.",)


def _opaque(color: str, ground: str = "#ffffff") -> str:
    """Return a colour composited on another: browsers do not support transparent theme colours."""
    composite = Image.new("RGBA", (1, 1), parse_color(ground).rgba8)
    composite.alpha_composite(Image.new("RGBA", (1, 1), parse_color(color).rgba8))
    red, green, blue = composite.convert("RGB").tobytes()
    return f"#{red:02x}{green:02x}{blue:02x}"
