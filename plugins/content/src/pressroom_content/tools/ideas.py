"""Tools for article ideas."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Day, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter

from pressroom_content.contract import WebsiteId
from pressroom_content.ideas import Idea, Ideas
from pressroom_content.tools.common import context
from pressroom_content.websites.store import Websites

MAX_LISTED: Final = 200
"""Maximum number of ideas in a result."""

_NOTES: Final = 500
"""Maximum length of the notes in the text of a result, in characters."""

_DAY: Final[TypeAdapter[str]] = TypeAdapter(Day)

Status = Literal["idea", "planned", "writing", "done", "dropped"]


def _day(value: str) -> str:
    return _DAY.validate_python(value) if value else value


class IdeaParams(Params):
    """An idea."""

    idea_id: Annotated[str, Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="The idea to change; default: a new one."
    )
    title: str | None = Field(default=None, max_length=500, description="Working title.")
    keyphrase: str | None = Field(default=None, max_length=200, description="The phrase it should rank for.")
    website_id: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="The website it is for; empty: any."
    )
    due: Annotated[str, Field(max_length=10), AfterValidator(_day)] | None = Field(
        default=None, description="The day by which to write it, such as 2026-12-24; empty: none."
    )
    notes: str | None = Field(default=None, max_length=20_000, description="Angle, sources.")
    status: Status | None = Field(default=None, description="Default for a new one: idea.")


class IdeaView(BaseModel):
    """An idea."""

    idea_id: str = Field(description="The idea's id.")
    title: str = Field(description="Working title.")
    keyphrase: str = Field(description="The phrase it should rank for.")
    website_id: str | None = Field(description="The website it is for; null for any.")
    due: date | None = Field(description="The day by which to write it.")
    notes: str = Field(description="Angle, sources.")
    status: str = Field(description="idea, planned, writing, done or dropped.")
    created_at: datetime = Field(description="When it was added (UTC).")
    updated_at: datetime = Field(description="When it was last changed (UTC).")


class SavedIdea(BaseModel):
    """The result of `save_content_idea`."""

    idea: IdeaView = Field(description="The idea as it is now.")


@mcp_tool(
    name="save_content_idea",
    title="Save an idea",
    description=(
        "Adds an idea for an article, or changes one. For the text itself use create_content. Omitted fields stay "
        "unchanged, empty ones are cleared. Without idea_id, an open idea of the same title and keyphrase is changed "
        "instead of added again."
    ),
    result=SavedIdea,
    annotations=Annotations(idempotent=True),
    toolsets=("writing",),
)
async def save_content_idea(params: IdeaParams, call: Call) -> ToolResult:
    """Add or change an idea of the caller's account."""
    changes: dict[str, Any] = {
        name: value for name, value in params.model_dump(exclude={"idea_id"}).items() if value is not None
    }
    if not changes:
        raise InvalidInput("title", "or another field must say what to save")
    for name in ("title", "keyphrase"):
        if name in changes:
            changes[name] = " ".join(changes[name].split())
    if "due" in changes:
        changes["due"] = date.fromisoformat(changes["due"]) if changes["due"] else None
    if changes.get("website_id") == "":
        changes["website_id"] = None
    elif "website_id" in changes:
        changes["website_id"] = (await Websites(context(call)).get(call.caller.subject, changes["website_id"])).id
    saved = await Ideas(context(call)).save(call.caller.subject, params.idea_id, changes)
    return ToolResult(_line(saved), SavedIdea(idea=_view(saved)))


class IdeasParams(Params):
    """Which ideas."""

    website_id: WebsiteId | None = Field(default=None, description="Leave out ideas for other websites.")
    status: Status | None = Field(default=None, description="Default: all open ones.")
    limit: Integer = Field(default=50, ge=1, le=MAX_LISTED, description="Maximum number.")


class IdeaList(BaseModel):
    """The result of `list_content_ideas`."""

    ideas: list[IdeaView] = Field(description="The ideas: those that are due first, then the last changed.")
    truncated: bool = Field(description="Whether there are more: narrow them with status or website_id.")


@mcp_tool(
    name="list_content_ideas",
    title="Ideas",
    description=(
        "Lists the account's ideas for articles: those with a due date first, then the last changed. Use it to plan, "
        "or to find what to write next. save_content_idea adds or changes one."
    ),
    result=IdeaList,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "writing"),
)
async def list_content_ideas(params: IdeasParams, call: Call) -> ToolResult:
    """Return the ideas of the caller's account."""
    ideas = await Ideas(context(call)).listed(
        call.caller.subject, website_id=params.website_id, status=params.status, limit=params.limit + 1
    )
    if params.website_id is not None and all(idea.website_id != params.website_id for idea in ideas):
        await Websites(context(call)).get(call.caller.subject, params.website_id)  # an unknown one is an error
    data = IdeaList(ideas=[_view(idea) for idea in ideas[: params.limit]], truncated=len(ideas) > params.limit)
    lines = [_line(idea) for idea in ideas[: params.limit]] or ["No ideas."]
    if data.truncated:
        lines.append(f"There are more ideas: raise limit (at most {MAX_LISTED}), or narrow with status or website_id.")
    return ToolResult("\n".join(lines), data)


def _view(idea: Idea) -> IdeaView:
    names = IdeaView.model_fields.keys() - {"idea_id"}
    return IdeaView(idea_id=idea.id, **{name: getattr(idea, name) for name in names})


def _line(idea: Idea) -> str:
    due = f", due {idea.due}" if idea.due else ""
    about = f" (keyphrase {idea.keyphrase})" if idea.keyphrase and idea.title else ""
    notes = " ".join(idea.notes.split())
    notes_text = f": {notes[:_NOTES]}{'…' if len(notes) > _NOTES else ''}" if notes else ""
    return f"{idea.id}  {idea.status}{due}  {idea.title or idea.keyphrase}{about}{notes_text}"


TOOLS: Final = (save_content_idea, list_content_ideas)
