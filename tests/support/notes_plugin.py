"""A third-party plugin that stores notes in the server's database, and processes them in the background."""

from __future__ import annotations

from pathlib import Path

from support.installing import install
from support.migrations import revision_source
from support.plugin_source import Distribution

_PLUGIN = '''
import json

from pydantic import Field
from pressroom.sdk import *
from sqlalchemy import Column, Integer, MetaData, Table, Text, func, insert, select, update

PLUGIN = Plugin(id="notes", title="Notes", summary="Keeps notes.")
METADATA = MetaData()
NOTES = Table("notes_note", METADATA, Column("id", Integer, primary_key=True), Column("text", Text))


class NoteParams(Params):
    text: str = Field(min_length=1, max_length=100, description="The note.")


@generator(
    slug="add-note", name="Add a note", summary="Keeps a text.", rate_limit=per_hour(60), produces=("text/plain",),
    executor="async", examples=(Example("A note", {"text": "hello"}),),
)
async def add_note(params: NoteParams, call: Call) -> Artifact:
    """Keeps a text."""
    async with call.plugin.services.database.writing() as session:
        await session.execute(insert(NOTES).values(text=params.text))
    job = await call.plugin.services.jobs.enqueue("notes.shout", {"text": params.text}, key=params.text)
    return Artifact(job.encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [add_note]


@hookimpl
def pressroom_models():
    return [Models(METADATA, "acme_notes.migrations")]


@hookimpl
def pressroom_jobs(plugin):
    async def shout(run: JobRun):
        async with plugin.services.database.writing() as session:
            mine = update(NOTES).where(NOTES.c.text == run.payload["text"])
            await session.execute(mine.values(text=func.upper(NOTES.c.text)))
        return {"shouted": run.payload["text"]}

    return [Job("notes.shout", shout)]


@hookimpl
def pressroom_routes(plugin):
    async def notes(request: HttpRequest) -> HttpResponse:
        async with plugin.services.database.reading() as session:
            texts = await session.scalars(select(NOTES.c.text).order_by(NOTES.c.id))
        return HttpResponse(json.dumps(list(texts)).encode(), media_type="application/json")

    return [Route("/notes", notes)]
'''


def notes_plugin(folder: Path, *, failing: bool = False) -> Distribution:
    """Install the plugin; with `failing`, its migration fails half-way."""
    first = revision_source("notes1", "notes_note", more="raise RuntimeError('half-way')" if failing else "")
    files = {
        "acme_notes/__init__.py": "",
        "acme_notes/plugin.py": _PLUGIN,
        "acme_notes/migrations/__init__.py": "",
        "acme_notes/migrations/versions/0001.py": first,
    }
    install(folder, "acme-notes", files, {"notes": "acme_notes.plugin"})
    return Distribution(folder, {"notes": {}}, ("acme_notes",))
