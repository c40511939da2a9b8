"""Tools for the calendar: what goes out when, and moving it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

from pressroom.sdk import Annotations, Call, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, ConfigDict, Field

from pressroom_content.articles.store import Articles
from pressroom_content.contract import Day, WebsiteId
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.schedule import clashes, gaps, moment
from pressroom_content.publishing.taking_down import reschedule
from pressroom_content.tools.publication_parts import (
    LOCAL,
    Moment,
    PublicationId,
    PublicationOut,
    in_words,
    local,
    row_of,
)
from pressroom_content.tools.websites import context
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites

MAX_DAYS = 400


class ScheduleParams(Params):
    """Which days."""

    model_config = ConfigDict(**{**Params.model_config, "populate_by_name": True})

    begin: Annotated[Day, Field(alias="from", description="The first day, in the website's time zone, else in UTC.")]
    end: Annotated[Day, Field(alias="to", description="The last day.")]
    website_id: WebsiteId | None = Field(default=None, description="Only of this website.")


class CalendarEntryOut(BaseModel):
    """Something that goes out, or went out, at a named time."""

    publication_id: str
    content_id: str
    title: str
    website_id: str
    website: str
    publish_at: datetime
    publish_at_local: str | None = Field(description=LOCAL)
    status: str
    clashes_with: list[str] = Field(description="Publications of the same website within an hour of it.")


class GapRow(BaseModel):
    """A week or more in which nothing goes out."""

    begin: date = Field(serialization_alias="from")
    end: date = Field(serialization_alias="to")
    days: int


class ScheduleAnswer(BaseModel):
    """The answer of `list_schedule`."""

    entries: list[CalendarEntryOut]
    gaps: list[GapRow]


@mcp_tool(
    name="list_schedule",
    title="Schedule",
    description=(
        "Lists what goes out between two days, in its order, with clashes (the same website within an hour) and "
        "gaps of a week and more. Use it to plan. Returns entries and gaps."
    ),
    result=ScheduleAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("calendar",),
)
async def list_schedule(params: ScheduleParams, call: Call) -> ToolResult:
    """Return the schedule of the caller's account."""
    plugin, user_id = context(call), call.caller.subject
    first, last = date.fromisoformat(params.begin), date.fromisoformat(params.end)
    if not timedelta(0) <= last - first <= timedelta(days=MAX_DAYS):
        raise InvalidInput("to", f"must be a day from the one in from up to {MAX_DAYS} days later")
    websites = Websites(plugin)
    zone = site_settings.zone_of((await websites.get(user_id, params.website_id)).settings if params.website_id else {})
    begin = datetime.combine(first, time(), zone).astimezone(UTC)
    end = datetime.combine(last + timedelta(days=1), time(), zone).astimezone(UTC)
    found = await Publications(plugin).scheduled(user_id, begin, end, params.website_id)
    names, zones, clashing = await websites.names(user_id), await websites.zones(user_id), clashes(found)
    entries = []
    for one in found:
        if one.publish_at is None:
            continue
        article = await Articles(plugin).get(user_id, one.article_id)
        entries.append(
            CalendarEntryOut(
                publication_id=one.id,
                content_id=one.article_id,
                title=article.title,
                website_id=one.website_id,
                website=names.get(one.website_id, ""),
                publish_at=one.publish_at,
                publish_at_local=local(one.publish_at, zones[one.website_id]),
                status=one.status,
                clashes_with=clashing.get(one.id, []),
            )
        )
    days = [entry.publish_at.astimezone(zone).date() for entry in entries]
    rows = [GapRow(begin=gap.begin, end=gap.end, days=gap.days) for gap in gaps(days, first, last)]
    lines = [
        f"{in_words(entry.publish_at, zones[entry.website_id])}  {entry.title} on {entry.website} ({entry.status})"
        f"{'; clashes with ' + ', '.join(entry.clashes_with) if entry.clashes_with else ''}"
        for entry in entries
    ]
    lines += [f"Nothing from {row.begin} to {row.end} ({row.days} days)" for row in rows]
    return ToolResult("\n".join(lines) or "Nothing is scheduled.", ScheduleAnswer(entries=entries, gaps=rows))


class RescheduleParams(Params):
    """What to move, and where to."""

    publication_id: PublicationId
    publish_at: Moment | None = Field(
        default=None, description="The new time; left out or null, the publication is cancelled and stays a draft."
    )


class RescheduleAnswer(BaseModel):
    """The answer of `reschedule_content`."""

    publication: PublicationOut


@mcp_tool(
    name="reschedule_content",
    title="Reschedule",
    description=(
        "Moves a scheduled publication to another time, or cancels it where publish_at is left out or null. Returns "
        "the publication."
    ),
    result=RescheduleAnswer,
    annotations=Annotations(idempotent=True),
    toolsets=("calendar",),
    timeout=60,
)
async def reschedule_content(params: RescheduleParams, call: Call) -> ToolResult:
    """Move or cancel a scheduled publication."""
    plugin, user_id = context(call), call.caller.subject
    websites = Websites(plugin)
    known = await Publications(plugin).get(user_id, params.publication_id)
    at = None
    if params.publish_at is not None:
        website = await websites.get(user_id, known.website_id)
        at = moment(params.publish_at, site_settings.zone_of(website.settings), now=datetime.now(UTC))
    done = await reschedule(plugin, user_id, params.publication_id, at)
    zones = await websites.zones(user_id)
    row = row_of(done, await websites.names(user_id), zones)
    text = f"{done.id} is cancelled; it is {done.status}."
    if at is not None:
        text = f"{done.id} goes out at {in_words(at, zones[done.website_id])}."
    return ToolResult(text, RescheduleAnswer(publication=row))


TOOLS = (list_schedule, reschedule_content)
