"""The plugin conforms to the contract, and its schemas are suitable for models."""

import pytest
from pressroom.catalog.schema import input_schema
from pressroom.sdk import McpTool
from pressroom.testing import assert_plugin_conforms
from pressroom_search_performance import keyword_data
from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.plugin import pressroom_mcp_tools
from pressroom_search_performance.testing import check_keyword_source
from pydantic import ValidationError
from support.run import POSTGRESQL

TOOLS = list(pressroom_mcp_tools())


@pytest.mark.services
def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("search_performance", host_config={"plugins": {"content": {}}}, postgresql=POSTGRESQL)


def test_the_provider_of_keyword_data_fulfils_the_contract() -> None:
    provider = keyword_data.DataForSeo("https://api.dataforseo.com", "ada@example.org", "made-up-password")
    assert check_keyword_source(keyword_data.source(provider)) == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_property_is_described(tool: McpTool) -> None:
    properties = input_schema(tool.params)["properties"]
    assert [name for name, schema in properties.items() if not schema.get("description") and "$ref" not in schema] == []


@pytest.mark.parametrize("text", ["no json", "[]", "{}", '{"client_email": "a@b"}'])
def test_an_invalid_key_file_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="key file"):
        SearchPerformanceConfig.model_validate({"google_service_account": text})
