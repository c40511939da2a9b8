"""Where the modules of a symbol are in a square image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from pressroom.sdk import InvalidInput

WHOLE_PIXELS_FROM: Final = 3
"""From this many pixels a module on, all modules are equally large, and what is left over widens the quiet zone.

Smaller ones would lose too much of the image by that: they are as large as fits, and their edges are rounded.
"""

READABLE_FROM: Final = 2.5
"""Below this many pixels a module, readers begin to fail even on an image that nothing has blurred."""


@dataclass(frozen=True, slots=True)
class QrLayout:
    """An image of `size` pixels a side, whose symbol begins at `origin` and has modules of `module` pixels."""

    size: int
    modules: int
    origin: float
    module: float

    def edges(self) -> list[int]:
        """Return the pixels between which the modules lie, one more than there are modules."""
        return [int(self.origin + index * self.module + 0.5) for index in range(self.modules + 1)]


def lay_out(size: int, modules: int, margin: int) -> QrLayout:
    """Place a symbol of `modules` a side with a quiet zone of `margin` modules; its modules may be under a pixel."""
    total = modules + 2 * margin
    whole = size // total
    if whole >= WHOLE_PIXELS_FROM:
        return QrLayout(size, modules, (size - total * whole) // 2 + margin * whole, whole)
    return fill(size, modules, margin)


def fill(size: int, modules: int, margin: int) -> QrLayout:
    """Place a symbol so that its quiet zone has exactly `margin` modules, whatever part of a pixel a module takes."""
    module = size / (modules + 2 * margin)
    return QrLayout(size, modules, margin * module, module)


def check_size(size: int, modules: int, margin: int) -> None:
    """Refuse an image in which a module would have less than a pixel.

    Raises:
        InvalidInput: the size is too small.
    """
    least = modules + 2 * margin
    if size < least:
        raise InvalidInput(
            "size",
            f"must be at least {least} for this text, whose symbol has {modules} modules a side and a margin of "
            f"{margin} (got {size}); ask for a larger size or for svg, or shorten the text",
        )


def size_warnings(layout: QrLayout) -> tuple[str, ...]:
    """Return a sentence for an image whose modules have too few pixels for most readers."""
    if layout.module >= READABLE_FROM:
        return ()
    pixels = int(layout.module * 10) / 10
    enough = math.ceil(round(layout.size / layout.module) * READABLE_FROM)
    warning = (
        f"The modules are only {pixels} pixels wide, too few for many readers; "
        f"a shorter text makes them larger, or a size of at least {enough}."
    )
    return (warning,)
