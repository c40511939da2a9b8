"""The plugin conforms to the contract, over HTTP and as an MCP tool."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.testing import ToolFailed, assert_plugin_conforms

pytest_plugins = ["pressroom.testing.plugin"]

CallTool = Callable[..., Any]
ADDRESS = "/tools/code-to-image/api/generate"


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    return {"plugins": {"code_to_image": {"required": True}}}


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("code_to_image")


def test_an_image_is_generated_over_http(http: httpx.Client) -> None:
    data = http.post(ADDRESS, json={"code": "let a = 1;\nlet b = 2;", "width": 640}).json()["data"]
    response = http.get(data["url"])
    assert response.headers["content-type"] == "image/png"
    image = Image.open(io.BytesIO(response.content))
    assert (data["width"], data["height"], data["format"]) == (*image.size, "png")
    assert data["width"] == 640


def test_a_binary_response_is_the_image(http: httpx.Client) -> None:
    response = http.post(ADDRESS, json={"code": "x", "response": "binary"})
    assert response.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(response.content)).size[0] == 900


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"code": ""}, "code: must be between 1 and 8000 characters (got 0)"),
        ({"code": " \n\t"}, "code: must have a character that can be seen"),
        ({"code": "x" * 8001}, "code: must be between 1 and 8000 characters (got 8001)"),
        ({"code": "x", "language": "kotln"}, 'language: "kotln" is not a language known here; did you mean kotlin?'),
        ({"code": "x", "theme": "night"}, "theme: must be one of"),
        ({"code": "x", "title": "t" * 61}, "title: must be at most 60 characters (got 61)"),
        ({"code": "x", "padding": 15}, "padding: must be between 16 and 128 (got 15)"),
        ({"code": "x", "width": 2001}, "width: must be between 400 and 2000 (got 2001)"),
        ({"code": "x", "background": "blau"}, 'background: "blau" is neither a colour nor a gradient (at character 1)'),
        (
            {"code": "x", "background": "linear-gradient(90deg, red, blu)"},
            'background: "blu" is not a colour (at character 29)',
        ),
        ({"code": "x", "background": "url(https://example.com/a.png)"}, "background: images are not allowed here"),
        ({"code": "\n" * 7999 + "x", "width": 400}, "code: makes an image of 192162 pixels in height, at most 20000"),
    ],
)
def test_invalid_parameters_are_refused_with_the_reason(http: httpx.Client, body: dict[str, Any], problem: str) -> None:
    refused = http.post(ADDRESS, json=body)
    assert refused.status_code == 400
    assert problem in refused.json()["error"]["message"]


def test_a_model_receives_the_image(call_tool: CallTool) -> None:
    result = call_tool("generate_code_image", code="print(1)", language="python", title="")
    assert result["format"] == "png"


def test_models_learn_what_does_not_fit(call_tool: CallTool) -> None:
    with pytest.raises(ToolFailed) as exc_info:
        call_tool("generate_code_image", code="x", background="linear-gradient(red)")
    assert exc_info.value.code == "validation_error"
    assert "a gradient needs two colours at least (at character 1)" in exc_info.value.message
