"""Tests of the tools over MCP."""

from collections.abc import Callable
from typing import Any

import pytest
from pressroom.testing import ToolFailed

CallTool = Callable[..., Any]


def test_notes_are_listed_newest_first(call_tool: CallTool) -> None:
    first = call_tool("{{ cookiecutter.plugin_id }}_add", text="Buy milk")
    second = call_tool("{{ cookiecutter.plugin_id }}_add", text="Call Ada")
    listed = call_tool("{{ cookiecutter.plugin_id }}_list", limit=2)
    assert listed == {"notes": [second, first]}


def test_a_repeated_call_adds_nothing(call_tool: CallTool) -> None:
    given = {"text": "Once", "client_request_id": "request-0001"}
    first = call_tool("{{ cookiecutter.plugin_id }}_add", **given)
    again = call_tool("{{ cookiecutter.plugin_id }}_add", **given)
    assert again["id"] == first["id"]


@pytest.mark.parametrize("text", ["", "a" * 1001])
def test_a_text_that_does_not_fit_is_refused(call_tool: CallTool, text: str) -> None:
    with pytest.raises(ToolFailed, match="text") as refused:
        call_tool("{{ cookiecutter.plugin_id }}_add", text=text)
    assert refused.value.code == "validation_error"
