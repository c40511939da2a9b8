"""Background work of the account."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pressroom.sdk import Annotations, Call, JobState, JobStatus, NotFound, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_account.usage import services_of


class JobParams(Params):
    """Which job."""

    job_id: str = Field(
        min_length=1,
        max_length=64,
        description="From the tool that started the work.",
    )


class JobReport(BaseModel):
    """The answer of `get_job`."""

    job_id: str = Field(description="The job.")
    kind: str = Field(description="What kind of work it is.")
    status: JobState = Field(description="queued, running, succeeded, failed or cancelled.")
    progress: float = Field(description="How far it is, from 0 to 1.")
    message: str = Field(description="What it does at the moment, or how it ended; may be empty.")
    result: dict[str, Any] | None = Field(description="What came of it, once it succeeded; its members depend on kind.")
    error: str | None = Field(description="Why it failed, once it failed for good.")
    created_at: datetime = Field(description="When it was asked for (UTC).")
    finished_at: datetime | None = Field(description="When it ended (UTC); null while it has not.")


@mcp_tool(
    name="get_job",
    title="Background job",
    description=(
        "Shows how far background work is, such as a crawl, a sync or an import, by the job_id that another tool "
        "returned. Ask again after some seconds while status is queued or running. Returns the result once it "
        "succeeded, and the error once it failed."
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
    return ToolResult("\n".join(_lines(job)), data)


def _lines(job: JobStatus) -> Iterator[str]:
    progress = f", {job.progress:.0%}" if job.state == "running" else ""
    yield f"{job.kind}: {job.state}{progress}." + (f" {job.message}" if job.message else "")
    if job.state in ("queued", "running"):
        yield "Ask again after some seconds."
    if job.result:
        yield from (f"{name}: {_readable(value)}" for name, value in job.result.items())


def _readable(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
