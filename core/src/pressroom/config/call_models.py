"""Settings of what plugins do around calls."""

from __future__ import annotations

from pydantic import Field

from pressroom.config.values import Duration, Section


class MiddlewareSettings(Section):
    """`[middleware]`: what plugins run around every call, such as to trace it."""

    order: tuple[str, ...] = Field(
        (), description="Middleware of plugins, outermost first; those not named follow in the order of plugin id."
    )
    timeout: Duration = Field(
        1, gt=0, le=60, description="Time that one middleware gets before a call, and again after it."
    )
