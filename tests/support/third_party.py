"""Plugins written by a test as by a third party: a module, and the metadata that registers it."""

from __future__ import annotations

from itertools import count
from pathlib import Path

_NUMBERS = count(1)

HEAD = """
from pressroom.sdk import *
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="{id}", api="1", title="Shouting", summary="Text in capitals.")


class ShoutParams(Params):
    text: str = Field(min_length=1, max_length=100, description="The text to shout.")
    marks: Integer = Field(default=1, ge=0, le=9, description="How many exclamation marks follow.")
"""

GENERATOR = '''
@generator(
    slug="shout",
    name="Shout",
    summary="Writes a text in capitals.",
    rate_limit=per_hour(2),
    produces=("text/plain",),
    executor="thread",
    mcp=Mcp("shout"),
    examples=(
        Example("A greeting", {"text": "hello", "marks": 2}),
        Example("A name", {"text": "Ada"}),
        Example("A farewell", {"text": "bye"}),
    ),
)
def shout(params: ShoutParams, call: Call) -> Artifact:
    """Writes the text that it is given in capitals."""
    return Artifact((params.text.upper() + "!" * params.marks).encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [shout]
'''

MCP_TOOL = '''
class Volume(BaseModel):
    letters: int


@mcp_tool(name="measure_volume", title="Measure a shout")
async def measure(params: ShoutParams, call: Call) -> Volume:
    """Counts the letters of a text. Use it before shouting."""
    return Volume(letters=len(params.text))


@hookimpl
def pressroom_mcp_tools():
    return [measure]
'''


def write_plugin(folder: Path, source: str = HEAD + GENERATOR + MCP_TOOL) -> str:
    """Write a plugin into a folder that belongs on the path, and return its unique id.

    `{id}` in the source is replaced by the id.
    """
    id_ = f"shout_{next(_NUMBERS)}"
    (folder / f"{id_}_module.py").write_text(source.replace("{id}", id_), encoding="utf-8")
    metadata = folder / f"{id_}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {id_}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[pressroom.plugins]\n{id_} = {id_}_module\n")
    return id_
