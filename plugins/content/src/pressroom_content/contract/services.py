"""How another plugin gets at articles, websites and secrets of accounts, and at what plugins contributed.

Each function for contributions takes the context of the content plugin, or of one that requires it, and returns pairs
of plugin id and record in the order of plugin ids. It raises `RuntimeError` before all plugins are loaded: call it in a
lifespan, in a job, or in a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from pressroom.sdk import Call, PluginContext

from pressroom_content.contract.articles import Article, ArticleRepository
from pressroom_content.contract.connectors import SiteConnector
from pressroom_content.contract.images import ImageSource, MediaLibrary
from pressroom_content.contract.languages import Language
from pressroom_content.contract.reviewing import ArticleReviewer, ArticleScorer, TextChecker
from pressroom_content.contract.search import SearchSource
from pressroom_content.contract.websites import PublicationRepository, WebsiteRepository


class CredentialVault(Protocol):
    """Encrypts what people type to give access, so that it can be kept in a table of your own.

    A credential is sealed for one website: it cannot be opened for another one.
    """

    def seal(self, credential: Mapping[str, str], website_id: str) -> str:
        """Return the credential of a website as a text that may be stored.

        Raises:
            BackendError: the key of this server can be neither read nor made.
        """

    def open(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """Return the credential of a website.

        Raises:
            SiteRejected: none of the keys opens it, or it is another website's.
            BackendError: the key of this server can be neither read nor made.
        """

    def reseal(self, sealed: str, website_id: str) -> str | None:
        """Return the credential encrypted with the newest key.

        `None` where it already is, and where no key opens it any more. Call it for everything that you keep, such as
        once a day: the operator can then remove an old key.

        Raises:
            SiteRejected: it is another website's.
            BackendError: the key of this server can be neither read nor made.
        """


@dataclass(frozen=True, slots=True)
class TextTwin:
    """The text of a published article. `listed` tells whether `/llms.txt` names it."""

    markdown: str
    listed: bool


class TextTwinRepository(Protocol):
    """The text twins of published articles."""

    async def of_article(self, article: Article, website_id: str) -> TextTwin | None:
        """Return the twin of an article that is live on a website.

        `None` where it has none there: the website is not proven to control the URL, or the article's slug has changed
        since it was published.
        """


@dataclass(frozen=True, slots=True)
class ContentServices:
    """What the content plugin does for other plugins. Everything is found by the account that it belongs to."""

    articles: ArticleRepository
    websites: WebsiteRepository
    publications: PublicationRepository
    credentials: CredentialVault
    text_twins: TextTwinRepository
    text_checks: TextChecker


def content_services(source: PluginContext | Call) -> ContentServices:
    """Return the services of the content plugin, for a plugin that names `content` in `requires`.

    They are there once the server starts, such as in a lifespan or a call, and are cheap to make for each call.

    Args:
        source: the context of the asking plugin, or a call of one of its tools.

    Raises:
        KeyError: the plugin does not require `content`, or not all plugins are loaded yet.
        RuntimeError: the tool runs in a worker process, where there is no database.
    """
    from pressroom_content.services import services_of  # noqa: PLC0415 - SQLAlchemy and the parsers load with it

    plugin = source.plugin if isinstance(source, Call) else source
    if plugin is None:
        raise RuntimeError("articles and websites can be read only by tools that run in the server's own process")
    return services_of(plugin.required["content"])


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
