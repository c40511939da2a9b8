"""Whether the result is there already."""

from __future__ import annotations

from pressroom.errors import BackendError, FileMissing, Unavailable
from pressroom.pipeline.exchange import Exchange, Made
from pressroom.pipeline.services import Services


class Cache:
    """Looks the content up, in the index and among the runs that are under way.

    A file that has vanished counts as a miss. An index that fails is passed by. While the store cannot be asked, its
    files are believed to be there.
    """

    name = "cache"

    def __init__(self, services: Services) -> None:
        self._index = services.cache
        self._files = services.files
        self._flights = services.flights
        self._metrics = services.metrics

    async def __call__(self, exchange: Exchange) -> None:
        """Set `made` where the file is in the store, or `flight` where it is being made."""
        plan_tool = exchange.known_tool
        if plan_tool.cache.seconds:
            self._metrics.cache(plan_tool.tool.name, hit=await self.look(exchange))

    async def look(self, exchange: Exchange) -> bool:
        """Do the same, uncounted, and tell whether there is one; a later stage that took its time looks again."""
        if exchange.known_tool.cache.seconds == 0:
            return False
        exchange.made = await self._look_up(exchange)
        if exchange.made is None:
            exchange.flight = self._flights.current(exchange.content_id)
        exchange.cached = exchange.made is not None or exchange.flight is not None
        return exchange.cached

    async def _look_up(self, exchange: Exchange) -> Made | None:
        try:
            entry = await self._index.get(exchange.content_id)
        except BackendError:
            self._metrics.backend_failure("cache")
            return None
        if entry is None:
            return None
        try:
            if exchange.delivery == "binary":
                return Made(entry, await self._files.read(entry.key))
            if await self._files.has(entry.key):
                return Made(entry)
        except FileMissing:
            pass
        except BackendError as error:
            self._metrics.backend_failure("files")
            if isinstance(error, Unavailable) and exchange.delivery != "binary":
                return Made(entry)  # it was stored, and an address is signed without asking
        return None
