"""The plugin conforms to the contract, and its schemas are suitable for models."""

import pytest
from pressroom.catalog.schema import input_schema
from pressroom.sdk import McpTool
from pressroom.testing import RunningHost, assert_plugin_conforms
from pressroom_account.plugin import pressroom_mcp_tools

TOOLS = list(pressroom_mcp_tools())


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("account")


def test_every_account_has_its_tools(host: RunningHost) -> None:
    assert {"get_account_usage", "get_job", "list_activity"} <= host.host.compiled.catalog.plans[
        "free"
    ].mcp_tools.keys()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_its_annotations(tool: McpTool) -> None:
    hints = tool.annotations
    assert (hints.read_only, hints.destructive, hints.idempotent, hints.open_world) == (True, False, True, False)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_property_is_described(tool: McpTool) -> None:
    for schema in (input_schema(tool.params), input_schema(tool.result)):
        assert [name for name, property_ in schema["properties"].items() if not property_.get("description")] == []


def test_the_arguments_match_the_catalogue() -> None:
    properties = {tool.name: input_schema(tool.params)["properties"] for tool in TOOLS}
    assert properties["get_account_usage"] == {}
    assert set(properties["get_job"]) == {"job_id"}
    assert set(properties["list_activity"]) == {"since", "tool", "website_id", "limit", "cursor"}
    limit, since = properties["list_activity"]["limit"], properties["list_activity"]["since"]
    assert (limit["type"], limit["minimum"], limit["maximum"], limit["default"]) == ("integer", 1, 200, 50)
    assert (since["type"], since["format"]) == ("string", "date")
