"""Bulk-insert thousands of articles, with the same rows as if they had been written one by one."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from pressroom.columns import new_id
from pressroom.sdk import Database
from pressroom_content.tables import ArticleRow, PublicationRow, ShingleRow, VersionRow, WebsiteRow, WordRow
from pressroom_content.text_index.corpus import fingerprint_of
from sqlalchemy import insert, text

WORDS = 8_000
"""Vocabulary size of the articles. The first words are far more frequent than the last."""

BATCH = 500


def vocabulary() -> list[str]:
    """Return made-up words, few of which share a prefix."""
    source = random.Random(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u")]
    return [
        "".join(source.choice(syllables) for _ in range(2 + number % 3)) + str(number % 7) for number in range(WORDS)
    ]


def article_text(source: random.Random, words: list[str], weights: list[float], length: int) -> str:
    """Return a text of several paragraphs."""
    chosen = source.choices(words, cum_weights=weights, k=length)
    sentences = [" ".join(chosen[start : start + 12]).capitalize() + "." for start in range(0, length, 12)]
    return "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5))


async def fill(database: Database, user_id: str, count: int, website_id: str, length: int = 250) -> list[str]:
    """Store `count` articles of `length` words each for an account, and return their ids.

    Half of them are published, on a website that is created as well.
    """
    source, words = random.Random(11), vocabulary()
    weights: list[float] = []
    for number in range(WORDS):
        weights.append((weights[-1] if weights else 0.0) + 1 / (number + 20))
    now = datetime.now(UTC)
    site = {
        "id": website_id, "user_id": user_id, "platform": "builtin", "name": "Site", "url": "", "status": "active",
        "credential": "", "settings": {}, "capabilities": {}, "checks": [], "last_error": "", "version": 1,
        "created_at": now, "updated_at": now,
    }  # fmt: skip
    async with database.writing() as session:
        await session.execute(insert(WebsiteRow), [site])
    ids: list[str] = []
    for first in range(0, count, BATCH):
        rows: dict[Any, list[dict[str, Any]]] = {
            table: [] for table in (ArticleRow, VersionRow, WordRow, ShingleRow, PublicationRow)
        }
        for number in range(first, min(first + BATCH, count)):
            title = " ".join(source.choices(words, cum_weights=weights, k=6)).capitalize()
            body = article_text(source, words, weights, length)
            add_article(rows, user_id, website_id, number, title, body, now - timedelta(minutes=count - number))
        ids += [row["id"] for row in rows[ArticleRow]]
        async with database.writing() as session:
            for table, values in rows.items():
                await session.execute(insert(table), values)
    async with database.writing() as session:
        await session.execute(text("ANALYZE"))
    return ids


def add_article(
    rows: dict[Any, list[dict[str, Any]]],
    user_id: str,
    website_id: str,
    number: int,
    title: str,
    body: str,
    at: datetime,
) -> None:
    """Add the rows of one article. Articles with an even number are published."""
    id_, published = new_id("a"), number % 2 == 0
    fingerprint = fingerprint_of(title, body, "en")
    rows[ArticleRow].append(
        {
            "id": id_, "user_id": user_id, "website_id": website_id, "status": "published" if published else "draft",
            "version": 1, "title": title, "slug": f"article-{number}", "slug_scope": website_id, "body": body,
            "body_format": "markdown", "excerpt": "", "keyphrase": " ".join(title.split()[:2]), "synonyms": [],
            "meta_title": "", "meta_description": "", "tags": ["news"] if number % 10 == 0 else [], "categories": [],
            "language": "en", "canonical_url": "", "author": "", "featured_media_id": "", "featured_alt": "",
            "word_count": len(body.split()), "length": fingerprint.length, "created_at": at, "updated_at": at,
            "published_at": at if published else None,
        }
    )  # fmt: skip
    version = {"article_id": id_, "version": 1, "fields": {}, "body": body, "origin": "", "changed": []}
    rows[VersionRow].append({**version, "added": 1, "removed": 0, "created_at": at})
    rows[WordRow] += [
        {
            "user_id": user_id,
            "stem": stem,
            "document_id": id_,
            "count": count,
            "in_title": stem in fingerprint.title_stems,
        }
        for stem, count in fingerprint.stems.items()
    ]
    rows[ShingleRow] += [{"user_id": user_id, "band": band, "document_id": id_} for band in fingerprint.bands]
    if published:
        rows[PublicationRow].append(
            {
                "id": new_id("p"), "user_id": user_id, "article_id": id_, "website_id": website_id,
                "marker": new_id("m"), "status": "published", "mode": "publish", "article_version": 1, "options": {},
                "url": f"https://example.com/{number}", "path": f"/articles/site/{number}", "sent_hash": b"",
                "verified": {}, "warnings": [], "created_at": at, "updated_at": at, "published_at": at,
            }
        )  # fmt: skip
