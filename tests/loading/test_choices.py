"""Parameters whose choices depend on the server: clients see the choices, and other values are rejected."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressroom.catalog.schema import input_schema
from pydantic import ValidationError
from support.compiling import Compile
from support.plugin_source import SOUND, install_plugin

TOOL = """
PLUGIN = Plugin(id="$id", title="Words", summary="Counts.")

class KindParams(Params):
    kind: str = Field(default="noun", description="Which one.")
    kinds: list[str] = Field(default=[], description="Which ones.")

class Count(BaseModel):
    words: int

def kinds(plugin: PluginContext):
    return ["noun", "verb"]

@mcp_tool(name="count", title="Count", description="Counts words.", choices={"kind": kinds, "kinds": kinds})
async def count(params: KindParams, call: Call) -> Count: ...

@hookimpl
def pressroom_mcp_tools():
    return [count]
"""


def test_string_and_list_choices_come_from_the_server(tmp_path: Path, compile_with: Compile) -> None:
    params = compile_with(install_plugin(tmp_path, "words", SOUND + TOOL)).catalog.tools["count"].params

    fields = input_schema(params)["properties"]
    assert (fields["kind"]["enum"], fields["kind"]["default"]) == (["noun", "verb"], "noun")
    assert (fields["kinds"]["items"]["enum"], fields["kinds"]["default"]) == (["noun", "verb"], [])
    assert params.model_validate({"kinds": ["verb"]}).model_dump() == {"kind": "noun", "kinds": ["verb"]}
    with pytest.raises(ValidationError):
        params.model_validate({"kinds": ["verb", "adverb"]})
