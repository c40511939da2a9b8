"""Middleware: the log names calls that take too long, with who called and from where."""

from __future__ import annotations

import logging
import time

from pressroom.sdk import CallInfo, CallMiddleware, CallRecord, Plugin, PluginConfig, PluginContext, hookimpl
from pydantic import Field

log = logging.getLogger(__name__)


class SlowCallsConfig(PluginConfig):
    """`[plugins.slow_calls.config]`."""

    seconds: float = Field(default=2.0, ge=0, description="From how many seconds on a call is slow.")


PLUGIN = Plugin(
    id="slow_calls", api="1", title="Slow calls", summary="Names slow calls in the log.", config=SlowCallsConfig
)


@hookimpl
def pressroom_call_middleware(plugin: PluginContext[SlowCallsConfig]) -> list[CallMiddleware]:
    """Take the time of each call."""
    config = plugin.config

    def enter(call: CallInfo) -> float:
        return time.monotonic()

    def leave(began: float, record: CallRecord) -> None:
        took = time.monotonic() - began
        if took >= config.seconds:
            log.warning("%s took %.2f s (%s, %s)", record.tool, took, record.code, record.caller.client_ip)

    return [CallMiddleware("slow calls", enter, leave)]
