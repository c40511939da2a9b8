"""Calls that carry a `client_request_id`, and what was answered."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from pressroom.storage.database.tables.accounts import ID
from pressroom.storage.database.tables.base import Base


class ClientRequestRow(Base):
    """A call that its client may repeat.

    `fingerprint` is a JSON object with a keyed digest of each argument. While the call runs, `token` names the attempt
    and `until` is the end of its lease; once it was answered, `until` is NULL and `answer` holds the encrypted result,
    or NULL where that was too large to keep.
    """

    __tablename__ = "client_requests"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(String(64), primary_key=True)
    request_id: Mapped[str] = mapped_column(String(200), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(Text)
    token: Mapped[str] = mapped_column(ID)
    until: Mapped[datetime | None]
    answer: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(index=True)
