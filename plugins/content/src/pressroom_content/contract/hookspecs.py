"""The hooks that the content plugin offers to others."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy
from pressroom.sdk import PluginContext

from pressroom_content.contract.connectors import SiteConnector
from pressroom_content.contract.images import ImageSource, MediaLibrary
from pressroom_content.contract.languages import Language
from pressroom_content.contract.reviewing import ArticleReviewer
from pressroom_content.contract.scoring import ArticleScorer
from pressroom_content.contract.search import SearchSource

hookspec = pluggy.HookspecMarker("pressroom")


class ContentHooks:
    """What plugins can add to websites and articles. Every hook yields records of `pressroom_content.contract`."""

    @hookspec
    def pressroom_site_connectors(self, plugin: PluginContext) -> Iterable[SiteConnector]:
        """Offer platforms to publish on. Each name exists once: plugins that claim the same are in conflict."""
        raise NotImplementedError

    @hookspec
    def pressroom_image_sources(self, plugin: PluginContext) -> Iterable[ImageSource]:
        """Offer providers of licensed images."""
        raise NotImplementedError

    @hookspec
    def pressroom_search_sources(self, plugin: PluginContext) -> Iterable[SearchSource]:
        """Offer sources of search figures."""
        raise NotImplementedError

    @hookspec
    def pressroom_media_libraries(self, plugin: PluginContext) -> Iterable[MediaLibrary]:
        """Offer libraries that articles take their images from."""
        raise NotImplementedError

    @hookspec
    def pressroom_article_scorers(self, plugin: PluginContext) -> Iterable[ArticleScorer]:
        """Offer what scores articles."""
        raise NotImplementedError

    @hookspec
    def pressroom_article_reviewers(self, plugin: PluginContext) -> Iterable[ArticleReviewer]:
        """Offer parts that a check of an article can include, each by a name of its own."""
        raise NotImplementedError

    @hookspec
    def pressroom_languages(self, plugin: PluginContext) -> Iterable[Language]:
        """Offer languages whose articles are judged by rules of their own. Each code exists once."""
        raise NotImplementedError
