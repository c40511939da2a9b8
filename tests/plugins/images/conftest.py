"""A running server whose providers of images are stand-ins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.tool_client import ToolClient, client_of

from .providers import PEXELS_KEY, PIXABAY_KEY, UNSPLASH_KEY, Providers, serving

_numbers = count(1)


@pytest.fixture
def providers() -> Iterator[Providers]:
    with serving(Providers()) as running:
        yield running


@pytest.fixture
def host(providers: Providers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    images = {
        "unsplash_key": UNSPLASH_KEY,
        "pexels_key": PEXELS_KEY,
        "pixabay_key": PIXABAY_KEY,
        "openverse_url": f"{providers.url}/openverse",
        "wikimedia_url": f"{providers.url}/wikimedia",
        "unsplash_url": f"{providers.url}/unsplash",
        "pexels_url": f"{providers.url}/pexels",
        "pixabay_url": f"{providers.url}/pixabay/",
        "max_image_bytes": 200_000,
    }
    config = {
        "builtin_plugins": False,
        "plugins": {"content": {}, "images": {"config": images}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def ada(host: RunningHost) -> ToolClient:
    return client_of(host, f"ada.{next(_numbers)}@example.com")


@pytest.fixture
def eve(host: RunningHost) -> ToolClient:
    return client_of(host, f"eve.{next(_numbers)}@example.com")
