"""The image as SVG (SVG 2): text as outlines, each glyph defined once."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Final
from xml.sax.saxutils import escape

from pressroom.graphics.color import Color
from pressroom.graphics.emoji import emoji_path
from pressroom.graphics.gradient import ConicGradient, parse_paint
from pressroom.graphics.svg_paint import svg_color, svg_number, svg_paint
from pressroom.graphics.text import PlacedGlyph, ShapedText, TextStyle, default_library, shape
from pressroom.graphics.text.drawing import glyph_path
from pressroom.graphics.text.shaping import emoji_box
from pressroom.sdk import InvalidInput

from pressroom_code_to_image.glyphs import HIDDEN_STRENGTH, CellMetrics, code_point, named, shaped_run, text_style
from pressroom_code_to_image.layout import RunKind, StyledRun, VisualRow
from pressroom_code_to_image.looks import RowLook, alarm_color, dimmed, number_style, visible
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.themes import THEMES, CodeTheme, TokenStyle
from pressroom_code_to_image.window import (
    BORDER,
    CONTROL,
    CONTROL_LEFT,
    CONTROL_STEP,
    CONTROLS,
    WindowFrame,
    edge_color,
    shadow_layers,
    title_color,
    title_in,
)

MAX_BYTES: Final = 4_000_000
"""Maximum size of an SVG in bytes. Plain code takes a tenth of it; thousands of distinct characters would take more."""

_PREFIX_LENGTH: Final = 5


def vector_image(
    params: CodeImageParams, frame: WindowFrame, rows: list[VisualRow], looks: list[RowLook]
) -> tuple[bytes, list[str]]:
    """Return the SVG document, and the characters that no font has.

    Raises:
        InvalidInput: SVG does not support the background, or the document would be larger than `MAX_BYTES`.
    """
    theme, width, height = THEMES[params.theme], frame.width, frame.height(len(rows))
    # Unique IDs, so that several such images can be inlined in one page.
    prefix = "c" + sha256(params.model_dump_json().encode()).hexdigest()[:_PREFIX_LENGTH]
    paint = parse_paint(params.background)
    if isinstance(paint, ConicGradient):
        raise InvalidInput(
            "background",
            "is a conic-gradient, which SVG does not have; take a linear- or radial-gradient, or the format png",
        )
    ground = svg_paint(paint, width, height, f"{prefix}ground")
    glyphs = GlyphSheet(prefix)
    inside = "".join(_inside(params, frame, theme, rows, looks, glyphs))
    blurs = "".join(_blurs(frame, prefix)) if frame.shadow else ""
    title = escape(visible(params.title.strip()) or "Code")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"',
        f' role="img" aria-labelledby="{prefix}title"><title id="{prefix}title">{title}</title>',
        f"<defs>{ground.definition}{blurs}{glyphs.definitions()}</defs>",
        f'<rect width="{width}" height="{height}" {ground.attributes}/>',
        *(_shadows(frame, len(rows), prefix) if frame.shadow else ()),
        f'<g transform="translate({frame.padding} {frame.padding})">{inside}</g></svg>\n',
    ]
    content = "".join(parts).encode()
    if len(content) > MAX_BYTES:
        raise InvalidInput(
            "format",
            f"makes an SVG of {len(content):,} bytes, at most {MAX_BYTES:,} are allowed: the outline of each different "
            "character is part of it; ask for png, or cut the code",
        )
    return content, glyphs.missing


class GlyphSheet:
    """The glyphs of an image: each is defined once, and referenced wherever it occurs."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names: dict[tuple[object, ...], str] = {}
        self._definitions: list[str] = []
        self._missing: dict[str, None] = {}

    @property
    def missing(self) -> list[str]:
        """The characters that no font has."""
        return list(self._missing)

    def definitions(self) -> str:
        """Return the elements that the placed glyphs refer to."""
        return "".join(self._definitions)

    def placed(self, text: ShapedText, x: float, baseline: float) -> str:
        """Return the elements of a line of text in the inherited colour, starting at `x`."""
        self._missing |= dict.fromkeys(text.missing)
        return "".join(self._placed(glyph, text.style, x, baseline) for glyph in text.glyphs)

    def _placed(self, glyph: PlacedGlyph, style: TextStyle, x: float, baseline: float) -> str:
        if glyph.face is None:
            left, top, edge = emoji_box(glyph, style)
            name = self._emoji(glyph.emoji, edge)
            x, y = x + left, baseline + top
        else:
            key = (glyph.face, style.size, style.weight, glyph.glyph)
            name = self._names.get(key) or self._outline(key, glyph_path(*key))
            x, y = x + glyph.x, baseline + glyph.y
        return f'<use href="#{name}" x="{svg_number(x)}" y="{svg_number(y)}"/>' if name else ""

    def _outline(self, key: tuple[object, ...], path: str) -> str:
        return self._define(key, f'<path id="{{}}" d="{path}"/>') if path else ""

    def _emoji(self, text: str, edge: float) -> str:
        key = (text, edge)
        if key in self._names:
            return self._names[key]
        path = emoji_path(text)
        if path is None:
            return ""
        size = svg_number(edge)
        # As a separate document, so that IDs do not clash.
        data = base64.b64encode(path.read_bytes()).decode()
        image = f'<image id="{{}}" width="{size}" height="{size}" href="data:image/svg+xml;base64,{data}"/>'
        return self._define(key, image)

    def _define(self, key: tuple[object, ...], element: str) -> str:
        name = self._names[key] = f"{self._prefix}g{len(self._names)}"
        self._definitions.append(element.replace("{}", name, 1))
        return name


