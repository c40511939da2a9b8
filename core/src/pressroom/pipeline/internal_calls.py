"""Calls that the server makes of its own tools, on behalf of plugins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pressroom.errors import InternalError
from pressroom.pipeline.chain import Pipeline
from pressroom.sdk import FileMissing, FileStore
from pressroom.storage.files.local import LocalFileStore


class InternalCalls:
    """Implements `pressroom.sdk.Tools`, once it has been given the pipeline."""

    def __init__(self) -> None:
        self._pipeline: Pipeline | None = None
        self._files: FileStore | None = None

    def begin(self, pipeline: Pipeline, files: FileStore) -> None:
        """Make calls through this pipeline, and read files from this store."""
        self._pipeline, self._files = pipeline, files

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """See `pressroom.sdk.Tools`. Raises `RuntimeError` while the server starts."""
        if self._pipeline is None:
            raise RuntimeError("tools can be used once the server has started, such as in a call or a job")
        call = await self._pipeline.run_internally(slug, params, "internal-call")
        if call.file is None:
            raise InternalError(f"{slug} made no file")
        return call.content, call.file.entry.media_type

    async def read_file(self, url: str) -> bytes | None:
        """See `pressroom.sdk.Tools`."""
        if not isinstance(self._files, LocalFileStore):
            return None
        key = self._files.key_of(url)
        if key is None:
            return None
        try:
            return await self._files.read(key)
        except FileMissing:
            return None
