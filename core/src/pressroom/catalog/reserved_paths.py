"""URL paths of the host, which plugin routes must not shadow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

HOST_PATHS: Final = (
    "/",
    "/tools",
    "/tools.md",
    "/tools/api",
    "/tools/static/<name>",
    "/tools/static/fonts/<name>",
    "/tools/card.png",
    "/tools/<slug>/card.png",
    "/tools/<slug>/examples/<number>",
    "/tools/<slug>/examples/<number>/<size>",
    "/tools/<slug>/choices/<name>/<value>",
    "/tools/<slug>/preview",
    "/tools/<slug>/link",
    "/tools/<slug>/image",
    "/tools/<slug>",
    "/tools/<slug>/api",
    "/tools/<slug>/api/generate",
    "/openapi.json",
    "/llms.txt",
    "/llms-full.txt",
    "/healthz",
    "/readyz",
    "/metrics",
    "/files/<tool>/<name>",
    "/api/mcp",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/api/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-authorization-server/api/mcp",
    "/.well-known/openid-configuration",
    "/oauth/<endpoint>",
    "/setup",
    "/password",
    "/sign-in",
    "/sign-in/provider",
    "/sign-in/callback",
    "/sign-up",
    "/sign-out",
    "/dashboard",
    "/dashboard/activity",
    "/dashboard/connections",
    "/dashboard/connections/<connection>",
    "/dashboard/account",
    "/dashboard/members",
    "/dashboard/members/leave",
    "/dashboard/switch",
    "/dashboard/join/<token>",
    "/dashboard/join/<token>/account",
    "/dashboard/users",
    "/dashboard/users/<user>",
)
"""All host paths, regardless of the configuration."""


def shadowed_host_path(path: str) -> str | None:
    """Return the host path that a route would shadow, or `None`.

    This includes more specific routes: `/tools/shout` would take precedence over `/tools/<slug>`.
    """
    parts = _segments(path)
    return next((host_path for host_path, host_parts in _HOST_SEGMENTS if _all_covered(host_parts, parts)), None)


def fits(route: str, path: str) -> bool:
    """Return whether a route such as `/tools/<slug>` covers a path, or every path of another route."""
    return _all_covered(_segments(route), _segments(path))


def specificity(route: str) -> int:
    """Return the number of literal segments of a route; among matching routes, the one with the most wins."""
    return sum(not segment.startswith("<") for segment in _segments(route))


def _all_covered(host_parts: Sequence[str], parts: Sequence[str]) -> bool:
    return len(parts) == len(host_parts) and all(map(_covers, host_parts, parts))


def _covers(segment: str, part: str) -> bool:
    if not segment.startswith("<"):
        return segment == part
    pattern = segment.removesuffix(">").partition(":")[2]
    return pattern in ("", "str") or part.startswith("<") or re.fullmatch(pattern, part) is not None


def _segments(path: str) -> list[str]:
    return path.rstrip("/").split("/")


_HOST_SEGMENTS: Final = tuple((path, _segments(path)) for path in HOST_PATHS)
