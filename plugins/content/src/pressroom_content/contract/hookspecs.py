"""Hook specifications of the content plugin."""

from __future__ import annotations

from collections.abc import Iterable

import pluggy
from pressroom.sdk import PluginContext

from pressroom_content.contract.connectors import SiteConnector
from pressroom_content.contract.images import ImageSource, MediaLibrary
from pressroom_content.contract.languages import Language
from pressroom_content.contract.reviewing import ArticleReviewer, ArticleScorer
from pressroom_content.contract.search import SearchSource

hookspec = pluggy.HookspecMarker("pressroom")


class ContentHooks:
    """Hooks that extend websites and articles. Every hook yields records of `pressroom_content.contract`."""

    @hookspec
    def pressroom_site_connectors(self, plugin: PluginContext) -> Iterable[SiteConnector]:
        """Offer platforms to publish to. Names must be unique: plugins that offer the same name conflict.

        Example:
            ```python
            from collections.abc import Iterable, Mapping
            from dataclasses import replace
            from datetime import datetime
            from typing import ClassVar, Final, Literal

            from pressroom.sdk import Fetcher, Plugin, hookimpl
            from pressroom_content.contract import (
                BasicSite,
                Capabilities,
                ConnectionCheck,
                ConnectionReport,
                Post,
                RemotePost,
                SiteConnector,
                SiteGone,
                SiteInfo,
            )

            PLUGIN = Plugin(id="shelf", api="1", title="Shelf", summary="Publishes into memory.", requires=("content",))
            CAPABILITIES: Final = Capabilities(draft=True, update=True, unpublish=True)


            class ShelfSite(BasicSite):
                capabilities = CAPABILITIES
                posts_kept: ClassVar[dict[str, RemotePost]] = {}

                def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
                    self._url = info.url

                async def check(self) -> ConnectionReport:
                    return ConnectionReport((ConnectionCheck("publish", "ok", "the shelf has room"),), CAPABILITIES)

                async def find(self, post: Post) -> RemotePost | None:
                    return next((one for one in self.posts_kept.values() if one.marker == post.marker), None)

                async def create(self, post: Post) -> RemotePost:
                    return self._kept(str(len(self.posts_kept) + 1), post, "draft")

                async def read(self, post_id: str) -> RemotePost:
                    if post_id not in self.posts_kept:
                        raise SiteGone(f"the shelf has no post {post_id}")
                    return self.posts_kept[post_id]

                async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
                    return self._kept(post_id, post, (await self.read(post_id)).state)

                async def set_state(
                    self,
                    post_id: str,
                    state: Literal["draft", "scheduled", "live", "trashed", "gone"],
                    at: datetime | None = None,
                ) -> RemotePost:
                    self.require_state(state)
                    self.posts_kept[post_id] = replace(await self.read(post_id), state=state)
                    return self.posts_kept[post_id]

                def _kept(
                    self, post_id: str, post: Post, state: Literal["draft", "scheduled", "live", "trashed", "gone"]
                ) -> RemotePost:
                    fields = {"title": post.title, "slug": post.slug}
                    made = RemotePost(
                        id=post_id,
                        url=f"{self._url}/{post.slug}",
                        state=state,
                        revision=str(len(post.html)),
                        html=post.html,
                        fields=fields,
                        marker=post.marker,
                    )
                    self.posts_kept[post_id] = made
                    return made


            @hookimpl
            def pressroom_site_connectors() -> Iterable[SiteConnector]:
                return [
                    SiteConnector("shelf", "Shelf", "Posts in memory, for demonstrations.", ShelfSite, CAPABILITIES)
                ]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_image_sources(self, plugin: PluginContext) -> Iterable[ImageSource]:
        """Offer providers of licensed images.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import NotFound, Plugin, PluginContext, hookimpl
            from pressroom_content.contract import Credit, FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

            PLUGIN = Plugin(id="archive", api="1", title="Archive", summary="Our photographs.", requires=("content",))
            HARBOUR = FoundImage(
                ref="archive:1",
                provider="archive",
                title="A harbour",
                width=1200,
                height=800,
                mime="image/jpeg",
                thumb_url="https://archive.example/1/thumb.jpg",
                preview_url="https://archive.example/1/preview.jpg",
                page_url="https://archive.example/1",
                creator="Ada",
                license=ImageLicense("CC0-1.0", "", commercial=True, modification=True, attribution_required=False),
                credit=Credit("Photo: Ada"),
                hosting="download",
                file_url="https://archive.example/1.jpg",
            )


            async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
                return ImagePage((HARBOUR,) if query.text.lower() in HARBOUR.title.lower() else ())


            async def get(plugin: PluginContext, image_id: str) -> FoundImage:
                if image_id != "1":
                    raise NotFound("the archive has no such image")
                return HARBOUR


            @hookimpl
            def pressroom_image_sources() -> Iterable[ImageSource]:
                return [ImageSource("archive", "Archive", search, get)]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_search_sources(self, plugin: PluginContext) -> Iterable[SearchSource]:
        """Offer sources of search data, such as clicks and impressions.

        Example:
            ```python
            from collections.abc import AsyncIterator, Iterable, Mapping

            from pressroom.sdk import Fetcher, Plugin, hookimpl
            from pressroom_content.contract import CredentialField, SearchQuery, SearchRow, SearchSource

            PLUGIN = Plugin(
                id="kagi", api="1", title="Kagi", summary="Figures of our own search.", requires=("content",)
            )


            async def rows(
                query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher
            ) -> AsyncIterator[SearchRow]:
                yield SearchRow(
                    query.day, f"{query.site_url}/bread", "bread", "", "", clicks=3, impressions=40, position=2.5
                )


            @hookimpl
            def pressroom_search_sources() -> Iterable[SearchSource]:
                fields = (CredentialField("api_key", "API key"),)
                return [
                    SearchSource(
                        "kagi", "Kagi", rows, lag_days=1, fields=fields, without=frozenset({"country", "device"})
                    )
                ]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_media_libraries(self, plugin: PluginContext) -> Iterable[MediaLibrary]:
        """Offer libraries that articles take their images from.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import NotFound, Plugin, PluginContext, hookimpl
            from pressroom_content.contract import MediaFile, MediaLibrary

            PLUGIN = Plugin(
                id="logos", api="1", title="Logos", summary="One logo for all accounts.", requires=("content",)
            )
            LOGO_ID = "m_" + "Logo00" * 3 + "Logo"
            LOGO = b"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"


            async def read(plugin: PluginContext, user_id: str, media_id: str) -> MediaFile:
                if media_id != LOGO_ID:
                    raise NotFound("there is no such logo")
                return MediaFile(LOGO_ID, "logo.svg", "image/svg+xml", "", "Our logo", "download", 8, 8, LOGO)


            @hookimpl
            def pressroom_media_libraries() -> Iterable[MediaLibrary]:
                return [MediaLibrary("logos", read)]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_article_scorers(self, plugin: PluginContext) -> Iterable[ArticleScorer]:
        """Offer functions that score articles.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import Plugin, hookimpl
            from pressroom_content.contract import ArticleScorer, Score, ScoredArticle

            PLUGIN = Plugin(
                id="brevity", api="1", title="Brevity", summary="Scores short articles.", requires=("content",)
            )


            def score(article: ScoredArticle) -> Score:
                words = len(article.body.split())
                return Score(max(0, 100 - words // 10), () if words <= 300 else ("Cut it to 300 words.",), words)


            @hookimpl
            def pressroom_article_scorers() -> Iterable[ArticleScorer]:
                return [ArticleScorer("brevity", score)]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_article_reviewers(self, plugin: PluginContext) -> Iterable[ArticleReviewer]:
        """Offer reviews that a check of an article can include, each under its own name.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import Plugin, hookimpl
            from pressroom_content.contract import Article, ArticleReview, ArticleReviewer

            PLUGIN = Plugin(id="shouting", api="1", title="Shouting", summary="Finds capitals.", requires=("content",))


            async def review(article: Article) -> ArticleReview:
                loud = [word for word in article.body.split() if len(word) > 4 and word.isupper()]
                return ArticleReview(
                    {"words": loud}, tuple(f"{word} is in capitals; write it in lower case" for word in loud)
                )


            @hookimpl
            def pressroom_article_reviewers() -> Iterable[ArticleReviewer]:
                return [ArticleReviewer("shouting", review)]
            ```
        """
        raise NotImplementedError

    @hookspec
    def pressroom_languages(self, plugin: PluginContext) -> Iterable[Language]:
        """Offer languages that have their own rules for checking articles. Codes must be unique.

        Example:
            ```python
            from collections.abc import Iterable

            from pressroom.sdk import Plugin, hookimpl
            from pressroom_content.contract import Language

            PLUGIN = Plugin(
                id="toki_pona", api="1", title="Toki Pona", summary="Judges articles.", requires=("content",)
            )
            RULES = '''
            name = "Toki Pona"
            function_words = "li e la pi en o anu taso mi sina ona ni ala ale"

            [reading_ease]
            name = "Flesch for Toki Pona"
            base = 207
            sentence = 1
            syllable = 60
            good = 60
            ok = 50
            source = "an estimate of this plugin"

            [syllables]
            nucleus = "[aeiou]"

            [passive]
            auxiliaries = ""
            participles = []
            '''


            @hookimpl
            def pressroom_languages() -> Iterable[Language]:
                return [Language("tok", RULES)]
            ```
        """
        raise NotImplementedError
