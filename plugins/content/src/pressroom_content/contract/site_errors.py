"""Errors of websites, and size limits for the data that they return.

The most important error is `UnknownOutcome`: a request that changes something was sent, but no complete response
arrived. Check the site before you send it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import CallError

_MAX_MESSAGE_LENGTH: Final = 2_000


class SiteError(CallError):
    """An error of a website. The message is for the owner of the site.

    It can quote the site. It is cut to 2,000 characters, and characters that databases cannot store are removed.
    """

    code = "site_error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(storable(message[:_MAX_MESSAGE_LENGTH]), hint=hint)


class SiteUnavailable(SiteError):
    """The site is unreachable, or responded with 5xx, 429 or not as an API. Nothing was changed; retry later.

    `retry_after` is in seconds; `None` if the site did not state it.
    """

    code = "site_unavailable"

    def __init__(self, message: str, *, hint: str = "", retry_after: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class SiteRejected(SiteError):
    """The site no longer accepts the credential, or the credential's role does not allow this."""

    code = "site_rejected"


class SiteRefused(SiteError):
    """The site refused a valid request, such as for a slug that is taken. Retrying the same request will not help."""

    code = "site_refused"


class SiteGone(SiteError):
    """The requested object is no longer on the site."""

    code = "site_gone"


class RemoteChanged(SiteError):
    """The post was edited on the site after this server last wrote or read it."""

    code = "remote_changed"


class UnknownOutcome(SiteError):
    """A request that changes something was sent, and may or may not have taken effect: check before you retry."""

    code = "unknown_outcome"


MAX_FIELD_LENGTH: Final = 10_000
"""Maximum length in characters of a post field, such as the title, that is read from a site."""

MAX_FIELD_VALUES: Final = 500
"""Maximum number of values of a list field, such as the tags."""

MAX_LINE_LENGTH: Final = 500
"""Maximum length in characters of a single-line text from a site, such as a name or a message."""

MAX_URL_LENGTH: Final = 2048

_FIRST_YEAR, _LAST_YEAR = 1000, 9000
"""The range of years that every time zone can show and every database can store."""


def field_text(value: Any) -> str:
    """Return a field of a post as text, cut before any processing whose time grows with its length."""
    return str(value or "")[:MAX_FIELD_LENGTH]


def bounded_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a post, with texts and lists cut to their maximum length."""
    return {name: _bounded(value) for name, value in fields.items()}


def storable(text: str) -> str:
    """Return a site's text as databases and responses accept it: NUL removed, lone surrogates replaced."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def cut(record: object, limit: int, *names: str) -> None:
    """Cut text fields of a frozen record to `limit` characters and make them storable. Call it in `__post_init__`."""
    for name in names:
        object.__setattr__(record, name, storable(getattr(record, name)[:limit]))


def bounded_time(at: datetime | None) -> datetime | None:
    """Return a site's time with a time zone (UTC if it has none), clamped to a range that every time zone can show."""
    if at is None:
        return None
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        return datetime(_FIRST_YEAR if at.year < _FIRST_YEAR else _LAST_YEAR, 1, 1, tzinfo=UTC)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_FIELD_LENGTH]
    if isinstance(value, list | tuple):
        return type(value)(_bounded(element) for element in value[:MAX_FIELD_VALUES])
    return value
