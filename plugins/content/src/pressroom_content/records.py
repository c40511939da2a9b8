"""Records that the services of this plugin pass to each other: rows without their database session.

Articles and websites are public: other plugins get them through the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pressroom_content.contract.articles import Article, ArticleStatus, BodyFormat
from pressroom_content.contract.services import PublicationStatus, Website, WebsiteStatus

__all__ = ["Article", "ArticleStatus", "BodyFormat", "Publication", "PublicationStatus", "Website", "WebsiteStatus"]


@dataclass(frozen=True, slots=True)
class Publication:
    """An article on a website. `due_at` is when processing continues, `None` if nothing is scheduled."""

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
    canonical_of: str | None = None
