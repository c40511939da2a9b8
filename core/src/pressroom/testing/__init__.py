"""Test tools for plugin authors: a running host, and a check that a plugin fulfils its contract.

Run pytest with `-p pressroom.testing.plugin`, preferably from `addopts` in `pyproject.toml`, to get the fixtures
`pressroom_config`, `host`, `http`, `call_tool`, `account`, `other_account`, `signed_in_browser`, `website`,
`plugin_host` and `recording`. Projects without this option are not affected.
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
