"""Searching licensed images, and taking them into the library."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final, Literal, cast
from urllib.parse import urlsplit

from pressroom.sdk import (
    Annotations,
    Call,
    CallError,
    FetchFailed,
    FetchRefused,
    Integer,
    InvalidInput,
    Params,
    PluginContext,
    mcp_tool,
)
from pressroom_content.contract import FoundImage, ImageQuery, ImageSource
from pydantic import BaseModel, Field

from pressroom_images.config import ImagesConfig
from pressroom_images.host import articles_of, config_of, plugin_of
from pressroom_images.library.featuring import set_featured
from pressroom_images.library.inspecting import InspectedImage, inspect
from pressroom_images.library.media import Media
from pressroom_images.library.store import Library
from pressroom_images.sources import search as searching
from pressroom_images.tools.results import ImageOut, MediaItem, image, item

AUTO: Final = "auto"
LIBRARY: Final = "library"
"""What can be asked besides the providers: all of them, and the account's own images."""

_SECONDS: Final = 20.0
_OK: Final = 200


class SearchParams(Params):
    """What to search for."""

    query: str = Field(min_length=1, max_length=200, description="What the image should show, in a few English words.")
    provider: str = Field(
        default=AUTO,
        description="auto asks all providers of this server; library searches the account's own images.",
    )
    orientation: Literal["any", "landscape", "portrait", "square"] = Field(default="any", description="Its shape.")
    license: Literal["any", "commercial", "modification", "public_domain"] = Field(
        default="commercial", description="What its licence must allow at least."
    )
    min_width: Integer | None = Field(default=None, ge=1, le=20_000, description="Least width in pixels.")
    page: Integer = Field(default=1, ge=1, le=20, description="Page of the results.")
    per_page: Integer = Field(default=10, ge=1, le=20, description="Results on a page.")


class SearchResult(BaseModel):
    """The answer of `search_images`."""

    images: list[ImageOut]
    next_page: int | None = Field(description="Give it as page to see more; null at the end.")
    provider_notes: list[str] = Field(description="What a provider could not do, such as one that did not answer.")


class ImportImageParams(Params):
    """Which image to take."""

    image_ref: str = Field(
        min_length=3, max_length=2048, description="The ref of a search result, or the https URL of your own image."
    )
    alt_text: str = Field(
        min_length=1, max_length=500, description="What the image shows, for people who cannot see it. No 'image of'."
    )
    content_id: str | None = Field(default=None, max_length=64, description="The article that it is for.")
    role: Literal["featured", "inline", "library"] = Field(
        default="library",
        description="featured also sets it as the article's featured image; inline and featured need content_id.",
    )


class ImportResult(BaseModel):
    """The answer of `import_image`."""

    media: MediaItem


@mcp_tool(
    name="search_images",
    title="Search images",
    description=(
        "Searches licensed photographs over the providers that this server has. Use it for featured images and "
        "illustrations. Returns images with licence, credit line and hosting rule, best first, and provider_notes "
        "where a provider failed. Look at thumb_url, then call import_image with the ref of the one you choose: only "
        "imported images may be used in articles, since that stores the credit and follows the provider's rules."
    ),
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    choices={"provider": lambda plugin: [AUTO, *(source.name for source in sources_of(plugin)), LIBRARY]},
    timeout=30,
)
async def search_images(params: SearchParams, call: Call) -> SearchResult:
    """Search."""
    if params.provider == LIBRARY:
        return await _search_library(params, call)
    query = ImageQuery(
        text=params.query,
        orientation=params.orientation,
        license=params.license,
        min_width=params.min_width or 0,
        page=params.page,
        per_page=params.per_page,
    )
    found = await searching.search(plugin_of(call), _chosen(call, params.provider), query)
    return SearchResult(
        images=[image(one) for one in found.images],
        next_page=params.page + 1 if found.more and params.page < 20 else None,
        provider_notes=list(found.notes),
    )


@mcp_tool(
    name="import_image",
    title="Import an image",
    description=(
        "Takes a search result, or your own image from an https URL, into the media library by the provider's rule: "
        "a copy, or a hotlink, and tells providers that count uses. Stores the licence and the credit line. Repeating "
        "it returns the same image. Returns media with the url to use in an article and credit_html, the line that has "
        "to stand by the image; publishing adds it by itself. With role featured it becomes the featured image."
    ),
    annotations=Annotations(idempotent=True, open_world=True),
    timeout=60,
)
async def import_image(params: ImportImageParams, call: Call) -> ImportResult:
    """Take an image in."""
    if params.role != "library" and not params.content_id:
        raise InvalidInput("content_id", f"role {params.role} needs the article's content_id")
    user_id = call.caller.subject
    if params.content_id:
        await articles_of(call).get(user_id, params.content_id)
    if params.image_ref.startswith(("https://", "http://")):
        media = await _import_own(params, call)
    else:
        media = await _import_found(params, call)
    if params.content_id and params.role != "library":
        await Library(plugin_of(call)).use(media.id, params.content_id, params.role)
        if params.role == "featured":
            await set_featured(call, params.content_id, media.id, params.alt_text)
    return ImportResult(media=item(media, [params.content_id] if params.content_id else []))


