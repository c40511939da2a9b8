"""Pictures as boxes: their natural size, their ratio, and the box of one that is missing."""

from __future__ import annotations

from typing import Final

from pressroom_image_generator.engine.boxes import Box
from pressroom_image_generator.engine.layout.fragments import Fragment, LayoutContext, Space
from pressroom_image_generator.engine.layout.sizing import Sizing, known

_DEFAULT_WIDTH, _DEFAULT_HEIGHT = 300.0, 150.0
"""The size of a picture that has none (CSS Images 3, section 5.3)."""

_MISSING_EDGE: Final = 24.0


def natural_size(box: Box) -> tuple[float, float]:
    """Return the size of a picture where nothing else decides."""
    source = box.source
    if source is None:
        return _MISSING_EDGE, _MISSING_EDGE
    if source.width and source.height:
        return source.width, source.height
    if source.ratio:
        width = source.width or (source.height * source.ratio if source.height else _DEFAULT_WIDTH)
        return width, width / source.ratio
    return source.width or _DEFAULT_WIDTH, source.height or _DEFAULT_HEIGHT


def picture_widths(box: Box) -> tuple[float, float]:
    """Return the content widths of a picture: both are its natural one, within what its heights allow."""
    width, height = natural_size(box)
    style = box.style
    ratio = width / height if height else 0.0
    most = known(style.max_height, None)
    if most is not None and height > most and ratio and style.height == "auto":
        width = most * ratio
    return width, width


def layout_picture(layout: LayoutContext, box: Box, space: Space) -> Fragment:
    """Lay out a picture."""
    sizing = Sizing(layout, box, space)
    width = sizing.width()
    height = sizing.given_height()
    if height is None:
        height = sizing.height_for(width) if sizing.ratio else natural_size(box)[1] + sizing.frame.down
        limited = sizing.limited_height(height)
        automatic = space.fixed_width is None and box.style.width == "auto"
        if limited != height and sizing.ratio and automatic:
            width = sizing.limited_width(sizing.width_for(limited))
        height = limited
    return Fragment(box, width, height, sizing.border, sizing.padding)
