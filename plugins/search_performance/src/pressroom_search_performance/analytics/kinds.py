"""The kinds of analytics that websites can be connected with."""

from __future__ import annotations

from collections.abc import Mapping

from pressroom.sdk import PluginContext

from pressroom_search_performance.analytics import matomo, plausible, umami
from pressroom_search_performance.analytics.asking import AnalyticsSource
from pressroom_search_performance.host import config_of


def kinds_of(plugin: PluginContext) -> Mapping[str, AnalyticsSource]:
    """Return them by their names, in the order in which a website's visits are looked for."""
    config = config_of(plugin)
    found = (plausible.source(config.plausible_url), umami.source(config.umami_url), matomo.source())
    return {one.name: one for one in found}
