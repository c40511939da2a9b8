"""The table of bookmarks."""

from __future__ import annotations

from typing import Any

from pressroom.columns import Timestamp
from sqlalchemy import Column, Integer, MetaData, String, Table, UniqueConstraint, func, select

METADATA = MetaData()
BOOKMARKS = Table(
    "bookmarks_bookmark",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("subject", String(255), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("note", String(500), nullable=False),
    Column("size", Integer, nullable=False),
    Column("kept_at", Timestamp, nullable=False),
    UniqueConstraint("subject", "url", name="uq_bookmarks_bookmark_subject_url"),
)


async def measure(session: Any, subject: str) -> int:
    """Return how many bytes an account keeps."""
    total = select(func.sum(BOOKMARKS.c.size)).where(BOOKMARKS.c.subject == subject)
    return await session.scalar(total) or 0
