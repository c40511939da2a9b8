"""AI clients of accounts on a running host with the content plugin."""

from __future__ import annotations

from dataclasses import dataclass

from pressroom.sdk import PluginContext
from pressroom.testing import RunningHost

from support import tool_client


@dataclass(frozen=True, slots=True)
class Client(tool_client.ToolClient):
    """An AI client of an account whose host has the content plugin."""

    @property
    def plugin(self) -> PluginContext:
        """The content plugin's context, for access to its services."""
        return content_of(self.host)


def content_of(host: RunningHost) -> PluginContext:
    """Return the context of the content plugin on a host."""
    return host.host.compiled.plugins.contexts["content"]


def client_of(host: RunningHost, email: str, name: str = "laptop") -> Client:
    """Return a new client of an account, creating the account if missing."""
    client = tool_client.client_of(host, email, name)
    return Client(client.host, client.user_id, client.connection, client.key)
