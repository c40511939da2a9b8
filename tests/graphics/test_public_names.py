"""The public names of the graphics toolkit are stable, like those of the SDK: none vanishes or appears by accident."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

PUBLIC = {
    "color": ["BLACK", "Color", "TRANSPARENT", "WHITE", "contrast", "parse_color"],
    "emoji": ["emoji_path", "emoji_image", "is_emoji"],
    "font_sources": ["fonts_revision"],
    "gradient": ["ConicGradient", "Gradient", "LinearGradient", "Paint", "RadialGradient", "Stop", "parse_paint"],
    "icons": ["icon_sheet"],
    "image_types": ["type_of_image"],
    "jpeg": ["encode_jpeg"],
    "painting": ["paint_image"],
    "png": ["encode_png"],
    "segments": ["grapheme_clusters", "line_units"],
    "shapes": ["Radii", "SQUARE", "Shadow", "border_mask", "box_mask", "box_shadow", "fitted_radii"],
    "text": [
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
    ],
}
REFERENCE = Path(__file__).parents[2] / "docs/reference/graphics.md"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_module_has_the_promised_names(name: str) -> None:
    module = importlib.import_module(f"pressroom.graphics.{name}")
    assert sorted(module.__all__) == sorted(PUBLIC[name])
    for member in module.__all__:
        exported = getattr(module, member)
        if inspect.isfunction(exported) or (inspect.isclass(exported) and exported.__module__.startswith("pressroom.")):
            assert inspect.getdoc(exported), member


def test_the_reference_lists_exactly_the_public_names() -> None:
    text = REFERENCE.read_text()
    for name, members in PUBLIC.items():
        section = text.partition(f"\n## pressroom.graphics.{name}\n")[2].partition("\n## ")[0]
        explained = {line.split("`")[1].partition("(")[0] for line in section.splitlines() if line.startswith("| `")}
        assert explained == set(members), name
