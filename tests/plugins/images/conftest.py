"""A running server with stand-ins for the image providers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.tool_client import ToolClient, client_of

from .providers import PEXELS_KEY, PIXABAY_KEY, UNSPLASH_KEY, Providers, serving

_numbers = count(1)


@pytest.fixture(scope="package")
def shared_providers() -> Iterator[Providers]:
    with serving(Providers()) as running:
        yield running


@pytest.fixture
def providers(shared_providers: Providers) -> Providers:
    """Return the providers in their initial state, without faults or recorded requests."""
    vars(shared_providers).update({**vars(Providers()), "url": shared_providers.url})
    return shared_providers


@pytest.fixture(scope="package")
def host(shared_providers: Providers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a shared server. It caches the providers' search results."""
    images = {
        "unsplash_key": UNSPLASH_KEY,
        "pexels_key": PEXELS_KEY,
        "pixabay_key": PIXABAY_KEY,
        "openverse_url": f"{shared_providers.url}/openverse",
        "wikimedia_url": f"{shared_providers.url}/wikimedia",
        "unsplash_url": f"{shared_providers.url}/unsplash",
        "pexels_url": f"{shared_providers.url}/pexels",
        "pixabay_url": f"{shared_providers.url}/pixabay/",
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
def query() -> str:
    """Return a search query that no other test uses."""
    return f"coffee {next(_numbers)}"


@pytest.fixture
def ada(host: RunningHost, providers: Providers) -> ToolClient:
    """Return a client of an account that no other test uses."""
    del providers  # resets their faults
    return client_of(host, f"ada.{next(_numbers)}@example.com")


@pytest.fixture
def eve(host: RunningHost) -> ToolClient:
    return client_of(host, f"eve.{next(_numbers)}@example.com")
