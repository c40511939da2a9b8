"""Forms that take effect once, however often they are sent."""

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
    """Issues form IDs and accepts each ID once a day and account."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def new(self) -> str:
        """Return an ID for a new form."""
        return new_id("f")

    async def spend(self, user_id: str, form_id: str) -> bool:
        """Mark a submitted form as used, and return whether it was new.

        While limits cannot be counted, every form counts as new, so its action needs another safeguard.
        """
        if not _FORM_ID.fullmatch(form_id):
            return False
        try:
            status = await self._limiter.take(_ONCE, _form_key(user_id, form_id), 1)
        except BackendError as error:
            log.warning("a form could not be marked as used", error=str(error))
            return True
        return status.allowed

    async def release(self, user_id: str, form_id: str) -> None:
        """Let a form be sent again, since it was refused."""
        try:
            await self._limiter.give_back(_ONCE, _form_key(user_id, form_id), 1)
        except BackendError as error:
            log.warning("a form could not be released", error=str(error))


def _form_key(user_id: str, form_id: str) -> str:
    return f"form\n{user_id}\n{form_id}"
