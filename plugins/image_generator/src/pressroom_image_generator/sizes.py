"""The size of an image."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final, NamedTuple

from pressroom.sdk import InvalidInput

MIN_EDGE: Final = 200
MAX_EDGE: Final = 2400
"""The bounds of width and height, in pixels."""


class Size(NamedTuple):
    """The size of an image in pixels."""

    width: int
    height: int


HTML_SIZE: Final = Size(1200, 630)
"""The default size of HTML: link previews show it uncropped."""


def computed_size(width: int, height: int | None, aspect_ratio: str | None, natural: Size) -> Size:
    """Return the size of an image; a height computed from the width is rounded half up.

    Args:
        width: the width in pixels.
        height: the height, where it is given.
        aspect_ratio: `W:H` of two positive decimal numbers, where it is given.
        natural: a size whose ratio holds where neither is.

    Raises:
        InvalidInput: the height is out of bounds.
    """
    if height is not None:
        return Size(width, height)
    across, down = map(Decimal, aspect_ratio.split(":") if aspect_ratio is not None else natural)
    computed = (width * down / across).quantize(Decimal(1), ROUND_HALF_UP)
    if not MIN_EDGE <= computed <= MAX_EDGE:
        raise InvalidInput(
            "width" if aspect_ratio is None else "aspectRatio",
            f"makes a height of {computed} at a width of {width}; it must be between {MIN_EDGE} and {MAX_EDGE}",
        )
    return Size(width, int(computed))