def _blurs(frame: WindowFrame, prefix: str) -> Iterator[str]:
    for index, (blur, _, _) in enumerate(shadow_layers(frame)):
        # CSS Backgrounds 3, section 6.1: sigma is half the blur radius. The filter region is the whole image.
        yield (
            f'<filter id="{prefix}blur{index}" filterUnits="userSpaceOnUse" x="0" y="0" width="100%" height="100%"'
            f' color-interpolation-filters="sRGB"><feGaussianBlur stdDeviation="{svg_number(blur / 2)}"/></filter>'
        )


def _shadows(frame: WindowFrame, rows: int, prefix: str) -> Iterator[str]:
    for index, (_, down, strength) in enumerate(shadow_layers(frame)):
        yield (
            f'<rect x="{frame.padding}" y="{frame.padding + down}" width="{frame.window_width}"'
            f' height="{frame.window_height(rows)}" rx="{frame.radius}" fill-opacity="{svg_number(strength / 255)}"'
            f' filter="url(#{prefix}blur{index})"/>'
        )


def _inside(
    params: CodeImageParams,
    frame: WindowFrame,
    theme: CodeTheme,
    rows: list[VisualRow],
    looks: list[RowLook],
    glyphs: GlyphSheet,
) -> Iterator[str]:
    """Yield the elements of the window, relative to its corner."""
    width, height, line = frame.window_width, frame.window_height(len(rows)), frame.metrics.scale
    yield f'<rect width="{width}" height="{height}" rx="{frame.radius}" fill="{theme.background}"/>'
    yield from _bands(frame, looks, glyphs)
    # The line is inside the window; a stroke is centred on its path.
    yield (
        f'<rect x="{svg_number(line / 2)}" y="{svg_number(line / 2)}" width="{width - line}" height="{height - line}"'
        f' rx="{svg_number(max(frame.radius - line / 2, 0))}" fill="none" stroke-width="{line}"'
        f' stroke="{edge_color(theme)}" stroke-opacity="{svg_number(BORDER / 255)}"/>'
    )
    if params.windowControls:
        yield from _controls(frame)
    title = visible(params.title.strip())
    if title:
        text, x, baseline = title_in(frame, title, controls=params.windowControls)
        yield _group(title_color(theme), glyphs.placed(text, x, baseline))
    if params.lineNumbers:
        digits = len(str(max(row.number for row in rows)))
        left = frame.numbers - digits * frame.metrics.cell
        numbers = (
            (index, StyledRun(0, digits, f"{row.number:>{digits}}", number_style(theme), RunKind.PLAIN))
            for index, row in enumerate(rows)
            if row.number
        )
        yield from _by_row(numbers, frame, left, alarm_color(theme), glyphs)
    code = (
        (index, replace(run, style=dimmed(run.style, theme)) if look.dimmed else run)
        for index, (row, look) in enumerate(zip(rows, looks, strict=True))
        for run in row.runs
    )
    yield from _by_row(code, frame, frame.code, alarm_color(theme), glyphs)


