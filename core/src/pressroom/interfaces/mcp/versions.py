"""Which version of MCP a client speaks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pressroom.interfaces.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, RpcError
from pressroom.validation.echo import cut, printable, quoted

ASSUMED: Final = "2025-03-26"
"""What a client speaks that sends no `MCP-Protocol-Version` (MCP 2025-06-18, transports)."""

HEADER: Final = "mcp-protocol-version"


class Versions:
    """The versions that the operator switched on, newest first. They are dates, and compare as texts."""

    def __init__(self, supported: Iterable[str]) -> None:
        self.supported = tuple(sorted(set(supported), reverse=True))
        self._assumed = ASSUMED if ASSUMED in self.supported else self.supported[-1]

    def negotiated(self, requested: Any) -> str:
        """Return the version that `initialize` answers with: the client's where it is supported, else the newest.

        Raises:
            RpcError: the client asked for none.
        """
        if type(requested) is not str:
            raise RpcError(INVALID_PARAMS, "params.protocolVersion must be a string such as 2025-06-18")
        return requested if requested in self.supported else self.supported[0]

    def of_header(self, value: str) -> str:
        """Return the version that a request's header names.

        Raises:
            RpcError: it is not supported; the error lists those that are.
        """
        if not value:
            return self._assumed
        if value in self.supported:
            return value
        raise RpcError(
            INVALID_REQUEST,
            f"MCP-Protocol-Version {quoted(value)} is not supported; use {' or '.join(self.supported)}",
            status=400,
            data={"supported": self.supported, "requested": printable(cut(value))},
        )


def allows_batches(version: str) -> bool:
    """Tell whether several messages may come in one body: only 2025-03-26 has that."""
    return version < "2025-06-18"


def has_resource_links(version: str) -> bool:
    """Tell whether a result may link to a resource, which came with 2025-06-18."""
    return version >= "2025-06-18"
