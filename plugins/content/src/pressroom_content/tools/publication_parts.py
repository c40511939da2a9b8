"""Shared by the tools for publishing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pressroom.sdk import InvalidInput
from pydantic import BaseModel, Field

from pressroom_content.contract import SiteError
from pressroom_content.records import Publication, PublicationStatus

_OK: Final = 200
_UTC: Final = ZoneInfo("UTC")

WAIT_SECONDS: Final = 25.0
"""Maximum wait of a call for a publication, which continues afterwards."""

ContentId = Annotated[str, Field(min_length=1, max_length=64, description="The article, from list_content.")]
PublicationId = Annotated[str, Field(min_length=1, max_length=64, description="The post, from list_publications.")]
Moment = Annotated[str, Field(min_length=1, max_length=40, json_schema_extra={"format": "date-time"})]


class StepOut(BaseModel):
    """A step of a publication."""

    name: str
    state: str


class PublicationOut(BaseModel):
    """A publication. Times are in the time zone of the website, with its offset."""

    publication_id: str
    content_id: str
    title: str = Field(description="The article's headline.")
    website_id: str
    website: str = Field(description="The website's name.")
    status: PublicationStatus
    mode: str
    url: str
    external_id: str = Field(description="The post's id on the site.")
    article_version: int = Field(description="The version of the article that was sent last.")
    newest_version: int | None = Field(description="The article's newest version; null if the article is gone.")
    publish_at: datetime | None
    published_at: datetime | None
    updated_at: datetime
    attempt: int
    verified: dict[str, Any] = Field(description="What a visitor saw at the URL, and when.")
    warnings: list[str]
    error: str
    next_try_at: datetime | None = Field(
        description="When it continues automatically; null if nothing is left to do, or it waits for publish_content."
    )
    clashes_with: list[str] | None = Field(
        default=None,
        description="The nearest publications of the same website within an hour of it; null without from and to.",
    )
    steps: list[StepOut] | None = Field(
        default=None, description="Its steps and their status; null in lists of several articles."
    )
    drift: list[str] | None = Field(
        default=None, description="How the post on the site differs from what was sent; null without verify."
    )
    edited_on_site: bool | None = Field(
        default=None, description="Whether somebody edited it there; null without verify, or if this is unknown."
    )
    overwritten: dict[str, Any] | None = Field(
        default=None, description="A copy of the last edit that force overwrote: at, fields and body."
    )


def in_zone(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    """Return a time in the time zone of a website, `None` for `None`."""
    return at.astimezone(zone) if at is not None else None


def in_words(at: datetime, zone: ZoneInfo) -> str:
    """Return a time with its time zone for people, such as `2026-12-24T08:00:00+01:00 (Europe/Berlin)`."""
    return f"{at.astimezone(zone).isoformat(timespec='seconds')} ({zone.key})"


def row_of(
    publication: Publication,
    names: Mapping[str, str],
    zones: Mapping[str, ZoneInfo],
    articles: Mapping[str, tuple[str, int]],
) -> PublicationOut:
    """Return a publication as results show it. `articles` maps ids to titles and newest versions."""
    zone = zones.get(publication.website_id, _UTC)
    title, newest = articles.get(publication.article_id, ("", None))
    return PublicationOut(
        publication_id=publication.id,
        content_id=publication.article_id,
        title=title,
        website_id=publication.website_id,
        website=names.get(publication.website_id, ""),
        status=publication.status,
        mode=publication.mode,
        url=publication.url,
        external_id=publication.external_id,
        article_version=publication.article_version,
        newest_version=newest,
        publish_at=in_zone(publication.publish_at, zone),
        published_at=in_zone(publication.published_at, zone),
        updated_at=publication.updated_at.astimezone(zone),
        attempt=publication.attempt,
        verified=facts_of(publication.verified, zone),
        warnings=list(publication.warnings),
        error=publication.error,
        next_try_at=in_zone(publication.due_at, zone),
    )


def facts_of(verified: Mapping[str, Any], zone: ZoneInfo) -> dict[str, Any]:
    """Return what a visitor saw, with its time in the time zone of the website."""
    facts = dict(verified)
    if "checked_at" in facts:
        facts["checked_at"] = datetime.fromisoformat(facts["checked_at"]).astimezone(zone).isoformat(timespec="seconds")
    return facts


def publication_text(publication: Publication, zone: ZoneInfo, warnings: Sequence[str] | None = None) -> str:
    """Return a publication as text for the model. `zone` is its website's; `warnings` replace its own."""
    lines = [state_in_words(publication, zone)]
    if publication.status == "published" and (page := page_text(publication.verified)):
        lines.append(page)
    if publication.error:
        lines.append(publication.error)
    if publication.status in ("queued", "publishing", "unknown"):
        lines.append(_outlook(publication, zone))
    return "\n".join(
        [*lines, *(f"Warning: {warning}" for warning in (publication.warnings if warnings is None else warnings))]
    )


def state_in_words(publication: Publication, zone: ZoneInfo) -> str:
    """Return the status of a publication as a sentence that begins with its id."""
    match publication.status:
        case "published" if publication.verified.get("being_built"):
            description = f"is published; the site is being built. {publication.url}"
        case "published":
            description = f"is published. {publication.url}"
        case "draft":
            description = f"is a draft on the site, not live; mode publish brings it live. {publication.url}"
        case "scheduled" if publication.publish_at is not None:
            description = f"is scheduled: it goes live at {in_words(publication.publish_at, zone)}. {publication.url}"
        case "queued":
            description = (
                "is queued: it has not been sent yet."
                if publication.error
                else "is queued: it will be sent in a moment."
            )
        case "publishing":
            description = "is being sent to the site."
        case "unknown":
            description = "is unknown: the site did not say whether it has the post."
        case "failed":
            description = f"failed. {publication.url}"
        case "unpublished":
            description = "is not on the site: it was taken down or cancelled. publish_content brings it back."
        case _:
            description = f"is {publication.status}. {publication.url}"
    return f"{publication.id} {description}".rstrip()


def page_text(facts: Mapping[str, Any]) -> str:
    """Return what a visitor sees at the URL of a post as a sentence; empty if it was not checked."""
    status = facts.get("http_status")
    if status is None or facts.get("being_built"):
        return ""
    if status != _OK:
        return f"Its page responds with {status}."
    findings = ["with the article's title" if facts.get("title_found") else "without the article's title"]
    if "indexable" in facts:
        findings.append("search engines may index it" if facts["indexable"] else "search engines may not index it")
    if facts.get("canonical"):
        findings.append(f"its canonical URL is {facts['canonical']}")
    return f"Its page responds with {status}, {', '.join(findings)}."


def _outlook(publication: Publication, zone: ZoneInfo) -> str:
    hint = f"list_publications with publication_id {publication.id} shows its status"
    if publication.due_at is None and publication.status == "unknown":
        return "It does not continue automatically: check the site, then call publish_content again."
    if publication.due_at is not None and publication.due_at > datetime.now(UTC):
        return f"It continues automatically at {in_words(publication.due_at, zone)}; {hint} then."
    return f"It continues automatically; {hint}."


def raise_failure(publication: Publication, code: str = "") -> None:
    """Raise the error of a failed publication, so that the call is not charged. `code` is the code of that error.

    Raises:
        InvalidInput: the request cannot be fulfilled.
        SiteError: the site failed or refused.
    """
    if publication.status != "failed":
        return
    message = (
        f"{publication.id} failed: {publication.error} Nothing is lost: fix what is wrong, then call publish_content "
        "again; it continues at the failed step."
    )
    raise InvalidInput("", message) if code == InvalidInput.code else SiteError(message)
