"""What goes wrong at somebody's website, and limits for what a site says.

The most important one is `UnknownOutcome`: a request that changes something was sent, and no complete response came
back. It must not be sent again before the site has been checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import CallError

_MAX_MESSAGE_LENGTH: Final = 2_000


class SiteError(CallError):
    """Something went wrong at somebody's website. The message is for the owner of the site.

    It may include what the site said. It is cut after 2,000 characters, without those that databases cannot store.
    """

    code = "site_error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(storable(message[:_MAX_MESSAGE_LENGTH]), hint=hint)


class SiteUnavailable(SiteError):
    """The site could not be reached, or responded with 5xx, 429 or not as an API. Nothing was changed; retry later.

    `retry_after` is in seconds, if the site said when to retry.
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
    """A request that changes something was sent, and may or may not have taken effect: check before you repeat it."""

    code = "unknown_outcome"


MAX_FIELD_LENGTH: Final = 10_000
"""Characters of a field of a post, such as its title, that are taken from a site."""

MAX_FIELD_VALUES: Final = 500
"""Values of a field that has several, such as the tags."""

MAX_LINE_LENGTH: Final = 500
"""Characters of what a site says in a line: a name, a message."""

MAX_URL_LENGTH: Final = 2048

_FIRST_YEAR, _LAST_YEAR = 1000, 9000
"""Years in which a time can be shown in every time zone, and kept by every database."""


def field_text(value: Any) -> str:
    """Return a field of a post as text, cut before anything is done with it that takes time in line with its length."""
    return str(value or "")[:MAX_FIELD_LENGTH]


def bounded_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a post without what is longer than can be kept."""
    return {name: _bounded(value) for name, value in fields.items()}


def storable(text: str) -> str:
    """Return a text of a site as databases and answers can hold it: without NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def cut(record: object, most: int, *names: str) -> None:
    """Bound texts of a frozen record, in its `__post_init__`, to what can be kept."""
    for name in names:
        object.__setattr__(record, name, storable(getattr(record, name)[:most]))


def bounded_time(at: datetime | None) -> datetime | None:
    """Return a time that a site gives, with its zone, moved to one that can be shown in every time zone."""
    if at is None:
        return None
    if not _FIRST_YEAR <= at.year <= _LAST_YEAR:
        return datetime(_FIRST_YEAR if at.year < _FIRST_YEAR else _LAST_YEAR, 1, 1, tzinfo=UTC)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_FIELD_LENGTH]
    if isinstance(value, list | tuple):
        return type(value)(_bounded(one) for one in value[:MAX_FIELD_VALUES])
    return value
