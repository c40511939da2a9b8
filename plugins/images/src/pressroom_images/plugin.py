"""The images plugin: search over providers of licensed images, and the media library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from pressroom.sdk import Check, CheckResult, McpTool, Models, Plugin, PluginContext, Route, StorageKind, hookimpl

from pressroom_images.config import ImagesConfig

PLUGIN = Plugin(
    id="images",
    api="1",
    title="Images",
    summary="Finds licensed images, stores them with their credits, and accepts uploads.",
    config=ImagesConfig,
    requires=("content",),
    templates=("pressroom_images",),
    worker_modules=("pressroom_images.library.files",),
)


@hookimpl
def pressroom_models() -> Iterable[Models]:
    """Register the tables and their migrations."""
    from pressroom_images.tables import ImagesBase  # noqa: PLC0415 - loads with the server, not with every command

    return [Models(ImagesBase.metadata, "pressroom_images.migrations")]


@hookimpl
def pressroom_storage() -> Iterable[StorageKind]:
    """Count images towards the storage limit of an account's plan."""
    from pressroom_images.library.store import STORAGE  # noqa: PLC0415

    return [STORAGE]


@hookimpl
def pressroom_mcp_tools() -> Iterable[McpTool]:
    """Register the MCP tools."""
    # Imported late since they load SQLAlchemy and Pillow.
    from pressroom_images.tools import importing, library, search  # noqa: PLC0415

    return [*search.TOOLS, *importing.TOOLS, *library.TOOLS]


@hookimpl
def pressroom_routes(plugin: PluginContext[ImagesConfig]) -> Iterable[Route]:
    """Register the routes for images, uploads and the dashboard page."""
    from pressroom_images.routes import routes  # noqa: PLC0415

    return routes(plugin)


@hookimpl
def pressroom_image_sources(plugin: PluginContext[ImagesConfig]) -> Iterable[Any]:
    """Register the configured providers, except those that lack a required key."""
    from pressroom_images.sources import openverse, pexels, pixabay, unsplash, wikimedia  # noqa: PLC0415

    config = plugin.config
    sources_by_name: dict[str, Any] = {
        openverse.NAME: openverse.source(config),
        wikimedia.NAME: wikimedia.source(config),
    }
    if config.unsplash_key is not None:
        sources_by_name[unsplash.NAME] = unsplash.source(config, config.unsplash_key.get_secret_value())
    if config.pexels_key is not None:
        sources_by_name[pexels.NAME] = pexels.source(config, config.pexels_key.get_secret_value())
    if config.pixabay_key is not None:
        sources_by_name[pixabay.NAME] = pixabay.source(config, config.pixabay_key.get_secret_value())
    return [sources_by_name[name] for name in config.providers if name in sources_by_name]


@hookimpl
def pressroom_checks(plugin: PluginContext[ImagesConfig]) -> Iterable[Check]:
    """Register the check of the configured providers."""

    async def providers() -> CheckResult:
        from pressroom_images.sources import pexels, pixabay, unsplash  # noqa: PLC0415
        from pressroom_images.tools.search import sources_of  # noqa: PLC0415

        available = [source.name for source in sources_of(plugin)]
        # Built-in providers without a key are left out, which is fine.
        unknown = sorted(set(plugin.config.providers) - {*available, unsplash.NAME, pexels.NAME, pixabay.NAME})
        if unknown:
            return CheckResult(
                "warning",
                f"providers in [plugins.images.config] names {', '.join(unknown)}, which no plugin offers; there is "
                f"{', '.join(available) or 'none'}",
                "correct the name, or install the plugin that offers it",
            )
        return CheckResult("ok", f"searches {', '.join(available) or 'no provider'}")

    return [Check("providers", providers)]


@hookimpl
def pressroom_media_libraries(plugin: PluginContext[ImagesConfig]) -> Iterable[Any]:
    """Register the library for publishing."""
    from pressroom_content.contract import MediaChoice, MediaFile, MediaLibrary, content_services  # noqa: PLC0415

    from pressroom_images.library.store import Library  # noqa: PLC0415
    from pressroom_images.pages import THUMBNAILS, root_of  # noqa: PLC0415

    async def read(_asking: PluginContext, user_id: str, media_id: str) -> MediaFile:
        return await Library(plugin).file(user_id, media_id)

    async def recent(_asking: PluginContext, user_id: str, count: int) -> list[MediaChoice]:
        images = await Library(plugin).page(user_id, limit=count)
        return [
            MediaChoice(
                image.id,
                image.title or image.filename,
                image.alt_text,
                "" if image.hotlinked else f"{root_of(plugin)}{THUMBNAILS}/{image.id}",
                "" if image.hotlinked else urlsplit(image.url).path,
            )
            for image in images
        ]

    async def used(_asking: PluginContext, user_id: str, media_id: str, content_id: str) -> None:
        media = await Library(plugin).get(user_id, media_id)
        article = await content_services(plugin).articles.get(user_id, content_id)
        role = "featured" if article.featured_media_id == media.id else "inline"
        await Library(plugin).use(media.id, article.id, role)

    return [MediaLibrary("library", read, recent, used)]


@hookimpl
def pressroom_article_reviewers(plugin: PluginContext[ImagesConfig]) -> Iterable[Any]:
    """Register the review of an article's images."""
    from pressroom_content.contract import Article, ArticleReview, ArticleReviewer  # noqa: PLC0415

    async def review(article: Article) -> ArticleReview:
        from pressroom_images.library.reviewing import review_article  # noqa: PLC0415 - Pillow loads with it

        return await review_article(plugin, article)

    return [ArticleReviewer("images", review)]
