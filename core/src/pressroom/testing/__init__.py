"""For the authors of plugins: a running host in a test, and a check that a plugin fulfils the contract.

Run pytest with `-p pressroom.testing.plugin`, best from `addopts` in `pyproject.toml`, to get the fixtures
`pressroom_config`, `host`, `http` and `call_tool`. Nothing happens in a project that does not ask for it.
"""

from pressroom.testing.clock import FrozenClock
from pressroom.testing.conformance import assert_plugin_conforms, check_plugin
from pressroom.testing.running import RunningHost, ToolFailed, settings_for_test

__all__ = ["FrozenClock", "RunningHost", "ToolFailed", "assert_plugin_conforms", "check_plugin", "settings_for_test"]
