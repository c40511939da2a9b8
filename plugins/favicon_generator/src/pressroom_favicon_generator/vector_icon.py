"""`favicon.svg`: the uploaded SVG in a square, with its background and its colour in dark mode."""

from __future__ import annotations

from typing import Final

from pressroom.graphics.color import parse_color
from pressroom.graphics.svg import Svg

from pressroom_favicon_generator.params import FaviconParams

_EDGE: Final = 512
_CLASS, _DARK, _ROUND = "pressroom-icon", "pressroom-dark", "pressroom-round"


def vector_icon(svg: Svg, params: FaviconParams) -> bytes:
    """Return the file. `svg` is safe already; its size and ratio are known."""
    ratio = svg.ratio or 1.0
    room = _EDGE * (1 - params.imagePadding / 50)
    width, height = (room, room / ratio) if ratio > 1 else (room * ratio, room)
    place = f'x="{_number((_EDGE - width) / 2)}" y="{_number((_EDGE - height) / 2)}"'
    inner = f'<svg {place} width="{_number(width)}" height="{_number(height)}"{svg.text.removeprefix("<svg")}'
    background = parse_color(params.imageBackground)
    parts: list[str] = []
    clip = ""
    if params.darkColor:
        color = parse_color(params.darkColor)
        red, green, blue, _ = color.rgba8
        flood = f'<feFlood flood-color="#{red:02x}{green:02x}{blue:02x}" flood-opacity="{_number(color.alpha)}"/>'
        parts += [
            f"<style>@media (prefers-color-scheme: dark) {{ .{_CLASS} {{ filter: url(#{_DARK}) }} }}</style>",
            f'<filter id="{_DARK}" x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB">',
            # The drawing keeps its alpha and takes one colour, however it says its own.
            f'{flood}<feComposite operator="in" in2="SourceAlpha"/></filter>',
        ]
    if background.alpha:
        red, green, blue, _ = background.rgba8
        radius = _number(params.radius / 100 * _EDGE)
        shape = f'<rect width="{_EDGE}" height="{_EDGE}" rx="{radius}"'
        opacity = "" if background.opaque else f' fill-opacity="{_number(background.alpha)}"'
        parts += [
            f'<clipPath id="{_ROUND}">{shape}/></clipPath>',
            f'{shape} fill="#{red:02x}{green:02x}{blue:02x}"{opacity}/>',
        ]
        clip = f' clip-path="url(#{_ROUND})"'
    drawing = f'<g class="{_CLASS}">{inner}</g>'
    content = f"<g{clip}>{drawing}</g>" if clip else drawing
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_EDGE} {_EDGE}">'
    return f"{opening}{''.join(parts)}{content}</svg>\n".encode()


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
