"""The plugin: a platform to publish to."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import Plugin, hookimpl
from pressroom_content.contract import CredentialField, SiteConnector

PLUGIN = Plugin(
    id="{{ cookiecutter.plugin_id }}",
    api="1",
    title="{{ cookiecutter.title }}",
    summary="Publishes articles on {{ cookiecutter.title }}.",
    requires=("content",),
)


@hookimpl
def pressroom_site_connectors() -> Iterable[SiteConnector]:
    """Offer the platform."""
    from {{ cookiecutter.package }}.site import CAPABILITIES, PlatformSite

    return [
        SiteConnector(
            platform="{{ cookiecutter.plugin_id }}",
            title="{{ cookiecutter.title }}",
            summary="Sites on {{ cookiecutter.title }}, over its API.",
            open=PlatformSite,
            capabilities=CAPABILITIES,
            fields=(CredentialField("token", "Token", "In the settings of the site, under API."),),
            term_kinds=("tag",),
        )
    ]
