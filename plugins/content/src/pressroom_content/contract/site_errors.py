"""What goes wrong at somebody's website.

The one that matters most is `UnknownOutcome`: a request that changes something went out and no whole answer came back.
Nobody may send it again before the site was looked at.
"""

from __future__ import annotations

from typing import Final

from pressroom.sdk import CallError

from pressroom_content.contract.bounds import storable

_MAX_MESSAGE_LENGTH: Final = 2_000


class SiteError(CallError):
    """Something went wrong at somebody's website. The message is for the person whose site it is.

    It may hold what the site said: 2,000 characters are kept, those that every database can hold.
    """

    code = "site_error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(storable(message[:_MAX_MESSAGE_LENGTH]), hint=hint)


class SiteUnavailable(SiteError):
    """The site could not be reached, or answered 5xx, 429 or no API at all. Nothing was changed; later it may work.

    `retry_after` is in seconds, where the site said when.
    """

    code = "site_unavailable"

    def __init__(self, message: str, *, hint: str = "", retry_after: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class SiteRejected(SiteError):
    """The site does not accept the credential any more, or the role that it stands for may not do this."""

    code = "site_rejected"


class SiteRefused(SiteError):
    """The site understood and said no, such as to a slug that is taken. The same request will not work later either."""

    code = "site_refused"


class SiteGone(SiteError):
    """What was asked for is not on the site any more."""

    code = "site_gone"


class RemoteChanged(SiteError):
    """The post was edited on the site since it was last written or read from here."""

    code = "remote_changed"


class UnknownOutcome(SiteError):
    """A request that changes something went out, and nobody knows whether it had its effect: look before you repeat."""

    code = "unknown_outcome"
