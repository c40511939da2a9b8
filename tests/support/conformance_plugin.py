"""A test plugin with the tools that the MCP conformance suite calls by name."""

from __future__ import annotations

import io
import struct
import wave
import zlib

from pressroom.sdk import (
    Annotations,
    AudioContent,
    Call,
    CallError,
    EmbeddedResource,
    McpTool,
    Params,
    Plugin,
    ToolResult,
    hookimpl,
    mcp_tool,
)
from pydantic import BaseModel

PLUGIN = Plugin(id="conformance", title="Conformance", summary="Tools that the MCP conformance suite calls.")

READ_ONLY = Annotations(read_only=True)


class NoParams(Params):
    pass


class TextOut(BaseModel):
    text: str


def red_pixel() -> bytes:
    """Return a PNG of one red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def silence() -> bytes:
    """Return a silent WAV file of a hundredth of a second."""
    content = io.BytesIO()
    with wave.open(content, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(160))
    return content.getvalue()


def text_result(text: str, *content: AudioContent | EmbeddedResource, image: bytes = b"") -> ToolResult:
    return ToolResult(text, TextOut(text=text), (("image/png", image),) if image else (), content)


@mcp_tool(name="test_simple_text", title="Simple text", result=TextOut, annotations=READ_ONLY)
async def simple_text(params: NoParams, call: Call) -> ToolResult:
    """Returns a text."""
    return text_result("This is a simple text response for testing.")


@mcp_tool(name="test_image_content", title="Image", result=TextOut, annotations=READ_ONLY)
async def image_content(params: NoParams, call: Call) -> ToolResult:
    """Returns an image."""
    return text_result("A red pixel.", image=red_pixel())


@mcp_tool(name="test_audio_content", title="Audio", result=TextOut, annotations=READ_ONLY)
async def audio_content(params: NoParams, call: Call) -> ToolResult:
    """Returns a sound."""
    return text_result("Silence.", AudioContent(silence(), "audio/wav"))


@mcp_tool(name="test_embedded_resource", title="Embedded resource", result=TextOut, annotations=READ_ONLY)
async def embedded_resource(params: NoParams, call: Call) -> ToolResult:
    """Returns a document."""
    text = "This is an embedded resource content."
    return text_result("A document.", EmbeddedResource("test://embedded-resource", text, "text/plain"))


@mcp_tool(name="test_multiple_content_types", title="Several kinds", result=TextOut, annotations=READ_ONLY)
async def multiple_content_types(params: NoParams, call: Call) -> ToolResult:
    """Returns a text, an image and a document."""
    document = EmbeddedResource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return text_result("Multiple content types test:", document, image=red_pixel())


@mcp_tool(name="test_error_handling", title="Error", annotations=READ_ONLY)
async def error_handling(params: NoParams, call: Call) -> TextOut:
    """Fails."""
    raise CallError("This tool intentionally returns an error for testing")


@hookimpl
def pressroom_mcp_tools() -> list[McpTool]:
    return [
        simple_text,
        image_content,
        audio_content,
        embedded_resource,
        multiple_content_types,
        error_handling,
    ]
