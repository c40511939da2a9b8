"""A plugin for tests of the MCP endpoint: tools that respond in every possible way, and image generators."""

import asyncio
import enum
from datetime import UTC, datetime
from typing import Annotated, Literal

from pressroom.sdk import (
    Annotations,
    Artifact,
    Authorizer,
    Call,
    Caller,
    Example,
    Forbidden,
    Generator,
    Mcp,
    McpTool,
    Params,
    Plugin,
    ToolInfo,
    ToolResult,
    generator,
    hookimpl,
    mcp_tool,
    per_hour,
)
from pydantic import BaseModel, Field, computed_field

PLUGIN = Plugin(id="mcp_tools", title="MCP tools", summary="Tools for tests of the MCP endpoint.")

WAITING: dict[str, asyncio.Event] = {}
"""The calls of `wait` in progress, by name."""

SECRET = "the secret ingredient is nutmeg"


class Nothing(Params):
    """No parameters at all."""


class Word(BaseModel):
    word: str


class NameParams(Params):
    name: Annotated[str, Field(min_length=1, max_length=50, description="A name.")]


class Mood(enum.StrEnum):
    CALM = "calm"
    LOUD = "loud"


class Part(Params):
    kind: Annotated[Literal["part"], Field(description="Always part.")] = "part"
    weight: Annotated[float | None, Field(ge=0, description="Its weight.")] = None


class RichParams(Params):
    title: Annotated[str, Field(description="A property that is named like a keyword of JSON Schema.")]
    parts: list[Part] = Field(default_factory=list, max_length=3, description="Some parts.")
    mood: Annotated[Mood | None, Field(strict=False, description="The mood.")] = None


class Rich(BaseModel):
    """Every kind of member."""

    title: str
    parts: list[Part]
    mood: Mood | None
    when: datetime
    note: str | None = None
    own_name: Annotated[int, Field(serialization_alias="ownName")] = 7

    @computed_field  # type: ignore[prop-decorator]
    @property
    def count(self) -> int:
        return len(self.parts)


@mcp_tool(name="wait", title="Wait", timeout=20)
async def wait(params: NameParams, call: Call) -> Word:
    """Waits until the test lets it go on, or cancels it."""
    WAITING[params.name] = asyncio.Event()
    try:
        await WAITING[params.name].wait()
    finally:
        del WAITING[params.name]
    return Word(word=params.name)


async def waiting(*names: str) -> None:
    """Wait until exactly these calls of `wait` are in progress."""
    async with asyncio.timeout(10):
        while set(names) != WAITING.keys():  # noqa: ASYNC110 - calls come and go by themselves
            await asyncio.sleep(0.005)


async def go_on() -> None:
    """Let all calls of `wait` finish."""
    for event in WAITING.values():
        event.set()


@mcp_tool(name="rich", title="Rich", aliases=("wealthy",))
async def rich(params: RichParams, call: Call) -> Rich:
    """Answers with every kind of member."""
    return Rich(title=params.title, parts=params.parts, mood=params.mood, when=datetime(2026, 1, 2, tzinfo=UTC))


class ImageParams(Params):
    size: Annotated[int, Field(ge=1, le=3_000_000, description="Its bytes.")] = 4


@mcp_tool(name="show", title="Show", result=Word, annotations=Annotations(read_only=True))
async def show(params: ImageParams, call: Call) -> ToolResult:
    """Shows an image with a text of its own."""
    return ToolResult("Here it is.", Word(word="image"), ((("image/png"), b"p" * params.size),))


class WayParams(Params):
    way: Annotated[
        Literal["raise", "forbid", "wrong_type", "surrogate", "none", "endless"], Field(description="How it fails.")
    ]


@mcp_tool(name="fail", title="Fail", timeout=0.2, result=Word)
async def fail(params: WayParams, call: Call) -> Word | ToolResult:
    """Fails in the way that it is told."""
    match params.way:
        case "raise":
            raise RuntimeError(SECRET)
        case "forbid":
            raise Forbidden("this name is taken by another account", hint="Choose another one.")
        case "wrong_type":
            return ToolResult("text", Nothing())
        case "surrogate":
            return ToolResult("\ud800", Word(word="x"))
        case "none":
            return None  # type: ignore[return-value]
        case "endless":
            await asyncio.sleep(60)
    return Word(word="never")


@mcp_tool(name="scarce", title="Scarce", quota="articles_created", rate_limit=per_hour(3))
async def scarce(params: Nothing, call: Call) -> Word:
    """Uses up a quota."""
    return Word(word="used")


@mcp_tool(name="guarded", title="Guarded")
async def guarded(params: Nothing, call: Call) -> Word:
    """Is kept from everyone by an authorizer."""
    return Word(word="never")


class ImageDetails(BaseModel):
    width: int = Field(description="Pixels.")
    frames: int | None = Field(None, description="How many there are, where it moves.")


class FileParams(Params):
    kind: Annotated[Literal["png", "jpeg", "svg", "zip"], Field(description="The type of file.")] = "png"
    size: Annotated[int, Field(ge=1, le=3_000_000, description="Its bytes.")] = 4


_TYPES = {"png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml", "zip": "application/zip"}


@generator(
    slug="image-maker",
    name="Image maker",
    summary="Makes something like an image.",
    rate_limit=per_hour(1000),
    produces=tuple(_TYPES.values()),
    details=ImageDetails,
    executor="async",
    mcp=Mcp("make_image", "Makes an image. Use it for tests. Returns a link."),
    examples=(Example("Small", {}),),
)
async def image_maker(params: FileParams, call: Call) -> Artifact:
    """Makes bytes that are called an image."""
    return Artifact(b"x" * params.size, _TYPES[params.kind], ImageDetails(width=params.size), ("It is no image.",))


async def _never(caller: Caller, tool: ToolInfo) -> str | None:
    return "guarded is for nobody" if tool.name == "guarded" else None


@hookimpl
def pressroom_authorizers() -> list[Authorizer]:
    return [Authorizer("nobody", _never)]


@hookimpl
def pressroom_generators() -> list[Generator]:
    return [image_maker]


@hookimpl
def pressroom_mcp_tools() -> list[McpTool]:
    return [wait, rich, show, fail, scarce, guarded]
