"""The window around the code: its parts in pixels, its frame, title bar and shadow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PIL import Image, ImageChops
from pressroom.graphics.gradient import Paint, mixed, parse_paint
from pressroom.graphics.painting import Box, paint_part
from pressroom.graphics.shapes import Radii, border_mask, box_mask, box_shadow
from pressroom.graphics.text import TextStyle, default_library, draw_text, ellipsized, shape

from pressroom_code_to_image.glyphs import CELL, ROW, named, rgb
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.themes import CodeTheme

RADIUS: Final = 12
_BAR: Final = 44
_ABOVE, _BELOW = 20, 22
_SIDE: Final = 24
_NARROW_SIDE: Final = 14
_NARROW: Final = 360
_NUMBER_GAP: Final = 22

_CONTROLS: Final = ("#ff5f57", "#febc2e", "#28c840")
_CONTROL, _CONTROL_STEP, _CONTROL_LEFT = 12, 20, 20
_TITLE_SIZE: Final = 13.0

_CORNERS: Final[Radii] = (float(RADIUS),) * 4

_BORDER: Final = 26
"""How strong the line along the window's edge is, of 255."""


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """Where things are, in pixels. `numbers` is the right edge of the line numbers, `code` the left of the code."""

    width: int
    padding: int
    bar: int
    numbers: int
    code: int
    columns: int

    @property
    def window_width(self) -> int:
        """How wide the window is."""
        return self.width - 2 * self.padding

    @property
    def top(self) -> int:
        """Where the first row is, from the window's top."""
        return self.bar or _ABOVE

    def window_height(self, rows: int) -> int:
        """Return how high the window is around this many rows."""
        return self.top + rows * ROW + _BELOW

    def height(self, rows: int) -> int:
        """Return how high the image is."""
        return self.window_height(rows) + 2 * self.padding


