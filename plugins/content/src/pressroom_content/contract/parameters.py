"""Parameters that tools of several plugins share, and cursors for lists that are ordered by time."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pressroom.sdk import InvalidInput
from pydantic import Field

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


WebsiteId = Annotated[str, Field(min_length=1, max_length=64, description="The website, from list_websites.")]
"""The id of a website as a parameter of a tool."""

Cursor = Annotated[str, Field(min_length=1, max_length=200, description="next_cursor of the last result.")]
"""The cursor of a page as a parameter of a tool."""


def cursor_of(at: datetime, id_: str) -> str:
    """Return the cursor after a row with this time and id, for a list that is ordered by both, newest first."""
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{micros}.{id_}".encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[datetime, str]:
    """Return the time and id of a cursor.

    Raises:
        InvalidInput: `cursor_of` did not create the cursor.
    """
    from pressroom.columns import as_id  # noqa: PLC0415 - SQLAlchemy loads with it

    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        micros, _, id_ = text.partition(".")
        at = _EPOCH + timedelta(microseconds=int(micros))
    except (binascii.Error, UnicodeError, ValueError, OverflowError):
        at, id_ = _EPOCH, ""
    if not as_id(id_):
        raise InvalidInput("cursor", "must be the next_cursor of an earlier result; leave it out to start over")
    return at, id_