def _bands(frame: WindowFrame, looks: list[RowLook], glyphs: GlyphSheet) -> Iterator[str]:
    line, high = frame.metrics.scale, frame.metrics.row
    for index, look in enumerate(looks):
        if look.band:
            yield (
                f'<rect x="{line}" y="{frame.top + index * high}" width="{frame.window_width - 2 * line}"'
                f' height="{high}" fill="{look.band}"/>'
            )
    marks = (
        (index, StyledRun(0, 1, look.mark, TokenStyle(look.mark_color, weight=700), RunKind.PLAIN))
        for index, look in enumerate(looks)
        if look.mark
    )
    yield from _by_row(marks, frame, frame.code - round(1.2 * frame.metrics.cell), "", glyphs)


def _controls(frame: WindowFrame) -> Iterator[str]:
    scale = frame.metrics.scale
    radius = svg_number(CONTROL * scale / 2)
    top = (frame.bar - CONTROL * scale) // 2 + CONTROL * scale / 2
    for index, color in enumerate(CONTROLS):
        x = (CONTROL_LEFT + index * CONTROL_STEP + CONTROL / 2) * scale
        yield f'<circle cx="{svg_number(x)}" cy="{svg_number(top)}" r="{radius}" fill="{color}"/>'


def _by_row(
    runs: Iterable[tuple[int, StyledRun]], frame: WindowFrame, left: int, alarm: str, glyphs: GlyphSheet
) -> Iterator[str]:
    """Yield the runs of rows whose first column is at `left`."""
    metrics = frame.metrics
    for index, run in runs:
        x, top = left + run.column * metrics.cell, frame.top + index * metrics.row
        if run.kind is RunKind.HIDDEN:
            yield _hidden(run, x, top, alarm, metrics, glyphs)
        elif run.kind is RunKind.PLAIN:
            yield _group(named(run.style.color), "".join(_plain(run, x, top + metrics.baseline, metrics, glyphs)))
        else:
            text, start = shaped_run(run, metrics)
            yield _group(named(run.style.color), glyphs.placed(text, x + start, top + metrics.baseline))


def _plain(run: StyledRun, x: int, baseline: int, metrics: CellMetrics, glyphs: GlyphSheet) -> Iterator[str]:
    style = text_style(metrics.size, italic=run.style.italic, weight=run.style.weight, font=metrics.font)
    for index, character in enumerate(run.text):
        if character != " ":
            yield glyphs.placed(shape(character, style, default_library()), x + index * metrics.cell, baseline)


def _hidden(run: StyledRun, x: int, top: int, alarm: str, metrics: CellMetrics, glyphs: GlyphSheet) -> str:
    point = code_point(run.text, run.columns, metrics)
    left, above, width, height = point.box
    box = (
        f'<rect x="{x + left}" y="{top + above}" width="{width}" height="{height}" rx="{svg_number(point.radius)}"'
        f' fill-opacity="{svg_number(HIDDEN_STRENGTH / 255)}"/>'
    )
    return _group(named(alarm), box + glyphs.placed(point.text, x + point.x, top + point.baseline))


def _group(color: Color, elements: str) -> str:
    return f"<g {svg_color('fill', color)}>{elements}</g>" if elements else ""
