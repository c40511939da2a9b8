"""What the tools for publishing have in common."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pressroom.sdk import PluginContext
from pydantic import BaseModel, Field

from pressroom_content.contract import SiteError
from pressroom_content.records import Publication, PublicationStatus
from pressroom_content.websites.store import Websites

_OK: Final = 200
_UTC: Final = ZoneInfo("UTC")

WAIT_SECONDS: Final = 25.0
"""How long a call waits for a publication; it continues without the caller."""

ContentId = Annotated[str, Field(min_length=1, max_length=64, description="The article, as list_content names it.")]
PublicationId = Annotated[
    str, Field(min_length=1, max_length=64, description="The publication, as publish_content names it.")
]
Moment = Annotated[str, Field(min_length=1, max_length=40, json_schema_extra={"format": "date-time"})]
LOCAL: Final = "publish_at in the time zone of the website's settings, with its offset and name."
RequestId = Annotated[str, Field(min_length=1, max_length=200)]


class PublicationOut(BaseModel):
    """A publication."""

    publication_id: str
    content_id: str
    website_id: str
    website: str = Field(description="The website's name.")
    status: PublicationStatus
    mode: str
    url: str
    external_id: str
    article_version: int
    publish_at: datetime | None
    publish_at_local: str | None = Field(description=LOCAL)
    published_at: datetime | None
    updated_at: datetime
    attempt: int
    verified: dict[str, Any]
    warnings: list[str]
    error: str
    next_try_at: datetime | None = Field(
        description="When it continues by itself; null where nothing is to be done, or it waits for retry_publication."
    )


def local(at: datetime | None, zone: ZoneInfo) -> str | None:
    """Return a moment as people at a website read it, such as `2026-12-24T08:00:00+01:00[Europe/Berlin]` (RFC 9557)."""
    return f"{at.astimezone(zone).isoformat(timespec='seconds')}[{zone.key}]" if at is not None else None


def in_words(at: datetime, zone: ZoneInfo) -> str:
    """Return a moment in the time zone of a website, with the one in UTC beside it."""
    utc = f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return utc if zone.key == "UTC" else f"{at.astimezone(zone):%Y-%m-%d %H:%M} {zone.key} ({utc})"


async def zone_of(plugin: PluginContext, one: Publication) -> ZoneInfo:
    """Return the time zone of a publication's website."""
    return (await Websites(plugin).zones(one.user_id)).get(one.website_id, _UTC)


def row_of(one: Publication, names: Mapping[str, str], zones: Mapping[str, ZoneInfo]) -> PublicationOut:
    """Return a publication as answers show it."""
    return PublicationOut(
        publication_id=one.id,
        content_id=one.article_id,
        website_id=one.website_id,
        website=names.get(one.website_id, ""),
        status=one.status,
        mode=one.mode,
        url=one.url,
        external_id=one.external_id,
        article_version=one.article_version,
        publish_at=one.publish_at,
        publish_at_local=local(one.publish_at, zones.get(one.website_id, _UTC)),
        published_at=one.published_at,
        updated_at=one.updated_at,
        attempt=one.attempt,
        verified=dict(one.verified),
        warnings=list(one.warnings),
        error=one.error,
        next_try_at=one.due_at,
    )


def told(done: Publication, zone: ZoneInfo) -> str:
    """Return what a model reads of a publication. `zone` is its website's."""
    lines = [f"{done.id} is {done.status}. {done.url}".rstrip()]
    if done.status == "published" and (page := seen(done.verified)):
        lines.append(page)
    if done.status == "scheduled" and done.publish_at is not None:
        lines.append(f"It goes live at {in_words(done.publish_at, zone)}.")
    if done.error:
        lines.append(done.error)
    if done.status in ("queued", "publishing", "unknown"):
        lines.append(_outlook(done))
    return "\n".join([*lines, *(f"Warning: {one}" for one in done.warnings)])


def seen(facts: Mapping[str, Any]) -> str:
    """Return what a visitor sees at the URL of a post, in words; empty where nobody looked."""
    status = facts.get("http_status")
    if status is None:
        return ""
    if facts.get("being_built"):
        return "Its page is not there yet: the site is being built."
    if status != _OK:
        return f"Its page answers with {status}."
    shown = ["with the article's title" if facts.get("title_found") else "without the article's title"]
    if "indexable" in facts:
        shown.append("search engines may index it" if facts["indexable"] else "search engines may not index it")
    if facts.get("canonical"):
        shown.append(f"its canonical URL is {facts['canonical']}")
    return f"Its page answers with {status}, {', '.join(shown)}."


def _outlook(done: Publication) -> str:
    if done.due_at is None and done.status == "unknown":
        return "It does not continue by itself: look at the site, then use retry_publication."
    if done.due_at is not None and done.due_at > datetime.now(UTC):
        return f"It continues by itself at {done.due_at:%H:%M:%S} UTC; ask get_publication_status then."
    return "It continues by itself; ask get_publication_status."


def raise_failure(done: Publication) -> None:
    """Refuse a call whose publication failed, so that it costs nothing. Raises `SiteError`."""
    if done.status == "failed":
        raise SiteError(
            f"{done.id} failed: {done.error} Nothing is lost: fix what is wrong, then use retry_publication."
        )
