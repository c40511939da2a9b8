"""Access to articles, websites, publications, credentials and contributions for other plugins.

Each function for contributions takes the context of the content plugin, or of one that requires it, and returns pairs
of plugin id and record, ordered by plugin id. It raises `RuntimeError` until all plugins are loaded: call it in a
lifespan, in a job, or in a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from pressroom.sdk import Call, PluginContext

from pressroom_content.contract.articles import Article, ArticleRepository
from pressroom_content.contract.connectors import SiteConnector
from pressroom_content.contract.images import ImageSource, MediaLibrary
from pressroom_content.contract.languages import Language
from pressroom_content.contract.reviewing import ArticleReviewer, ArticleScorer, TextChecker
from pressroom_content.contract.search import SearchSource

BUILTIN: Final = "builtin"
"""The platform of the sites that this server serves itself."""

WebsiteStatus = Literal["active", "error", "paused"]
"""Whether articles can be published on a website. `error`: it must be fixed or connected again."""


@dataclass(frozen=True, slots=True)
class Website:
    """A connected website, without its credential.

    `settings` has the owner's settings, such as `language` and `timezone`; `capabilities` has the fields of
    `Capabilities` by name. `control_of` reads the `control_` fields.

    The `url` of a built-in site is that of its own domain once the domain is proven. `server_url` is always its URL on
    this server; it is empty on other platforms. `domain` is the domain that the owner requested, proven or not.
    """

    id: str
    user_id: str
    platform: str
    name: str
    url: str
    status: WebsiteStatus
    settings: Mapping[str, Any]
    capabilities: Mapping[str, bool]
    checks: tuple[Mapping[str, str], ...]
    last_error: str
    last_error_at: datetime | None
    checked_at: datetime | None
    last_published_at: datetime | None
    version: int
    created_at: datetime
    disconnected_at: datetime | None
    control_place: str = ""
    control_method: str = ""
    control_at: datetime | None = None
    server_url: str = ""
    domain: str = ""


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page that was found on a website, no matter who wrote it. Any field can be empty."""

    url: str
    title: str
    keyphrase: str


class WebsiteRepository(Protocol):
    """The websites of all accounts. Websites of other accounts are not found."""

    async def get(self, user_id: str, website_id: str) -> Website:
        """Return a connected website.

        Raises:
            NotFound: the account has no such website, or disconnected it.
        """

    async def page(
        self, user_id: str, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> tuple[Sequence[Website], str | None]:
        """Return connected websites, newest first, and the cursor of the next page, which is `None` on the last page.

        Raises:
            InvalidInput: `cursor` is not such a cursor.
        """

    async def is_builtin(self, website_id: str) -> bool:
        """Return whether this server serves a website itself, whoever owns it."""

    async def builtin_url(self, website_id: str) -> str:
        """Return the URL of a website that this server serves itself, whoever owns it; empty for any other."""

    async def site_pages(self, user_id: str, website_id: str, *, limit: int) -> Sequence[SitePage]:
        """Return at most `limit` pages that were found on a website, ordered by URL."""

    async def import_note(self, user_id: str, website_id: str) -> str:
        """Return a sentence for tools that explains what `import_content` does with a page that is not an article.

        It is empty for built-in sites, where every post is an article.

        Raises:
            NotFound: the account has no such website, or disconnected it.
        """


PublicationStatus = Literal[
    "queued", "publishing", "published", "draft", "scheduled", "failed", "unknown", "unpublished"
]
"""The status of an article on a website. `unknown`: the website did not say whether it has the post."""


@dataclass(frozen=True, slots=True)
class ArticlePost:
    """An article on a website.

    `url` is empty until the website returns one, and is kept when the post is taken down. `article_version` is the
    version that was sent last; `published_at` is `None` if the article was never live there.
    """

    website_id: str
    status: PublicationStatus
    url: str
    article_version: int
    created_at: datetime
    published_at: datetime | None


class PublicationRepository(Protocol):
    """The publications of all accounts."""

    async def of_article(self, user_id: str, content_id: str) -> Sequence[ArticlePost]:
        """Return where an article is or was published, in the order of the requests to publish it.

        Nothing is returned if the account has no such article.
        """

    async def at_urls(self, user_id: str, website_id: str, urls: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of the articles that are live at URLs of a website, by URL. URLs may end with a slash.

        URLs that do not belong to an article of the account are left out.
        """


class CredentialVault(Protocol):
    """Encrypts credentials that users enter, so that you can store them in your own table.

    A credential is sealed for one website, and cannot be opened for another one.
    """

    def seal(self, credential: Mapping[str, str], website_id: str) -> str:
        """Return the credential of a website as an encrypted text that you can store.

        Raises:
            BackendError: the key of this server can be neither read nor created.
        """

    def open(self, sealed: str, website_id: str) -> Mapping[str, str]:
        """Return the credential of a website.

        Raises:
            SiteRejected: no key can decrypt it, or it belongs to another website.
            BackendError: the key of this server can be neither read nor created.
        """

    def reseal(self, sealed: str, website_id: str) -> str | None:
        """Return the credential encrypted with the newest key.

        Returns `None` if it already is, or if no key can decrypt it any longer. Call it for every credential that you
        store, for example once a day, so that the operator can remove an old key.

        Raises:
            SiteRejected: it belongs to another website.
            BackendError: the key of this server can be neither read nor created.
        """


@dataclass(frozen=True, slots=True)
class TextTwin:
    """The text of a published article. `listed` is whether `/llms.txt` lists it."""

    markdown: str
    listed: bool


class TextTwinRepository(Protocol):
    """The text twins of published articles."""

    async def of_article(self, article: Article, website_id: str) -> TextTwin | None:
        """Return the text twin of an article that is live on a website.

        Returns `None` if it has none: the website is not proven to control the URL, or the article's slug has changed
        since it was published.
        """


@dataclass(frozen=True, slots=True)
class ContentServices:
    """The services of the content plugin for other plugins. Everything is looked up by the account that owns it."""

    articles: ArticleRepository
    websites: WebsiteRepository
    publications: PublicationRepository
    credentials: CredentialVault
    text_twins: TextTwinRepository
    text_checks: TextChecker


def content_services(source: PluginContext | Call) -> ContentServices:
    """Return the services of the content plugin, for a plugin that names `content` in `requires`.

    They are available once the server starts, for example in a lifespan or a call, and are cheap to create for each
    call.

    Args:
        source: the context of your plugin, or a call of one of its tools.

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
"""Records, each with the id of the plugin that contributed it."""


def site_connectors(plugin: PluginContext) -> Contributed[SiteConnector]:
    """Return the platforms to publish to."""
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
    """Return the scorers of articles."""
    return plugin.extensions.of("pressroom_article_scorers")


def article_reviewers(plugin: PluginContext) -> Contributed[ArticleReviewer]:
    """Return the reviewers that can be added to the check of an article."""
    return plugin.extensions.of("pressroom_article_reviewers")


def languages(plugin: PluginContext) -> Contributed[Language]:
    """Return the languages with rules. Those that come with Pressroom have no rules in their records."""
    return plugin.extensions.of("pressroom_languages")
