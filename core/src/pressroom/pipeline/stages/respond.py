"""What the caller gets of a file: its bytes, or an address that expires."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

import structlog

from pressroom.errors import BackendError
from pressroom.pipeline.exchange import Exchange
from pressroom.pipeline.services import Services
from pressroom.pipeline.stages.store import storage_failure

SIGNED_URL_SECONDS: Final = 3 * 3600
"""How long a signed address is valid (interface specification, section 8)."""

log = structlog.get_logger()


class Respond:
    """Signs the file's address, or has its bytes at hand."""

    name = "respond"

    def __init__(self, services: Services) -> None:
        self._files = services.files
        self._metrics = services.metrics

    async def __call__(self, exchange: Exchange) -> None:
        """Set `content`, or `url`, `expires_at` and `preview_url`. Raises a `CallError` where the store fails."""
        made = exchange.made
        if made is None:
            return
        try:
            if exchange.delivery == "binary":
                exchange.content = await self._files.read(made.entry.key) if made.content is None else made.content
            else:
                exchange.expires_at = int(time.time()) + SIGNED_URL_SECONDS
                expires = datetime.fromtimestamp(exchange.expires_at, UTC)
                exchange.url = await self._files.url(made.entry.key, expires=expires)
                if made.entry.preview:
                    exchange.preview_url = await self._files.url(made.entry.preview, expires=expires)
        except BackendError as error:
            self._metrics.backend_failure("files")
            log.warning("a file could not be delivered", key=made.entry.key, error=error.message)
            raise storage_failure("the file could not be delivered; try again in a moment", error) from error
