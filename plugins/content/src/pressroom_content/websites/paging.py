"""Cursors: where a list that is ordered by time, newest first, goes on."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pressroom.columns import as_id
from pressroom.sdk import InvalidInput
from sqlalchemy import ColumnElement, and_, or_

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def cursor_of(at: datetime, id_: str) -> str:
    """Return the cursor behind a row of that time and id."""
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{micros}.{id_}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[datetime, str]:
    """Return time and id. Raises `InvalidInput` for what is no cursor."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        micros, _, id_ = text.partition(".")
        at = _EPOCH + timedelta(microseconds=int(micros))
    except (binascii.Error, UnicodeError, ValueError, OverflowError):
        at, id_ = _EPOCH, ""
    if not as_id(id_):
        raise InvalidInput("cursor", "must be the next_cursor of an earlier answer; leave it out to begin anew")
    return at, id_


def before(at: Any, id_: Any, cursor: str) -> ColumnElement[bool]:
    """Return the condition for rows behind a cursor, where they are ordered by `at` and `id_`, both falling.

    Raises `InvalidInput`.
    """
    last_at, last_id = read_cursor(cursor)
    return or_(at < last_at, and_(at == last_at, id_ < last_id))
