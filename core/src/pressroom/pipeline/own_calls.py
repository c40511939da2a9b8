"""Calls that the server makes of its own tools, on behalf of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pressroom.errors import InternalError
from pressroom.pipeline.chain import Pipeline
from pressroom.pipeline.exchange import Exchange
from pressroom.sdk import Caller

_OWN_CALLER: Final = Caller("")


class OwnCalls:
    """Keeps the protocol `pressroom.sdk.Tools`, once it has been given the pipeline."""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None

    def begin(self, pipeline: Pipeline) -> None:
        """Make calls through this pipeline."""
        self._pipeline = pipeline

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """See `pressroom.sdk.Tools`. Raises `RuntimeError` while the server starts."""
        if self._pipeline is None:
            raise RuntimeError("tools can be used once the server has started, such as in a call or a job")
        exchange = Exchange(
            tool_name=slug,
            read_arguments=lambda _: dict(params),
            peer="",
            headers={},  # type: ignore[arg-type]  # no stage that reads headers runs
            request_id="own-call",
            delivery="binary",
            caller=_OWN_CALLER,
        )
        await self._pipeline.make_own(exchange)
        if exchange.made is None:
            raise InternalError(f"{slug} made no file")
        return exchange.content, exchange.made.entry.media_type
