"""The SEO plugin with its database, queue and fetcher, and nothing else of a host, which starts quickly."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import PluginContext
from support.publishing_world import services


def configuration(storage: dict[str, Any], **seo: Any) -> dict[str, Any]:
    """Return the equivalent of a TOML configuration file."""
    return {
        "plugins": {"content": {}, "seo": {"config": {"own_hosts": ["127.0.0.1"], **seo}}},
        "storage": {name: str(value) for name, value in storage.items()},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "jobs": {"poll_interval": 0.1},
    }


@asynccontextmanager
async def world(settings: Settings) -> AsyncIterator[PluginContext]:
    """Yield the plugin's context in a process that runs no jobs."""
    async with services(LoadedApp(settings), works=False) as contexts:
        yield contexts["seo"]
