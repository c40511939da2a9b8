"""What checking a connection says of a WordPress site, each with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pressroom_content.contract import ConnectionCheck

from pressroom_wordpress import seo_meta

_SKEW: Final = 60.0
"""Seconds by which the site's clock may differ before scheduling is off."""


def check_encryption(url: str) -> ConnectionCheck:
    """Tell whether a site's URL is asked over TLS."""
    if url.startswith("https://"):
        return ConnectionCheck("encrypted", "ok", "the connection is encrypted")
    return ConnectionCheck(
        "encrypted",
        "warning",
        "the site is asked without encryption",
        "Use the site's https URL if it has one.",
    )


def check_kind(*, hosted: bool, settings: Mapping[str, Any]) -> list[ConnectionCheck]:
    """Name a site of WordPress.com, and one of a network of sites.

    WordPress shows its administrators the settings `url` and `email` unless the site is one of a network.
    """
    found = []
    if hosted:
        found.append(ConnectionCheck("platform", "ok", "the site is on WordPress.com"))
    if settings and not {"url", "email"} & set(settings):
        message = "the site is one of a multisite network; the application password is valid for all sites of its user"
        found.append(ConnectionCheck("network", "ok", message))
    return found


def check_role(able: Mapping[str, Any]) -> ConnectionCheck:
    """Tell whether a user with these capabilities may publish, or at least write."""
    if able.get("publish_posts"):
        return ConnectionCheck("publish", "ok", "this user may publish")
    fix = "Give the user the role Author or Editor in WordPress, or publish as drafts."
    return ConnectionCheck(
        "publish", "error" if not able.get("edit_posts") else "warning", "this user may not publish", fix
    )


def check_upload(able: Mapping[str, Any]) -> ConnectionCheck:
    """Tell whether a user with these capabilities may upload images."""
    if able.get("upload_files"):
        return ConnectionCheck("upload", "ok", "this user may upload images")
    return ConnectionCheck(
        "upload", "warning", "this user may not upload images", "Give the user the role Author or Editor."
    )


def check_seo(keys: Mapping[str, tuple[str, ...]]) -> ConnectionCheck:
    """Tell which SEO plugins have their meta keys writable."""
    if keys:
        names = ", ".join(seo_meta.plugins_of(keys))
        return ConnectionCheck("seo_meta", "ok", f"meta title and description are writable ({names})")
    fix = "Register the meta keys of your SEO plugin for the REST API; the documentation has the few lines of code."
    return ConnectionCheck("seo_meta", "warning", "meta title and description cannot be written over the REST API", fix)


def check_clock(skew: float) -> ConnectionCheck:
    """Tell whether a clock that is this many seconds ahead is close enough."""
    if abs(skew) <= _SKEW:
        return ConnectionCheck("clock", "ok", "the clocks agree")
    message = f"the site's clock is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}"
    return ConnectionCheck(
        "clock", "warning", message, "Scheduled posts go out by the site's clock: ask its host to set it."
    )
