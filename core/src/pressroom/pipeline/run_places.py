"""How many generator runs one caller may have under way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from pressroom.config.models import Settings
from pressroom.errors import Overloaded
from pressroom.sdk import Caller
from pressroom.validation.echo import counted


class RunPlaces:
    """Counts the runs of each caller, those that wait for a worker too.

    A caller without an account is known by the IP address; that of IPv6 is a /64 network already. The host's own calls
    have no address, and no bound.
    """

    def __init__(self, settings: Settings) -> None:
        self._anonymous = settings.limits.anonymous_concurrency
        self._account = settings.mcp.concurrency
        self._running: Counter[str] = Counter()

    def enter(self, caller: Caller) -> Callable[[], None]:
        """Take a place, and return what gives it back; it is called once. Raises `Overloaded` where all are taken."""
        most = self._account if caller.subject else self._anonymous
        key = caller.connection or caller.subject or caller.address
        if not key or not most:
            return _nothing
        if self._running[key] >= most:
            raise Overloaded(
                f"You have {counted(most, 'run')} of generators under way, which is as many as one caller "
                f"{'with' if caller.subject else 'without'} an account may have at once. "
                "Send the request again once one of them has ended; it cost nothing."
            )
        self._running[key] += 1
        return partial(self._leave, key)

    def _leave(self, key: str) -> None:
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]


def _nothing() -> None:
    """Give back nothing."""
