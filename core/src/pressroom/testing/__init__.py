"""For the authors of plugins: a running host in a test, and a check that a plugin keeps the contract.

Put `pytest_plugins = ["pressroom.testing.plugin"]` into your `conftest.py` to get the fixtures `host`, `http` and
`call_tool`.
"""

from pressroom.testing.conformance import assert_plugin_conforms
from pressroom.testing.running import RunningHost, ToolFailed

__all__ = ["RunningHost", "ToolFailed", "assert_plugin_conforms"]
