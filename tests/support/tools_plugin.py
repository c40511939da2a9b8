"""A plugin for tests: tools that wait, fail, crash, or use all available resources."""

import os
import time
from pathlib import Path
from typing import Annotated, Literal

from pressroom.sdk import (
    Annotations,
    Artifact,
    Call,
    Example,
    Generator,
    InvalidInput,
    Mcp,
    McpTool,
    Params,
    Plugin,
    generator,
    hookimpl,
    mcp_tool,
    per_hour,
    per_minute,
)
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="test_tools", title="Test tools", summary="Tools for tests.")

GATE_SECONDS = 20.0


class TextParams(Params):
    text: Annotated[str, Field(min_length=1, max_length=200, description="What to write.")]
    style: Annotated[Literal["plain", "loud"], Field(description="How to write it.")] = "plain"


class TextDetails(BaseModel):
    length: int


@generator(
    slug="text-file",
    name="Text file",
    summary="Writes a text file.",
    tags=("text",),
    rate_limit=per_hour(20),
    produces=("text/plain",),
    details=TextDetails,
    executor="async",
    mcp=Mcp("write_text_file"),
    examples=(Example("Hello", {"text": "hello"}),),
)
async def text_file(params: TextParams, call: Call) -> Artifact:
    """Writes the text that it is given into a file."""
    text = params.text.upper() if params.style == "loud" else params.text
    return Artifact(text.encode(), "text/plain", TextDetails(length=len(text)))


class GateParams(Params):
    gate: Annotated[str, Field(description="Path of a file; the tool ends when it is there.")]
    log: Annotated[str, Field(description="Path of a file that gets a line for each run.")]


@generator(
    slug="gate",
    name="Gate",
    summary="Waits for a file.",
    rate_limit=per_minute(1000),
    produces=("text/plain",),
    timeout=GATE_SECONDS,
    examples=(Example("None", {"gate": "/dev/null", "log": "/dev/null"}),),
)
def gate(params: GateParams, call: Call) -> Artifact:
    """Waits until a file is there."""
    with Path(params.log).open("a") as log:
        log.write("run\n")
    end = time.monotonic() + GATE_SECONDS
    while not Path(params.gate).exists() and time.monotonic() < end:
        time.sleep(0.01)
    return Artifact(b"open", "text/plain")


class WayParams(Params):
    way: Annotated[
        Literal["exit", "endless", "hungry", "raise", "refuse", "wrong_type", "fine"], Field(description="How it ends.")
    ]


@generator(
    slug="unruly",
    name="Unruly",
    summary="Ends badly.",
    rate_limit=per_hour(100),
    produces=("text/plain",),
    timeout=30.0,
    memory_mib=256,
    examples=(Example("Fine", {"way": "fine"}),),
)
def unruly(params: WayParams, call: Call) -> Artifact:
    """Ends in the way that it is told."""
    return _ended(params)


def _ended(params: WayParams) -> Artifact:
    match params.way:
        case "exit":
            os._exit(7)
        case "endless":
            while True:
                pass
        case "hungry":
            return Artifact(bytes(4 << 30), "text/plain")
        case "raise":
            raise RuntimeError("the secret ingredient is nutmeg")
        case "refuse":
            raise InvalidInput("way", "must not be refuse today")
        case "wrong_type":
            return Artifact(b"{}", "application/json")
        case "fine":
            return Artifact(b"fine", "text/plain")


@generator(
    slug="impatient",
    name="Impatient",
    summary="Ends badly, and has a second for it.",
    rate_limit=per_hour(100),
    produces=("text/plain",),
    timeout=1.0,
    examples=(Example("Fine", {"way": "fine"}),),
)
def impatient(params: WayParams, call: Call) -> Artifact:
    """Ends in the way that it is told, or when its second is over."""
    return _ended(params)


class WordCount(BaseModel):
    words: int


class CountParams(Params):
    text: Annotated[str, Field(max_length=1000, description="The text whose words are counted.")]


@mcp_tool(name="count_words", title="Count words", annotations=Annotations(read_only=True))
async def count_words(params: CountParams, call: Call) -> WordCount:
    """Counts the words of a text. Use it before publishing. Returns the number of words."""
    return WordCount(words=len(params.text.split()))


@hookimpl
def pressroom_generators() -> list[Generator]:
    return [text_file, gate, unruly, impatient]


@hookimpl
def pressroom_mcp_tools() -> list[McpTool]:
    return [count_words]
