"""Keyset pagination for lists that are ordered by time, newest first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, or_

from pressroom_content.contract import read_cursor


def before(at: Any, id_: Any, cursor: str) -> ColumnElement[bool]:
    """Return the condition for rows after a cursor, in descending order of `at` and `id_`.

    Raises `InvalidInput`.
    """
    last_at, last_id = read_cursor(cursor)
    return or_(at < last_at, and_(at == last_at, id_ < last_id))
