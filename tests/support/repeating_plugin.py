"""A third-party plugin with tools whose calls can be repeated, as a distribution on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from support.installing import install

SOURCE: Final = '''
import asyncio
import os
from pathlib import Path

from pressroom.sdk import *
from pydantic import BaseModel, Field

PLUGIN = Plugin(id="diary", title="Diary", summary="Keeps a diary.")
started, go_on = asyncio.Event(), asyncio.Event()
runs: list[str] = []


class NoteParams(Params):
    text: str = Field(description="What is noted.")
    way: str = Field(default="do", description="How it ends.")
    weight: float = Field(default=1, description="How much it weighs.")
    client_request_id: ClientRequestId = None


class Noted(BaseModel):
    text: str
    number: int


async def _note(params: NoteParams) -> ToolResult:
    runs.append(params.text)
    if "DIARY" in os.environ:
        return await _write(params, Path(os.environ["DIARY"]))
    match params.way:
        case "fail":
            raise RuntimeError("it fails")
        case "refuse":
            raise InvalidInput("way", "not this one")
        case "wait":
            started.set()
            await go_on.wait()
        case "late":
            await asyncio.sleep(600)
        case "unwritable":
            return ToolResult("Noted.", Noted.model_construct(text=object()))
    made = Noted(text=params.text * (100_000 if params.way == "large" else 1), number=len(runs))
    return ToolResult(
        f"Noted as {len(runs)}.",
        made,
        images=(("image/png", b"PNG"),),
        content=(
            AudioContent(b"beep", "audio/wav"),
            EmbeddedResource("diary:1", "text", "text/plain"),
            EmbeddedResource("diary:2", b"bytes", "application/pdf"),
            ResourceLink("https://example.org/diary", "diary", size=3),
        ),
    )


async def _write(params: NoteParams, diary: Path) -> ToolResult:
    is_new = not diary.exists()
    with diary.open("a") as file:
        file.write(f"{params.text}\\n")
    if is_new:
        await asyncio.sleep(600)
    return ToolResult("It is there.", Noted(text=params.text, number=1))


@mcp_tool(name="note", title="Note", result=Noted, quota="articles_created", changed_with="edit_note", timeout=30)
async def note(params: NoteParams, call: Call) -> ToolResult:
    """Notes something."""
    return await _note(params)


@mcp_tool(name="sure_note", title="Note once", result=Noted, quota="articles_created", resumes=True, timeout=30)
async def sure_note(params: NoteParams, call: Call) -> ToolResult:
    """Notes something, and finds what it noted before."""
    return await _note(params)


@mcp_tool(name="late_note", title="Note too late", result=Noted, timeout=1)
async def late_note(params: NoteParams, call: Call) -> ToolResult:
    """Notes something, and does not end."""
    return await _note(params)


@hookimpl
def pressroom_mcp_tools():
    return [note, sure_note, late_note]
'''


def install_diary(folder: Path) -> Path:
    """Install the plugin in a folder, and return the folder that belongs on the path."""
    install(folder, "acme-diary", {"acme_diary.py": SOURCE}, {"diary": "acme_diary"})
    return folder
