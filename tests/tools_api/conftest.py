"""A running host with the built-in plugins and the test tools."""

from support.http_fixtures import api, client, shared_host, start, test_tools_distribution

__all__ = ["api", "client", "shared_host", "start", "test_tools_distribution"]
