"""What a call gives of the host."""

from __future__ import annotations

from typing import cast

from pressroom.sdk import Call, PluginContext
from pressroom_content.contract import ArticleRepository, content_services

from pressroom_images.config import ImagesConfig


def plugin_of(call: Call) -> PluginContext:
    """Return the plugin's context; a call of the process executor, which is not the case here, would have none."""
    if call.plugin is None:
        raise RuntimeError("the tools of this plugin run in the server's own process")
    return call.plugin


def config_of(call: Call) -> ImagesConfig:
    """Return what the operator configured."""
    return cast("ImagesConfig", plugin_of(call).config)


def articles_of(call: Call) -> ArticleRepository:
    """Return the articles, which belong to the content plugin."""
    return content_services(plugin_of(call)).articles
