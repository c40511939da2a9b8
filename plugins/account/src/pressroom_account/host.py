"""The parts of the server that the tools read."""

from __future__ import annotations

from pressroom.sdk import Call, HostServices


def services_of(call: Call) -> HostServices:
    """Return the server's parts. They are there for every tool that runs in the server's own process."""
    if call.plugin is None:
        raise RuntimeError(f"{call.tool} must run in the server's own process")
    return call.plugin.services
