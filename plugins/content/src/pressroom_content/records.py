"""What the services of this plugin hand to each other: rows without their database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

ArticleStatus = Literal["draft", "scheduled", "published", "trashed"]
BodyFormat = Literal["markdown", "html"]
WebsiteStatus = Literal["active", "error", "paused"]
PublicationStatus = Literal[
    "queued", "publishing", "published", "draft", "scheduled", "failed", "unknown", "unpublished"
]


@dataclass(frozen=True, slots=True)
class Article:
    """One version of an article, the newest unless an older one was asked for. The fields are those of `ArticleRow`."""

    id: str
    user_id: str
    website_id: str | None
    status: ArticleStatus
    version: int
    title: str
    slug: str
    body: str
    body_format: BodyFormat
    excerpt: str
    keyphrase: str
    synonyms: tuple[str, ...]
    meta_title: str
    meta_description: str
    tags: tuple[str, ...]
    categories: tuple[str, ...]
    language: str
    canonical_url: str
    author: str
    featured_media_id: str
    featured_alt: str
    word_count: int
    score: int | None
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    trashed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Website:
    """A connected website, without its credential. `capabilities` are those of `contract.Capabilities`, by name."""

    id: str
    user_id: str
    platform: str
    name: str
    url: str
    status: WebsiteStatus
    settings: Mapping[str, Any]
    capabilities: Mapping[str, bool]
    checks: tuple[Mapping[str, str], ...]
    last_error: str
    last_error_at: datetime | None
    checked_at: datetime | None
    last_published_at: datetime | None
    version: int
    created_at: datetime
    disconnected_at: datetime | None
    control_place: str = ""
    control_method: str = ""
    control_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Publication:
    """An article on a website. `due_at` is when work on it goes on, `None` where nothing is to be done."""

    id: str
    user_id: str
    article_id: str
    website_id: str
    status: PublicationStatus
    mode: Literal["publish", "draft", "schedule"]
    article_version: int
    publish_at: datetime | None
    external_id: str
    url: str
    path: str
    verified: Mapping[str, Any]
    warnings: tuple[str, ...]
    error: str
    attempt: int
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    options: Mapping[str, Any] = field(default_factory=dict)
    due_at: datetime | None = None
