"""Tools for the audit trail of the account, and its background jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import (
    Activity,
    Annotations,
    Call,
    Day,
    Integer,
    InvalidInput,
    JobState,
    JobStatus,
    NotFound,
    Params,
    ToolResult,
    mcp_tool,
)
from pydantic import BaseModel, Field

from pressroom_account.usage import services_of

_MAX_DIGITS: Final = 18
"""Numbers with this many digits fit into a 64-bit ID."""


class ActivityParams(Params):
    """Which calls."""

    since: Day | None = Field(default=None, description="First day, in UTC.")
    tool: str | None = Field(default=None, min_length=1, max_length=64, description="Only calls of this tool.")
    website_id: str | None = Field(
        default=None, min_length=1, max_length=64, description="Only calls about this website."
    )
    limit: Integer = Field(default=50, ge=1, le=200, description="Maximum number.")
    cursor: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="next_cursor of the last result.",
    )


class CallOut(BaseModel):
    """One call, or one change by a member."""

    at: datetime = Field(description="When the call ended (UTC).")
    tool: str = Field(description="The tool, or the page of the dashboard on which a member changed something.")
    outcome: str = Field(description="ok, or the code of the error, such as quota_exceeded.")
    client: str = Field(description="The name of the connection or the member; may be empty.")
    connection_id: str = Field(description="The id of that connection; empty for a member.")
    address: str = Field(description="The IP address that the call came from.")
    website_id: str = Field(description="The website that the call was about; empty if there was none.")
    duration_ms: int = Field(description="How long the call took, in milliseconds.")
    cached: bool = Field(description="Whether the result came from the cache.")
    request_id: str = Field(description="Identifies the call in the server's log.")


class ActivityOut(BaseModel):
    """The result of `list_activity`."""

    events: list[CallOut] = Field(description="The calls, newest first.")
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


@mcp_tool(
    name="list_activity",
    title="Activity",
    description=(
        "Lists the calls that clients made for this account and what its members changed on the dashboard, newest "
        "first: who used which tool or page, when, from which IP address, about which website and with what outcome. "
        "Use it when the user asks what was done, or when something went wrong."
    ),
    result=ActivityOut,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("account",),
)
async def list_activity(params: ActivityParams, call: Call) -> ToolResult:
    """Return a page of the calls of the caller's account."""
    accounts = services_of(call).accounts
    since = datetime.fromisoformat(params.since).replace(tzinfo=UTC) if params.since else None

    async def page(limit: int, before: int | None) -> Sequence[Activity]:
        return await accounts.activity(
            call.caller.subject,
            limit=limit,
            before=before,
            tool=params.tool or "",
            website_id=params.website_id or "",
            since=since,
        )

    events = await page(params.limit, _before(params.cursor))
    full = len(events) == params.limit
    more = full and bool(await page(1, events[-1].id))
    data = ActivityOut(
        events=[_event(activity) for activity in events], next_cursor=str(events[-1].id) if more else None
    )
    return ToolResult("\n".join(_lines(data)), data)


def _before(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _MAX_DIGITS):
        raise InvalidInput("cursor", "must be the next_cursor of an earlier result; leave it out to start over")
    return int(cursor)


def _event(activity: Activity) -> CallOut:
    return CallOut(
        at=activity.at,
        tool=activity.tool,
        outcome=activity.code,
        client=activity.member or activity.connection_name,
        connection_id=activity.connection,
        address=activity.client_ip,
        website_id=activity.website_id,
        duration_ms=round(activity.duration * 1000),
        cached=activity.cached,
        request_id=activity.request_id,
    )


def _lines(data: ActivityOut) -> Iterator[str]:
    if not data.events:
        yield "No calls match."
    for event in data.events:
        client = event.client or "no connection"
        suffix = f", website {event.website_id}" if event.website_id else ""
        yield (
            f"{event.at:%Y-%m-%d %H:%M:%S} UTC  {event.tool}: {event.outcome} ({event.duration_ms} ms) "
            f"by {client} from {event.address}{suffix}"
        )
    if data.next_cursor:
        yield f"There are more: cursor {data.next_cursor}"


class JobParams(Params):
    """Which job."""

    job_id: str = Field(
        min_length=1,
        max_length=64,
        description="From the tool that started the work.",
    )


class JobReport(BaseModel):
    """The result of `get_job`."""

    job_id: str = Field(description="The job.")
    kind: str = Field(description="What kind of work it is.")
    status: JobState = Field(description="queued, running, succeeded, failed or cancelled.")
    progress: float = Field(description="Progress, from 0 to 1.")
    message: str = Field(description="What it is doing, or how it ended; may be empty.")
    result: dict[str, Any] | None = Field(description="The result, once it succeeded; its members depend on kind.")
    error: str | None = Field(description="Why it failed, once it failed for good.")
    created_at: datetime = Field(description="When it was requested (UTC).")
    finished_at: datetime | None = Field(description="When it ended (UTC); null while it has not.")


@mcp_tool(
    name="get_job",
    title="Background job",
    description=(
        "Shows the progress of background work, such as a crawl, a sync or an import, by the job_id that another "
        "tool returned. Call it again after a few seconds while status is queued or running. Returns the result once "
        "it succeeded, and the error once it failed."
    ),
    result=JobReport,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("core", "account"),
)
async def get_job(params: JobParams, call: Call) -> ToolResult:
    """Return the state of a job of the caller's account."""
    try:
        job = await services_of(call).jobs.status(params.job_id, subject=call.caller.subject)
    except NotFound:
        raise NotFound(
            f"this account has no job {params.job_id!r}; give the job_id exactly as the tool that started the work "
            "returned it (finished jobs are removed after some time)"
        ) from None
    data = JobReport(
        job_id=job.id,
        kind=job.kind,
        status=job.state,
        progress=job.progress,
        message=job.message,
        result=dict(job.result) if job.result is not None else None,
        error=(job.message or "it failed without a message") if job.state == "failed" else None,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )
    return ToolResult("\n".join(_job_lines(job)), data)


def _job_lines(job: JobStatus) -> Iterator[str]:
    progress = f", {job.progress:.0%}" if job.state == "running" else ""
    yield f"{job.kind}: {job.state}{progress}." + (f" {job.message}" if job.message else "")
    if job.state in ("queued", "running"):
        yield "Call this again after a few seconds."
    if job.result:
        yield from (f"{name}: {_readable(value)}" for name, value in job.result.items())


def _readable(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
