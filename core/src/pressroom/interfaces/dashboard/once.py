"""Forms that work once: a page that is loaded again does not do the same thing again."""

from __future__ import annotations

import re
from typing import Final

import structlog

from pressroom.columns import new_id
from pressroom.errors import BackendError
from pressroom.sdk import Limiter, Rate

log = structlog.get_logger()

_ONCE: Final = Rate(1, 86_400)
_FORM_ID: Final = re.compile(r"f_[0-9A-Za-z]{22}", re.ASCII)


class OneTimeForms:
    """Gives forms an id, and lets each id pass once a day. Ids of one account mean nothing for another."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def new(self) -> str:
        """Return the id for a form of a page."""
        return new_id("f")

    async def spend(self, user_id: str, form_id: str) -> bool:
        """Tell whether a form that was posted is new; from now on it is not.

        While the limits cannot be counted every form is: what it does has to be bounded by something else too.
        """
        if not _FORM_ID.fullmatch(form_id):
            return False
        try:
            status = await self._limiter.take(_ONCE, f"form\n{user_id}\n{form_id}", 1)
        except BackendError as error:
            log.warning("a form could not be marked as used", error=str(error))
            return True
        return status.allowed
