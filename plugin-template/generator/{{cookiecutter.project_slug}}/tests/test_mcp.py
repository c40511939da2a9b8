"""Tests of the tools over MCP."""

from collections.abc import Callable
from typing import Any

import pytest
from pressroom.testing import ToolFailed

CallTool = Callable[..., Any]


def test_a_badge_has_the_size_that_was_measured(call_tool: CallTool) -> None:
    measured = call_tool("{{ cookiecutter.plugin_id }}_measure", label="build", value="passing")
    drawn = call_tool("{{ cookiecutter.plugin_id }}_draw", label="build", value="passing")
    assert measured == {"width": drawn["width"], "height": drawn["height"]}


def test_a_missing_text_is_required(call_tool: CallTool) -> None:
    with pytest.raises(ToolFailed, match="value") as refused:
        call_tool("{{ cookiecutter.plugin_id }}_measure", label="build")
    assert refused.value.code == "validation_error"
