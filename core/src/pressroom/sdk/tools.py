"""How plugins use the tools of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Tools(Protocol):
    """The generators of this server, whichever plugin they came from."""

    async def make_file(self, slug: str, params: Mapping[str, Any]) -> tuple[bytes, str]:
        """Run a generator as the server itself would, and return the file and its media type.

        It passes the server's pipeline with its executors and its cache; no limit, no quota and no observer counts it.
        `params` are those of the tool's API. Raises `NotFound` where there is no such generator, or the operator
        switched it off, `InvalidInput` for parameters that it does not take, and another `CallError` where it failed.
        """

    async def read_file(self, url: str) -> bytes | None:
        """Return a file of this server by the signed link that a client was given, without a request over the network.

        `None` for any other URL, for a link that is altered, has expired, or whose file is gone, and where the files
        are in a bucket, which is reached like any other host. Raises `BackendError` where it cannot be read.
        """
