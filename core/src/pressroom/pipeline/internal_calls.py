"""Calls that the server makes of its own tools, on behalf of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pressroom.errors import InternalError
from pressroom.pipeline.chain import Pipeline


class InternalCalls:
    """Implements `pressroom.sdk.Tools`, once it has been given the pipeline."""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None

    def begin(self, pipeline: Pipeline) -> None:
        """Make calls through this pipeline."""
        self._pipeline = pipeline

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """See `pressroom.sdk.Tools`. Raises `RuntimeError` while the server starts."""
        if self._pipeline is None:
            raise RuntimeError("tools can be used once the server has started, such as in a call or a job")
        call = await self._pipeline.run_internally(slug, params, "internal-call")
        if call.file is None:
            raise InternalError(f"{slug} made no file")
        return call.content, call.file.entry.media_type
