"""The operator's configuration in `[plugins.devto.config]`."""

from __future__ import annotations

from pressroom.sdk import PluginConfig
from pydantic import Field


class DevtoConfig(PluginConfig):
    """The URL of the API, and how often the server may write to it."""

    api_url: str = Field(
        "https://dev.to/api",
        pattern=r"^https?://[^\s?#]{1,200}[^\s?#/]$",
        description="URL of Forem's API, without a slash at its end.",
    )
    write_interval: float = Field(
        1.0, ge=0, le=60, description="Minimum number of seconds between two writes with one API key, in each process."
    )
