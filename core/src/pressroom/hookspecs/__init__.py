"""All hooks that a plugin can implement.

Hooks are synchronous, run once while the server starts, and return an iterable of records from `pressroom.sdk`. They
take `plugin`, the context of the plugin that implements the hook, or no argument. The order in which plugins are called
does not matter. Import `hookimpl` from `pressroom.sdk` and name the function after the hook.
"""

from pressroom.hookspecs.calls import (
    pressroom_authenticators,
    pressroom_authorizers,
    pressroom_branding,
    pressroom_cache_rules,
    pressroom_call_middleware,
    pressroom_observers,
    pressroom_rate_limits,
)
from pressroom.hookspecs.parts import (
    pressroom_backends,
    pressroom_index_entries,
    pressroom_models,
    pressroom_overview,
    pressroom_publishing_targets,
    pressroom_routes,
    pressroom_shared_keys,
    pressroom_storage,
    pressroom_virtual_hosts,
)
from pressroom.hookspecs.tools import (
    pressroom_checks,
    pressroom_commands,
    pressroom_generators,
    pressroom_jobs,
    pressroom_lifespan,
    pressroom_mcp_instructions,
    pressroom_mcp_tools,
)

__all__ = [
    "pressroom_authenticators",
    "pressroom_authorizers",
    "pressroom_backends",
    "pressroom_branding",
    "pressroom_cache_rules",
    "pressroom_call_middleware",
    "pressroom_checks",
    "pressroom_commands",
    "pressroom_generators",
    "pressroom_index_entries",
    "pressroom_jobs",
    "pressroom_lifespan",
    "pressroom_mcp_instructions",
    "pressroom_mcp_tools",
    "pressroom_models",
    "pressroom_observers",
    "pressroom_overview",
    "pressroom_publishing_targets",
    "pressroom_rate_limits",
    "pressroom_routes",
    "pressroom_shared_keys",
    "pressroom_storage",
    "pressroom_virtual_hosts",
]
