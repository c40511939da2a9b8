"""For the authors of plugins: a running host in a test, and a check that a plugin fulfils the contract.

Run pytest with `-p pressroom.testing.plugin`, best from `addopts` in `pyproject.toml`, to get the fixtures
`pressroom_config`, `host`, `http`, `call_tool`, `account`, `other_account`, `signed_in_browser`, `website`,
`plugin_host` and `recording`. Nothing happens in a project that does not ask for it.
"""

from pressroom.testing.accounts import HostAccount, SignedInBrowser
from pressroom.testing.clock import FrozenClock
from pressroom.testing.conformance import assert_plugin_conforms, check_plugin
from pressroom.testing.fake_site import FakeSite, SiteRequest, Trouble, fake_site
from pressroom.testing.recording import RecordedHttp, UnrecordedRequest, recorded_http
from pressroom.testing.running import PluginHost, RunningHost, ToolFailed, settings_for_test

__all__ = [
    "FakeSite",
    "FrozenClock",
    "HostAccount",
    "PluginHost",
    "RecordedHttp",
    "RunningHost",
    "SignedInBrowser",
    "SiteRequest",
    "ToolFailed",
    "Trouble",
    "UnrecordedRequest",
    "assert_plugin_conforms",
    "check_plugin",
    "fake_site",
    "recorded_http",
    "settings_for_test",
]
