"""Reading all posts of a website in as many calls as that takes: where one ended, and where the next begins."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Self

from pressroom.sdk import InvalidInput

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR = re.compile(r"(\d{1,18})-(\d{1,6})(?:-(\d{4}-\d{2}-\d{2}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class SyncPass:
    """A pass over the posts of a website. Pages that were seen after `begun_at` belong to it.

    `read` is how many posts of the website's list the calls before came to; `since` is the day that was given to the
    first one, such as `2026-11-21`, empty where all posts are read.
    """

    begun_at: datetime
    read: int = 0
    since: str = ""

    @property
    def changed_since(self) -> datetime | None:
        """The moment since which posts of the pass were changed; `None` where all are read."""
        return datetime.fromisoformat(self.since).replace(tzinfo=UTC) if self.since else None

    def cursor(self, read: int) -> str:
        """Return the cursor with which the next call continues behind this many posts."""
        micros = (self.begun_at - _EPOCH) // timedelta(microseconds=1)
        return f"{micros}-{read}" + (f"-{self.since}" if self.since else "")

    @classmethod
    def of_cursor(cls, cursor: str) -> Self:
        """Return the pass that a cursor continues. Raises `InvalidInput` where it is not one of these."""
        with suppress(ValueError, OverflowError):  # no such moment or day
            match = _CURSOR.fullmatch(cursor)
            if match is not None:
                begun_at = _EPOCH + timedelta(microseconds=int(match[1]))
                since = date.fromisoformat(match[3]).isoformat() if match[3] else ""
                if begun_at <= datetime.now(UTC):
                    return cls(begun_at, int(match[2]), since)
        raise InvalidInput(
            "cursor", "must be the next_cursor of an earlier job of this tool; leave it out to start over"
        )
