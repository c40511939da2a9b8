"""Who works in whose account, and the links that invite people."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from pressroom.storage.database.tables.accounts import ID
from pressroom.storage.database.tables.base import Base


class MembershipRow(Base):
    """A person who works in the account of somebody else. `role` is `editor` or `reader`."""

    __tablename__ = "memberships"

    account_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    member_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(8))
    created_at: Mapped[datetime]


class InvitationRow(Base):
    """A link that makes one person a member of an account, once. `note` is the owner's, for whom it is meant."""

    __tablename__ = "invitations"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(8))
    note: Mapped[str] = mapped_column(String(100), default="")
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)
