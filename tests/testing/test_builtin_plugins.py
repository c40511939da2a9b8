"""The built-in plugins keep the contract; those with a `test_conformance.py` of their own are checked there."""

from __future__ import annotations

from typing import Any, Final

import pytest
from pressroom.testing import assert_plugin_conforms
from support.run import POSTGRESQL

CONTENT: Final[dict[str, Any]] = {"plugins": {"content": {}}}


@pytest.mark.services
@pytest.mark.parametrize("plugin", ["images", "seo"])
def test_a_plugin_with_tables_keeps_the_contract(plugin: str) -> None:
    assert_plugin_conforms(plugin, host_config=CONTENT, postgresql=POSTGRESQL)


@pytest.mark.parametrize("plugin", ["devto", "ghost", "git", "webhook", "wordpress"])
def test_a_platform_keeps_the_contract(plugin: str) -> None:
    config = {"write_interval": 0} if plugin == "devto" else {}
    assert_plugin_conforms(plugin, config, host_config=CONTENT)
