"""`pressroom doctor` lists settings that weaken the secure defaults."""

from __future__ import annotations

from typing import Any

import pytest
from pressroom.cli.weak_settings import weaknesses
from pressroom.config import Settings

WEAK: dict[str, tuple[dict[str, Any], str]] = {
    "no TLS": ({"base_url": "http://press.example", "server": {"host": "::"}}, "travel in the clear"),
    "a proxy that is not trusted": ({"base_url": "https://press.example"}, "none is trusted"),
    "inside addresses": (
        {"fetch": {"private_networks": ["10.0.0.0/8"]}},
        "everybody who can enter a URL can make the server fetch URLs in 10.0.0.0/8",
    ),
    "any number of runs": ({"limits": {"anonymous_concurrency": 0}}, "anonymous_concurrency is 0"),
    "any number of connections": ({"server": {"connections_per_client": 0}}, "connections_per_client is 0"),
    "any number of bytes": ({"plans": {"gold": {"storage": 0}}}, "the plan gold has no storage limit"),
    "any number of fetched bytes": ({"fetch": {"anonymous_bytes": 0}}, "anonymous_bytes is 0"),
    "any number of files": ({"storage": {"max_total_bytes": 0}}, "max_total_bytes is 0"),
    "stolen refresh tokens": ({"oauth": {"refresh_grace": 30}}, "refresh_grace is 30 s"),
    "all web pages": ({"mcp": {"allowed_origins": ["*"]}}, "allowed_origins has *"),
}


@pytest.mark.parametrize("name", WEAK)
def test_a_setting_that_weakens_security_is_reported_with_a_hint(name: str) -> None:
    config, message = WEAK[name]
    (weakness,) = weaknesses(Settings.model_validate(config))
    assert weakness.status == "warning"
    assert message in weakness.message
    assert weakness.hint


def test_the_defaults_and_a_server_behind_a_proxy_have_no_warnings() -> None:
    behind_proxy = {"base_url": "https://press.example", "server": {"trusted_proxies": 1}}
    assert [*weaknesses(Settings()), *weaknesses(Settings.model_validate(behind_proxy))] == []
