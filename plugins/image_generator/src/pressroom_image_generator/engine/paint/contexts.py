"""What makes stacking contexts and clips (CSS 2.2, appendix E; CSS Overflow 3)."""

from __future__ import annotations

from dataclasses import dataclass

from pressroom_image_generator.engine.layout.fragments import Fragment, Placed
from pressroom_image_generator.engine.paint.bounds import ink_rect
from pressroom_image_generator.engine.paint.layers import needs_layer
from pressroom_image_generator.engine.paint.rects import Rect, snapped
from pressroom_image_generator.engine.paint.rounded import Corners, fragment_corners


@dataclass(frozen=True, slots=True)
class Deferred:
    """A fragment that is painted after its surroundings, by its `z-index` and its place in the document.

    `clips` are the fragments at their places on the page that cut it off, the outer ones first.
    """

    z: int
    sequence: int
    fragment: Fragment
    x: float
    y: float
    clips: tuple[Placed, ...] = ()


def deferral(fragment: Fragment, parent: Fragment) -> int | None:
    """Return the `z-index` of a fragment that is painted apart from the flow, or `None` for one that is not."""
    style = fragment.box.style
    z = style.z_index
    positioned = style.position != "static"
    item = parent.box.kind in ("flex", "grid")
    if positioned or needs_layer(style) or (item and isinstance(z, int)):
        return z if isinstance(z, int) and (positioned or item) else 0
    return None


def gather(
    fragment: Fragment, x: float, y: float, into: list[Deferred], clips: tuple[Placed, ...]
) -> None:  # fmt: skip
    """Collect the fragments that are deferred to the end of this context; a clip makes no context of its own."""
    for at_x, at_y, child in fragment.children:
        z = deferral(child, fragment)
        if z is not None:
            into.append(Deferred(z, child.box.sequence, child, x + at_x, y + at_y, clips))
            continue
        inner = (*clips, Placed(x + at_x, y + at_y, child)) if is_clip(child) else clips
        gather(child, x + at_x, y + at_y, into, inner)


def is_clip(fragment: Fragment) -> bool:
    """Tell whether a fragment cuts off what stands out of it."""
    style = fragment.box.style
    return style.overflow_x != "visible" or style.overflow_y != "visible"


def padding_box(fragment: Fragment, x: float, y: float) -> tuple[Rect, Corners]:
    """Return the padding box of a fragment, to which it clips, and its corners."""
    border = fragment.border
    inner = snapped(x + border.left, y + border.top, fragment.width - border.across, fragment.height - border.down)
    return inner, fragment_corners(fragment).inside(border)


def clips_something(fragment: Fragment, x: float, y: float) -> bool:
    """Tell whether a fragment cuts off what would be seen else."""
    if not is_clip(fragment):
        return False
    inner, corners = padding_box(fragment, x, y)
    inks = [ink_rect(child, x + at_x, y + at_y) for at_x, at_y, child in fragment.children]
    inks.append(ink_rect(fragment, x, y, content_only=True))
    if corners.square:
        return not all(inner.holds(ink) for ink in inks)
    return not all(ink.empty for ink in inks)


def tiltable(fragment: Fragment, x: float, y: float) -> bool:
    """Tell whether all in a fragment can be painted without looking at what is painted already."""
    if clips_something(fragment, x, y):
        return False
    return not any(
        child.box.style.backdrop_filter
        or child.box.style.mix_blend_mode != "normal"
        or not tiltable(child, x + at_x, y + at_y)
        for at_x, at_y, child in fragment.children
    )
