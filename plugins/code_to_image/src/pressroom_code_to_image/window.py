"""The window around the code: its layout in pixels, title bar, edge and shadow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from PIL import Image, ImageChops
from pressroom.graphics.color import Color
from pressroom.graphics.gradient import Paint, mixed, parse_paint
from pressroom.graphics.painting import Box, paint_part
from pressroom.graphics.shapes import Radii, border_mask, box_mask, box_shadow
from pressroom.graphics.text import ShapedText, TextStyle, default_library, draw_text, ellipsized, shape

from pressroom_code_to_image.glyphs import CellMetrics, metrics_of, named, rgb
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.themes import CodeTheme

_END: Final = 12
"""Minimum height of the top and bottom part of the window, which contain the corners."""

_BAR: Final = 44
_ABOVE, _BELOW = 20, 22
_SIDE: Final = 24
_NARROW_SIDE: Final = 14
_NARROW: Final = 360
_NARROWEST: Final = 240
"""Minimum width of a window that fits its code: enough for the buttons and part of the title."""

_NUMBER_GAP: Final = 22

CONTROLS: Final = ("#ff5f57", "#febc2e", "#28c840")
CONTROL, CONTROL_STEP, CONTROL_LEFT = 12, 20, 20
_TITLE_SIZE: Final = 13.0

BORDER: Final = 26
"""Opacity of the line along the window's edge, from 0 to 255."""


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """The layout in pixels. `numbers` is the right edge of the line numbers, `code` the left edge of the code."""

    width: int
    padding: int
    bar: int
    numbers: int
    code: int
    columns: int
    metrics: CellMetrics
    radius: int
    shadow: int

    @property
    def window_width(self) -> int:
        """Width of the window."""
        return self.width - 2 * self.padding

    @property
    def top(self) -> int:
        """Distance of the first row from the window's top."""
        return self.bar or max(_ABOVE * self.metrics.scale, self.radius)

    @property
    def corners(self) -> Radii:
        """The radii of the window's corners."""
        return (float(self.radius),) * 4

    @property
    def end(self) -> int:
        """Height of the top and bottom part of the window: the part between them has no corners."""
        return max(_END * self.metrics.scale, self.radius)

    def window_height(self, rows: int) -> int:
        """Return the height of the window for this many rows."""
        return self.top + rows * self.metrics.row + max(_BELOW * self.metrics.scale, self.radius)

    def height(self, rows: int) -> int:
        """Return the height of the image for this many rows."""
        return self.window_height(rows) + 2 * self.padding


