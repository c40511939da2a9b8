"""Shared parts of the host's and plugins' tables: names of constraints, ids, secrets, and timestamps in UTC."""

from __future__ import annotations

import hashlib
import secrets
import string
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import BigInteger, Dialect
from sqlalchemy.types import TypeDecorator

__all__ = ["BASE62", "MAX_ID_LENGTH", "NAMING", "Timestamp", "as_id", "hash_of", "new_id", "new_secret", "random_text"]

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


MAX_ID_LENGTH: Final = 32
"""The maximum length of an id, in characters."""


@lru_cache(maxsize=8192)
def as_id(text: str) -> str:
    """Return the text if it can be an id, or an empty string, which matches no row.

    Not every database can compare arbitrary texts, such as those with a NUL.
    """
    return text if len(text) <= MAX_ID_LENGTH and text.isascii() and text.isprintable() else ""


def in_utc(moment: datetime) -> datetime:
    """Return a point in time in UTC.

    Raises:
        ValueError: it has no time zone, or is not between the years 1 and 9999 in UTC.
    """
    if moment.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{moment} is not between the years 1 and 9999 in UTC") from None


class Timestamp(TypeDecorator[datetime]):
    """A point in time, stored as whole microseconds since 1970 in UTC.

    The value is exact, and has the same order on every database.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Return the microseconds since 1970. Raises `ValueError` for a naive `datetime`, or one without a UTC date."""
        del dialect
        if value is None:
            return None
        delta = in_utc(value) - _EPOCH
        return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Return the point in time as a `datetime` in UTC."""
        del dialect
        return (
            None
            if value is None
            else datetime.fromtimestamp(value // 1_000_000, UTC).replace(microsecond=value % 1_000_000)
        )


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


BASE62: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase


def random_text(length: int) -> str:
    """Return random base62 characters: 5.95 bits each."""
    return "".join(secrets.choice(BASE62) for _ in range(length))


def new_id(letter: str) -> str:
    """Return an id such as `u_7Gf…`: 131 random bits after the letter."""
    return f"{letter}_{random_text(22)}"


def new_secret() -> str:
    """Return a secret of 256 random bits for cookies, links, codes and tokens."""
    return random_text(43)


def hash_of(secret: str) -> bytes:
    """Return the SHA-256 digest to store instead of a random secret, which must have at least 160 bits."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
