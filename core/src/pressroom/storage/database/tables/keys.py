"""What tells whether the hosts of one database have the same keys."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from pressroom.storage.database.tables.base import Base


class KeyFingerprintRow(Base):
    """The fingerprint of the key that the hosts of this database write with now. `name` is that of `SharedKeys`."""

    __tablename__ = "key_fingerprints"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(16))
    recorded_at: Mapped[datetime]
