"""Text layout: select fonts, position glyphs, and draw them."""

from pressroom.graphics.text.drawing import draw_text, ink_box
from pressroom.graphics.text.fonts import Face, FontLibrary, default_library
from pressroom.graphics.text.shaping import (
    PlacedGlyph,
    ShapedText,
    TextStyle,
    break_lines,
    clamp_lines,
    ellipsized,
    missing_characters,
    shape,
)

__all__ = [
    "Face",
    "FontLibrary",
    "PlacedGlyph",
    "ShapedText",
    "TextStyle",
    "break_lines",
    "clamp_lines",
    "default_library",
    "draw_text",
    "ellipsized",
    "ink_box",
    "missing_characters",
    "shape",
]
