"""Parameters and details with aliases have these names everywhere: clients never see the name of a field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pressroom.testing import PluginHost

SOURCE = '''
"""A generator whose parameters have aliases."""

from pressroom.sdk import *
from pressroom.sdk.page import FormSection
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class LineParams(Params):
    model_config = ConfigDict(alias_generator=to_camel)

    from_: str = Field(default="a", alias="from", description="Where it begins.")
    line_width: int | None = Field(default=None, description="Width of the line.")
    end: str = Field(default="z", validation_alias=AliasChoices("to", "until"), description="Where it ends.")


class LineDetails(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)

    line_length: int


@generator(
    slug="line", name="Line", summary="Draws a line.", rate_limit=per_hour(100), produces=("text/plain",),
    details=LineDetails, executor="async", examples=(Example("Short", {"from": "b", "lineWidth": 2}),),
    mcp=Mcp("draw_line", descriptions={"from": "Start."}, hide=("to",)),
    page=Page(sections=(FormSection("More", ("lineWidth",)),)),
)
async def line(params: LineParams, call: Call) -> Artifact:
    """Draws a line."""
    text = f"{params.from_}-{params.end}"
    return Artifact(text.encode(), "text/plain", LineDetails(line_length=params.line_width or 1))


class GoParams(Params):
    where_to: str = Field(alias="whereTo", description="Where to go.")


@mcp_tool(name="go", choices={"where_to": lambda context: ["home", "work"]})
async def go(params: GoParams, call: Call) -> str:
    """Goes somewhere."""
    return params.where_to
'''


@pytest.fixture(scope="module")
def aliased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PluginHost]:
    with PluginHost(SOURCE, tmp_path_factory.mktemp("aliases")) as host:
        assert host.plugin.status == "active", host.plugin.error
        yield host


def listed(host: PluginHost, name: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {host.account().api_key()}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    tools = httpx.post(f"{host.url}/api/mcp?toolsets=all", json=message, headers=headers).json()["result"]["tools"]
    (tool,) = [tool for tool in tools if tool["name"] == name]
    return dict(tool)


def test_parameters_have_their_aliases_everywhere(aliased: PluginHost) -> None:
    body = {"from": "c", "lineWidth": 3, "until": "x", "response": "binary"}
    assert httpx.post(f"{aliased.url}/tools/line/api/generate", json=body).text == "c-x"
    (endpoint,) = httpx.get(f"{aliased.url}/tools/line/api").json()["data"]["endpoints"]
    assert [param["name"] for param in endpoint["params"]] == ["from", "lineWidth", "to", "response"]
    schema = listed(aliased, "draw_line")["inputSchema"]["properties"]
    assert list(schema) == ["from", "lineWidth"]
    assert schema["from"]["description"] == "Start."
    assert "default" not in schema["lineWidth"]
    page = httpx.get(f"{aliased.url}/tools/line").text
    assert 'name="lineWidth"' in page
    assert "line_width" not in page


def test_details_have_their_aliases_everywhere(aliased: PluginHost) -> None:
    data = httpx.post(f"{aliased.url}/tools/line/api/generate", json={"lineWidth": 4}).json()["data"]
    assert data["lineLength"] == 4
    assert "lineLength" in listed(aliased, "draw_line")["outputSchema"]["required"]
    assert aliased.call_tool("draw_line", {"lineWidth": 4})["lineLength"] == 4
    document = json.dumps(httpx.get(f"{aliased.url}/openapi.json").json())
    assert "lineLength" in document
    assert "line_length" not in document


def test_choices_of_a_parameter_keep_its_alias(aliased: PluginHost) -> None:
    assert listed(aliased, "go")["inputSchema"]["properties"]["whereTo"]["enum"] == ["home", "work"]
    assert aliased.call_tool("go", {"whereTo": "work"}) == {"result": "work"}
