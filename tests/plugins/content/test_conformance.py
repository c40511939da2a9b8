"""The plugin conforms to the contract, and its tools accept what their descriptions promise."""

from __future__ import annotations

import pytest
from pressroom.catalog.schema import input_schema
from pressroom.testing import assert_plugin_conforms
from pressroom_content.parts import TOOLS
from pressroom_content.tools import article_history, articles, ideas, links, transfer, voice
from support.run import POSTGRESQL


@pytest.mark.services
def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("content", postgresql=POSTGRESQL)


def test_every_property_is_described() -> None:
    content_tools = [*articles.TOOLS, *article_history.TOOLS, *transfer.TOOLS, *links.TOOLS, *ideas.TOOLS, *voice.TOOLS]
    assert set(content_tools) <= set(TOOLS)
    for tool in content_tools:
        for schema in (input_schema(tool.params), input_schema(tool.result)):
            missing = [name for name, property_ in schema["properties"].items() if not property_.get("description")]
            assert missing == [], (tool.name, missing)
