"""The host that the tests run against: the backend keeps its cache index."""

from typing import Any

import pytest


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    """Enable the plugin, and select its backend."""
    return {"plugins": {"{{ cookiecutter.plugin_id }}": {}}, "cache": {"backend": "{{ cookiecutter.plugin_id }}"}}
