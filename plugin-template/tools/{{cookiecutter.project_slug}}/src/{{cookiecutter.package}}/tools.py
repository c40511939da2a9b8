"""The tools for AI clients. Callers only see their own notes."""

from __future__ import annotations

from datetime import UTC, datetime

from pressroom.sdk import Annotations, Call, ClientRequestId, Params, mcp_tool
from pydantic import BaseModel, Field
from sqlalchemy import insert, select

from {{ cookiecutter.package }}.tables import NOTES


class AddParams(Params):
    """The note to save."""

    text: str = Field(min_length=1, max_length=1000, description="The note.")
    client_request_id: ClientRequestId = None


class ListParams(Params):
    """The number of notes to list."""

    limit: int = Field(default=20, ge=1, le=100, description="Maximum number of notes.")


class Note(BaseModel):
    """One note."""

    id: int = Field(description="Number of the note.")
    text: str = Field(description="The note.")
    added_at: datetime = Field(description="When it was added.")


class Notes(BaseModel):
    """The newest notes."""

    notes: list[Note] = Field(description="The notes, newest first.")


@mcp_tool(name="{{ cookiecutter.plugin_id }}_add", title="Add a note")
async def add(params: AddParams, call: Call) -> Note:
    """Saves a note for later. Use it when someone asks you to remember something. Returns the note with its number."""
    now = datetime.now(UTC)
    row = insert(NOTES).values(subject=call.caller.subject, text=params.text, added_at=now)
    async with call.services.database.writing() as session:
        number = (await session.execute(row.returning(NOTES.c.id))).scalar_one()
    return Note(id=number, text=params.text, added_at=now)


@mcp_tool(
    name="{{ cookiecutter.plugin_id }}_list",
    title="List notes",
    annotations=Annotations(read_only=True, idempotent=True),
)
async def list_notes(params: ListParams, call: Call) -> Notes:
    """Lists the saved notes, newest first. Use it to look up what someone asked you to remember."""
    mine = select(NOTES).where(NOTES.c.subject == call.caller.subject)
    newest = mine.order_by(NOTES.c.id.desc()).limit(params.limit)
    async with call.services.database.reading() as session:
        rows = (await session.execute(newest)).all()
    return Notes(notes=[Note(id=row.id, text=row.text, added_at=row.added_at) for row in rows])