def frame_of(params: CodeImageParams, lines: int, needed_columns: int | None = None) -> WindowFrame:
    """Return the frame for this many lines of code; `needed_columns` is the number of columns that the code needs."""
    metrics = metrics_of(params.fontSize, params.scale, params.font)
    scale, cell = metrics.scale, metrics.cell
    window = (params.width - 2 * params.padding) * scale
    side = (_SIDE if window >= _NARROW * scale else _NARROW_SIDE) * scale
    numbers = side + max(2, len(str(lines))) * cell
    gap = (_NUMBER_GAP if window >= _NARROW * scale else _NARROW_SIDE) * scale
    code = numbers + gap if params.lineNumbers else side + (cell * 2 if params.diff else 0)
    if needed_columns is not None:
        window = min(window, max(code + needed_columns * cell + side, _NARROWEST * scale))
    columns = max(2, (window - code - side) // cell)
    bar = _BAR * scale if params.title.strip() or params.windowControls else 0
    padding = params.padding * scale
    radius = params.radius * scale
    return WindowFrame(window + 2 * padding, padding, bar, numbers, code, columns, metrics, radius, params.shadow)


@dataclass(frozen=True, slots=True)
class WindowCanvas:
    """An image with an empty window, and the `RGB` canvas to draw on, where the window starts at `left` and `top`."""

    image: Image.Image
    canvas: Image.Image
    left: int
    top: int

    def finished(self, frame: WindowFrame) -> Image.Image:
        """Return the image with the contents of the canvas."""
        if self.canvas is not self.image:
            width, height = self.canvas.size
            end, line = frame.end, frame.metrics.scale
            # Points further than a third of the radius from both edges are inside a round corner.
            inside = -(-frame.radius // 3) + line
            # The ends already contain the round corners; only the area between the corners is replaced.
            for box in (
                (0, end, width, height - end),
                (end, line, width - end, end),
                (inside, inside, width - inside, end),
                (end, height - end, width - end, height - line),
            ):
                self.image.paste(self.canvas.crop(box), (frame.padding + box[0], frame.padding + box[1]))
        return self.image


def stage(frame: WindowFrame, theme: CodeTheme, rows: int, background: str) -> WindowCanvas:
    """Return the background with the shadow and an empty window for this many rows."""
    padding, width, height = frame.padding, frame.window_width, frame.window_height(rows)
    image = _ground(frame, height, parse_paint(background))
    ground = rgb(theme.background)
    edge = rgb(edge_color(theme))
    # The masks of a low window serve for both ends; the edges between them are straight.
    end_height, line = frame.end, frame.metrics.scale
    low = (width, 3 * end_height)
    inner, border = box_mask(*low, frame.corners), _faded(border_mask(*low, frame.corners, line), BORDER)
    for start, top in ((0, padding), (low[1] - end_height, padding + height - end_height)):
        part = (0, start, width, start + end_height)
        end = Image.new("RGB", (width, end_height), ground)
        end.paste(edge, (0, 0), border.crop(part))
        _lay(image, end, inner.crop(part), (padding, top))
    middle = (padding, padding + end_height, padding + width, padding + height - end_height)
    side = tuple(
        round(channel + (edge_channel - channel) * BORDER / 255)
        for channel, edge_channel in zip(ground, edge, strict=True)
    )
    if image.mode == "RGB":
        canvas, left = image, padding
        image.paste(ground, middle)
    else:
        canvas, left = Image.new("RGB", (width, height), ground), 0
        middle = (0, end_height, width, height - end_height)
    for x in (left, left + width - line):
        canvas.paste(side, (x, middle[1], x + line, middle[3]))
    return WindowCanvas(image, canvas, left, left)


def draw_bar(stage: WindowCanvas, frame: WindowFrame, theme: CodeTheme, title: str, *, controls: bool) -> None:
    """Draw the buttons and the title."""
    canvas, scale = stage.canvas, frame.metrics.scale
    control, control_step, control_left = CONTROL * scale, CONTROL_STEP * scale, CONTROL_LEFT * scale
    if controls:
        mask = box_mask(control, control, (control / 2,) * 4)
        for index, button in enumerate(CONTROLS):
            step = stage.left + control_left + index * control_step
            position = (step, stage.top + (frame.bar - control) // 2)
            canvas.paste(rgb(button), position, mask)
    if title:
        text, x, baseline = title_in(frame, title, controls=controls)
        draw_text(canvas, text, stage.left + x, stage.top + baseline, title_color(theme))


def title_in(frame: WindowFrame, title: str, *, controls: bool) -> tuple[ShapedText, float, float]:
    """Return the title, truncated to fit into the bar, and its start and baseline relative to the window's corner."""
    scale = frame.metrics.scale
    control_left = CONTROL_LEFT * scale
    controls_width = control_left + 2 * CONTROL_STEP * scale + CONTROL * scale if controls else 0
    style = TextStyle(_TITLE_SIZE * scale, ("Inter",), 500)
    library = default_library()
    left = controls_width + control_left
    centred = frame.window_width - 2 * left
    text = shape(title, style, library)
    if text.width > centred:
        # If it does not fit when centred, the title takes all the space next to the buttons.
        available = max(centred, frame.window_width - left - control_left)
        text = shape(ellipsized(title, style, library, available), style, library)
    x = min((frame.window_width - text.width) / 2, frame.window_width - control_left - text.width)
    return text, max(left, x), frame.bar / 2 + style.size * 0.36


def title_color(theme: CodeTheme) -> Color:
    """Return the colour of the title."""
    return mixed(named(theme.foreground), named(theme.background), 0.3)


def _lay(image: Image.Image, part: Image.Image, mask: Image.Image, position: tuple[int, int]) -> None:
    if image.mode == "RGB":
        image.paste(part, position, mask)
    else:
        part.putalpha(mask)
        image.alpha_composite(part, position)


def _ground(frame: WindowFrame, window_height: int, paint: Paint) -> Image.Image:
    """Return the background with the shadow. The area under the window can be left empty."""
    padding = frame.padding
    width, height = frame.width, window_height + 2 * padding
    ring = _ring((width, height), padding + frame.end, padding + frame.end)
    parts = [paint_part(paint, width, height, box) for box in ring]
    image = Image.new(parts[0].mode, (width, height))
    # The rows between the caps are identical: draw the shadow of a low window and repeat its middle row.
    cap = 3 * padding + frame.end
    low = min(height, 2 * cap + 1)
    shadow = _shadow(width, low, replace(frame, numbers=0, code=0, columns=0, bar=0))
    for box, part in zip(ring, parts, strict=True):
        image.paste(part, box[:2])
        _darken(image, _stretched(shadow, box, height, cap), box)
    return image


@lru_cache(maxsize=16)
def _shadow(width: int, height: int, frame: WindowFrame) -> Image.Image:
    """Return the mask of the shadow in an image of this size."""
    padding = frame.padding
    mask = Image.new("L", (width, height), 0)
    for blur, down, strength in shadow_layers(frame):
        shadow = box_shadow(width - 2 * padding, height - 2 * padding, frame.corners, blur)
        layer = Image.new("L", (width, height), 0)
        layer.paste(shadow.mask, (padding - shadow.margin, padding - shadow.margin + down))
        mask = ImageChops.screen(mask, _faded(layer, strength))
    return mask


def shadow_layers(frame: WindowFrame) -> tuple[tuple[float, int, int], ...]:
    """Return the two layers of the shadow: blur and vertical offset in pixels, and opacity from 0 to 255.

    The softer one ends before the image does, so that it is not visibly cut off.
    """
    padding, scale = frame.padding, frame.metrics.scale
    near = min(padding * 0.5, 14.0 * scale)
    return (
        (padding * 0.95, round(padding * 0.3), 115 * frame.shadow // 100),
        (near, 3 * scale, 80 * frame.shadow // 100),
    )


def edge_color(theme: CodeTheme) -> str:
    """Return the colour of the faint line along the window's edge, as `#rrggbb`."""
    return "#ffffff" if theme.dark else "#000000"


def _stretched(mask: Image.Image, box: Box, height: int, cap: int) -> Image.Image:
    """Return the part of a mask in a box, with the row below the cap repeated to stretch the mask to `height`."""
    left, top, right, bottom = box
    more = height - mask.height
    if not more or bottom <= cap:
        return mask.crop(box)
    if top >= cap + more:
        return mask.crop((left, top - more, right, bottom - more))
    part = Image.new("L", (right - left, bottom - top))
    part.paste(mask.crop((left, top, right, cap)), (0, 0))
    part.paste(mask.crop((left, cap, right, cap + 1)).resize((right - left, more + 1)), (0, cap - top))
    part.paste(mask.crop((left, cap + 1, right, bottom - more)), (0, cap + 1 + more - top))
    return part


def _ring(size: tuple[int, int], across: int, down: int) -> list[Box]:
    """Return four boxes along the edges of an image, without overlap."""
    width, height = size
    if 2 * across >= width or 2 * down >= height:
        return [(0, 0, width, height)]
    return [
        (0, 0, width, down),
        (0, height - down, width, height),
        (0, down, across, height - down),
        (width - across, down, width, height - down),
    ]


def _faded(mask: Image.Image, strength: int) -> Image.Image:
    return mask.point([value * strength // 255 for value in range(256)])


def _darken(image: Image.Image, mask: Image.Image, box: Box) -> None:
    if image.mode == "RGB":
        image.paste((0, 0, 0), box, mask)
    else:
        shade = Image.new("RGBA", mask.size, (0, 0, 0, 0))
        shade.putalpha(mask)
        image.alpha_composite(shade, box[:2])
