"""The plugin conforms to the contract, over HTTP and as an MCP tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pressroom.testing import ToolFailed, assert_plugin_conforms

pytest_plugins = ["pressroom.testing.plugin"]

CallTool = Callable[..., Any]


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    return {"plugins": {"qr_code_generator": {"required": True}}}


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("qr_code_generator")


def test_a_file_is_generated_over_http(http: httpx.Client) -> None:
    response = http.post("/tools/qr-code-generator/api/generate", json={"text": "https://example.com/", "size": 300})
    data = response.json()["data"]
    assert (data["size"], data["format"]) == (300, "png")
    assert http.get(data["url"]).content.startswith(b"\x89PNG\r\n\x1a\n")


def test_a_model_gets_the_same_file(http: httpx.Client, call_tool: CallTool) -> None:
    body = {"text": "https://example.com/menu", "format": "svg"}
    result = call_tool("generate_qr_code", **body)
    over_http = http.post("/tools/qr-code-generator/api/generate", json=body).json()["data"]
    assert result["id"] == over_http["id"]
    assert http.get(result["url"]).headers["content-type"] == "image/svg+xml"


def test_models_learn_what_does_not_fit(call_tool: CallTool) -> None:
    with pytest.raises(ToolFailed, match="shorten it or set errorCorrection") as exc_info:
        call_tool("generate_qr_code", text="é" * 1000, errorCorrection="H")
    assert exc_info.value.code == "validation_error"