TOOLS: Final = (search_images, import_image)


def sources_of(plugin: PluginContext) -> Sequence[ImageSource]:
    """Return the providers in the operator's order and then by name."""
    order = cast("ImagesConfig", plugin.config).providers
    found = {source.name: source for _, source in plugin.extensions.of("pressroom_image_sources")}
    known = [found.pop(name) for name in order if name in found]
    return [*known, *(found[name] for name in sorted(found))]


def _chosen(call: Call, provider: str) -> Sequence[ImageSource]:
    every = sources_of(plugin_of(call))
    if provider != AUTO:
        return [source for source in every if source.name == provider]
    if not every:
        raise InvalidInput("provider", "this server has no provider of images; provider library searches own images")
    return every


async def _search_library(params: SearchParams, call: Call) -> SearchResult:
    library = Library(plugin_of(call))
    skipped = (params.page - 1) * params.per_page
    media = await library.page(call.caller.subject, query=params.query, limit=skipped + params.per_page + 1)
    shown = media[skipped : skipped + params.per_page]
    note = "These images are in the library already: use their id (the ref behind the colon) as media_id."
    return SearchResult(
        images=[_own(one) for one in shown],
        next_page=params.page + 1 if len(media) > skipped + params.per_page else None,
        provider_notes=[note] if shown else [],
    )


def _own(media: Media) -> ImageOut:
    shown = item(media)
    license_ = shown.license.model_dump() if shown.license else {}
    return ImageOut.model_validate(
        {
            "ref": f"library:{media.id}",
            "provider": media.provider,
            "title": media.title,
            "width": media.width,
            "height": media.height,
            "mime": media.media_type,
            "thumb_url": media.url,
            "preview_url": media.url,
            "page_url": media.page_url,
            "creator": "",
            "license": license_
            or {"code": "", "url": "", "commercial": True, "modification": True, "attribution_required": False},
            "credit": {"text": "", "html": "", "markdown": "", **media.credit},
            "hosting": media.hosting,
            "use_requires": ["credit"] if media.credit.get("text") else [],
            "sensitive": False,
        }
    )


async def _import_found(params: ImportImageParams, call: Call) -> Media:
    library, user_id = Library(plugin_of(call)), call.caller.subject
    provider, _, image_id = params.image_ref.partition(":")
    if provider == LIBRARY:
        return await library.get(user_id, image_id)
    known = await library.by_ref(user_id, params.image_ref)
    if known is not None:
        return known
    source = next((source for source in sources_of(plugin_of(call)) if source.name == provider), None)
    if source is None or not image_id:
        raise InvalidInput(
            "image_ref", "give the ref of a result of search_images, such as openverse:…, or an https URL"
        )
    found = await source.get(plugin_of(call), image_id)
    file = None if found.hosting == "hotlink" else await _downloaded(found.file_url, call)
    media = await library.add_found(user_id, found, params.alt_text, file)
    await _report_use(source, found, call)
    return media


async def _report_use(source: ImageSource, found: FoundImage, call: Call) -> None:
    if source.used is None:
        return
    try:
        await source.used(plugin_of(call), found)
    except CallError:
        # The image is in the library; that a count was missed must not take it away again.
        return


async def _import_own(params: ImportImageParams, call: Call) -> Media:
    file = await _downloaded(params.image_ref, call)
    name = urlsplit(params.image_ref).path.rpartition("/")[2] or "image"
    digest = sha256(params.image_ref.encode("utf-8", "replace") + b"\0" + file.content).hexdigest()
    library, user_id = Library(plugin_of(call)), call.caller.subject
    known = await library.by_ref(user_id, f"url:{digest}")
    if known is not None:
        return known
    return await library.add_own(
        user_id, file, name=name, alt_text=params.alt_text, page_url=params.image_ref, ref=f"url:{digest}"
    )


async def _downloaded(url: str, call: Call) -> InspectedImage:
    most = config_of(call).max_image_bytes
    try:
        answer = await plugin_of(call).services.fetcher.get(
            url, accept="image/avif, image/webp, image/png, image/jpeg, image/gif", max_bytes=most, seconds=_SECONDS
        )
    except (FetchRefused, FetchFailed) as error:
        raise InvalidInput("image_ref", f"the image could not be fetched: {error.message}") from None
    if answer.status != _OK:
        raise InvalidInput("image_ref", f"the image could not be fetched: its host answered HTTP {answer.status}")
    try:
        run, owner = plugin_of(call).services.workers.run, call.caller.subject
        return await run(inspect, answer.content, most, owner=owner, what="the image")
    except InvalidInput as error:
        raise InvalidInput("image_ref", error.problem) from None
