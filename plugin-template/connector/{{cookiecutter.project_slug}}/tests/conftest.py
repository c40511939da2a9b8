"""The host that the tests run against, and a site on the stand-in for the platform."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from platform_stand_in import TOKEN, Platform, running_platform
from pressroom.testing import RunningHost
from pressroom_content.contract import SiteInfo

from {{ cookiecutter.package }}.site import PlatformSite


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    """Enable the plugin, and allow requests to the stand-in, which is not on a public network."""
    return {"plugins": {"{{ cookiecutter.plugin_id }}": {}}, "fetch": {"private_networks": ["127.0.0.0/8"]}}


@pytest.fixture
def platform() -> Iterator[Platform]:
    """Return the stand-in."""
    with running_platform() as running:
        yield running


@pytest.fixture
def site_with(host: RunningHost, platform: Platform) -> Callable[[str], PlatformSite]:
    """Return a function that opens the site with a token."""
    info = SiteInfo("website-1", "account-1", "A site", platform.url)
    fetcher = host.host.compiled.plugins.services.fetcher
    return lambda token: PlatformSite(info, {"token": token}, fetcher)


@pytest.fixture
def site(site_with: Callable[[str], PlatformSite]) -> PlatformSite:
    """Return the site, with a token that works."""
    return site_with(TOKEN)
