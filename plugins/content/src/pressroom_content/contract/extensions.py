"""What plugins contributed through the hooks of the content plugin, by a typed function for each hook.

Each function takes the context of the content plugin, or of one that requires it, and returns pairs of plugin id and
record in the order of plugin ids. It raises `RuntimeError` before all plugins are loaded: call it in a lifespan, in a
job, or in a call.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from pressroom.sdk import PluginContext

from pressroom_content.contract.connectors import SiteConnector
from pressroom_content.contract.images import ImageSource, MediaLibrary
from pressroom_content.contract.languages import Language
from pressroom_content.contract.reviewing import ArticleReviewer
from pressroom_content.contract.scoring import ArticleScorer
from pressroom_content.contract.search import SearchSource

Record = TypeVar("Record")
Contributed: TypeAlias = tuple[tuple[str, Record], ...]
"""Records, each with the id of the plugin that it came from."""


def site_connectors(plugin: PluginContext) -> Contributed[SiteConnector]:
    """Return the platforms to publish on."""
    return plugin.extensions.of("pressroom_site_connectors")


def image_sources(plugin: PluginContext) -> Contributed[ImageSource]:
    """Return the providers of licensed images."""
    return plugin.extensions.of("pressroom_image_sources")


def search_sources(plugin: PluginContext) -> Contributed[SearchSource]:
    """Return the sources of search figures."""
    return plugin.extensions.of("pressroom_search_sources")


def media_libraries(plugin: PluginContext) -> Contributed[MediaLibrary]:
    """Return the libraries that articles take their images from."""
    return plugin.extensions.of("pressroom_media_libraries")


def article_scorers(plugin: PluginContext) -> Contributed[ArticleScorer]:
    """Return what scores articles."""
    return plugin.extensions.of("pressroom_article_scorers")


def article_reviewers(plugin: PluginContext) -> Contributed[ArticleReviewer]:
    """Return what can be added to the check of an article."""
    return plugin.extensions.of("pressroom_article_reviewers")


def languages(plugin: PluginContext) -> Contributed[Language]:
    """Return the languages with rules. Those that come with Pressroom have no rules in their records."""
    return plugin.extensions.of("pressroom_languages")
