"""The image generator's guidance for models is correct."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pressroom.catalog.schema import mcp_schema
from pressroom.sdk import Call, Caller
from pressroom_image_generator import engine
from pressroom_image_generator.guidance import EXAMPLES, MCP
from pressroom_image_generator.params import ImageParams, TemplateProps
from pressroom_image_generator.plugin import generate
from pressroom_image_generator.templates import BUILT_IN, THEMES

DESIGNS = [str(example.params["html"]) for example in EXAMPLES if "html" in example.params]

BY_THE_RULE = """\
<div style="display:flex;width:100%;height:100%;background:#1d1a17;color:#fff;padding:60px">
<div style="display:flex;font-size:24px"><div>A</div><div>B</div></div></div>"""


def schema() -> dict[str, Any]:
    return mcp_schema(generate, ImageParams)


@pytest.mark.parametrize("html", [*DESIGNS, BY_THE_RULE])
def test_every_design_is_drawn_without_a_warning(html: str) -> None:
    rendered = engine.render(html, 1200, 630)
    assert rendered.warnings == ()
    assert rendered.image.mode == "RGB"


def test_every_template_theme_and_prop_is_in_the_schema() -> None:
    properties = schema()["properties"]
    assert properties["template"]["enum"] == list(BUILT_IN)
    # The schema leaves the background to the theme; calls that set it are still accepted.
    assert properties["props"]["properties"].keys() == TemplateProps.model_fields.keys() - {"backgroundColor"}
    assert properties["props"]["properties"]["theme"]["enum"] == list(THEMES)


def test_every_example_is_valid() -> None:
    for example in EXAMPLES:
        Draft202012Validator(schema()).validate(dict(example.params))


def test_the_tool_definition_is_short_enough() -> None:
    listed = {"name": MCP.name, "description": MCP.description, "inputSchema": schema()}
    assert len(json.dumps(listed, separators=(",", ":"))) <= 2000


def test_an_aspect_ratio_is_accepted_although_it_is_not_in_the_schema() -> None:
    assert "aspectRatio" not in schema()["properties"]
    params = ImageParams(template="og", aspectRatio="2:1")
    call = Call("image-generator", "r", Caller("192.0.2.1"), "https://pressroom.example", 10)
    image = generate(params, call)
    assert image.details.height == 600  # type: ignore[union-attr]