def frame_of(params: CodeImageParams, lines: int) -> WindowFrame:
    """Return the frame for code of this many lines."""
    window = params.width - 2 * params.padding
    side = _SIDE if window >= _NARROW else _NARROW_SIDE
    numbers = side + max(2, len(str(lines))) * CELL
    code = numbers + (_NUMBER_GAP if window >= _NARROW else _NARROW_SIDE) if params.lineNumbers else side
    columns = max(1, (window - code - side) // CELL)
    bar = _BAR if params.title.strip() or params.windowControls else 0
    return WindowFrame(params.width, params.padding, bar, numbers, code, columns)


@dataclass(frozen=True, slots=True)
class WindowCanvas:
    """An image with an empty window, and the `RGB` canvas to draw on, whose window begins at `left` and `top`."""

    picture: Image.Image
    canvas: Image.Image
    left: int
    top: int

    def finished(self, frame: WindowFrame) -> Image.Image:
        """Return the image with what was drawn on the canvas."""
        if self.canvas is not self.picture:
            width, height = self.canvas.size
            # The ends hold the round corners already; of them only what is between the corners is drawn anew.
            for box in (
                (0, RADIUS, width, height - RADIUS),
                (RADIUS, 1, width - RADIUS, RADIUS),
                (RADIUS, height - RADIUS, width - RADIUS, height - 1),
            ):
                self.picture.paste(self.canvas.crop(box), (frame.padding + box[0], frame.padding + box[1]))
        return self.picture


def stage(frame: WindowFrame, theme: CodeTheme, rows: int, background: str) -> WindowCanvas:
    """Return the background with the shadow and the empty window for this many rows."""
    padding, width, height = frame.padding, frame.window_width, frame.window_height(rows)
    picture = _ground(frame, height, parse_paint(background))
    ground = rgb(theme.background)
    edge = (255, 255, 255) if theme.dark else (0, 0, 0)
    # Masks of a low window serve for its two ends; between them, edges are straight.
    low = (width, 3 * RADIUS)
    inner, border = box_mask(*low, _CORNERS), _faded(border_mask(*low, _CORNERS, 1), _BORDER)
    for start, top in ((0, padding), (low[1] - RADIUS, padding + height - RADIUS)):
        part = (0, start, width, start + RADIUS)
        end = Image.new("RGB", (width, RADIUS), ground)
        end.paste(edge, (0, 0), border.crop(part))
        _lay(picture, end, inner.crop(part), (padding, top))
    middle = (padding, padding + RADIUS, padding + width, padding + height - RADIUS)
    side = tuple(round(one + (other - one) * _BORDER / 255) for one, other in zip(ground, edge, strict=True))
    if picture.mode == "RGB":
        canvas, left = picture, padding
        picture.paste(ground, middle)
    else:
        canvas, left = Image.new("RGB", (width, height), ground), 0
        middle = (0, RADIUS, width, height - RADIUS)
    for x in (left, left + width - 1):
        canvas.paste(side, (x, middle[1], x + 1, middle[3]))
    return WindowCanvas(picture, canvas, left, left)


def draw_bar(stage: WindowCanvas, frame: WindowFrame, theme: CodeTheme, title: str, *, controls: bool) -> None:
    """Draw the buttons and the title."""
    canvas = stage.canvas
    taken = 0
    if controls:
        mask = box_mask(_CONTROL, _CONTROL, (_CONTROL / 2,) * 4)
        for index, button in enumerate(_CONTROLS):
            step = stage.left + _CONTROL_LEFT + index * _CONTROL_STEP
            place = (step, stage.top + (frame.bar - _CONTROL) // 2)
            canvas.paste(rgb(button), place, mask)
        taken = _CONTROL_LEFT + 2 * _CONTROL_STEP + _CONTROL
    if not title:
        return
    style = TextStyle(_TITLE_SIZE, ("Inter",), 500)
    library = default_library()
    left = taken + _CONTROL_LEFT
    centred = frame.window_width - 2 * left
    text = shape(title, style, library)
    if text.width > centred:
        # Where the middle has too little room, the title takes all that the buttons leave.
        room = max(centred, frame.window_width - left - _CONTROL_LEFT)
        text = shape(ellipsized(title, style, library, room), style, library)
    x = min((frame.window_width - text.width) / 2, frame.window_width - _CONTROL_LEFT - text.width)
    color = mixed(named(theme.foreground), named(theme.background), 0.3)
    baseline = frame.bar / 2 + _TITLE_SIZE * 0.36
    draw_text(canvas, text, stage.left + max(left, x), stage.top + baseline, color)


def _lay(picture: Image.Image, part: Image.Image, mask: Image.Image, place: tuple[int, int]) -> None:
    if picture.mode == "RGB":
        picture.paste(part, place, mask)
    else:
        part.putalpha(mask)
        picture.alpha_composite(part, place)


def _ground(frame: WindowFrame, window_height: int, paint: Paint) -> Image.Image:
    """Return the background with the shadow. What the window will cover may be left empty."""
    padding = frame.padding
    width, height = frame.width, window_height + 2 * padding
    ring = _ring((width, height), padding + RADIUS, padding + RADIUS)
    parts = [paint_part(paint, width, height, box) for box in ring]
    picture = Image.new(parts[0].mode, (width, height))
    # Between the caps all rows of the shadow are the same: it is drawn for a low window, whose middle row is repeated.
    cap = 3 * padding + RADIUS
    low = min(height, 2 * cap + 1)
    shadow = _shadow(width, low, padding)
    for box, part in zip(ring, parts, strict=True):
        picture.paste(part, box[:2])
        _darken(picture, _stretched(shadow, box, height, cap), box)
    return picture


@lru_cache(maxsize=16)
def _shadow(width: int, height: int, padding: int) -> Image.Image:
    """Return the mask of the shadow in an image of that size."""
    whole = Image.new("L", (width, height), 0)
    # The soft shadow ends before the image does, so that no edge cuts it off visibly.
    for blur, down, strength in ((padding * 0.95, round(padding * 0.3), 115), (min(padding * 0.5, 14.0), 3, 80)):
        shadow = box_shadow(width - 2 * padding, height - 2 * padding, _CORNERS, blur)
        layer = Image.new("L", (width, height), 0)
        layer.paste(shadow.mask, (padding - shadow.margin, padding - shadow.margin + down))
        whole = ImageChops.screen(whole, _faded(layer, strength))
    return whole


def _stretched(mask: Image.Image, box: Box, height: int, cap: int) -> Image.Image:
    """Return the part of a mask that is in a box, as if the row below the cap were repeated up to that height."""
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
    """Return the four boxes along the edges of an image, which do not overlap."""
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


def _darken(picture: Image.Image, mask: Image.Image, box: Box) -> None:
    if picture.mode == "RGB":
        picture.paste((0, 0, 0), box, mask)
    else:
        shade = Image.new("RGBA", mask.size, (0, 0, 0, 0))
        shade.putalpha(mask)
        picture.alpha_composite(shade, box[:2])
