"""What a model is told of the image generator holds."""

from __future__ import annotations

import re

import pytest
from pressroom_image_generator import engine
from pressroom_image_generator.engine.properties import PROPERTIES
from pressroom_image_generator.engine.shorthands import SHORTHANDS
from pressroom_image_generator.guidance import EXAMPLE, EXAMPLES, GUIDANCE
from pressroom_image_generator.params import TemplateProps
from pressroom_image_generator.templates import BUILT_IN, THEMES

DESIGNS = [EXAMPLE, *(str(one.params["html"]) for one in EXAMPLES if "html" in one.params)]


@pytest.mark.parametrize("html", DESIGNS)
def test_every_design_is_drawn_without_a_warning(html: str) -> None:
    rendered = engine.render(html, 1200, 630)
    assert rendered.warnings == ()
    assert rendered.picture.mode == "RGB"


def test_every_property_that_is_named_is_known() -> None:
    named = set(re.findall(r"\b([a-z]+(?:-[a-z]+)+)(?=[:,. ])", GUIDANCE.partition("Example:")[0]))
    properties = {name for name in named if name in PROPERTIES or name in SHORTHANDS}
    assert properties >= {
        "flex-direction",
        "justify-content",
        "align-items",
        "text-wrap",
        "line-clamp",
        "border-radius",
    }
    assert named - properties <= {*BUILT_IN, "radial-gradient", "conic-gradient", "linear-"}


def test_every_template_theme_and_prop_is_named() -> None:
    for name in (*BUILT_IN, *THEMES, *TemplateProps.model_fields):
        assert name in GUIDANCE, name


def test_it_is_short_enough_to_be_read_with_every_list() -> None:
    assert len(GUIDANCE) < 3600
