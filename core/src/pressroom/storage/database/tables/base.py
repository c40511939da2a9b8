"""What all tables of the host share."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

from pressroom.columns import NAMING, Timestamp


class Base(DeclarativeBase):
    """The host's tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {datetime: Timestamp}  # noqa: RUF012 - declared so by SQLAlchemy
