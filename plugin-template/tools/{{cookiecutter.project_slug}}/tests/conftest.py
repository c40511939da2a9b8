"""The host that the tests run against."""

from typing import Any

import pytest


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    """Enable the plugin."""
    return {"plugins": {"{{ cookiecutter.plugin_id }}": {}}}
