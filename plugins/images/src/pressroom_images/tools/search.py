"""The tool that searches licensed images."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, PluginContext, ToolResult, mcp_tool
from pressroom_content.contract import ImageLicense, ImageQuery, ImageSource, image_sources
from pydantic import BaseModel, Field

from pressroom_images.config import ImagesConfig, plugin_of
from pressroom_images.library.store import Library, Media
from pressroom_images.sources import search as searching
from pressroom_images.sources.requesting import ImageProviderUnavailable
from pressroom_images.tools.results import ONE_LINE, ImageOut, image, item, results_text

AUTO: Final = "auto"
LIBRARY: Final = "library"
"""Values of `provider` besides the providers' names: all providers, and the account's own images."""

_MAX_PAGE: Final = 20
_PAGE_SIZE: Final = 10
_AT_ONCE: Final = 2_000
"""Number of images of the library that are read at once."""

OTHER_WAYS: Final = (
    "For an image without a search, ask the user for one of theirs and call create_upload_url, or call generate_image "
    "and pass its link to import_image as image_ref."
)


class SearchParams(Params):
    """What to search for."""

    query: Annotated[str, Field(min_length=1, max_length=200), ONE_LINE] = Field(description="A few English words.")
    provider: str = Field(default=AUTO, description="library: the account's own images.")
    orientation: Literal["any", "landscape", "portrait", "square"] = Field(default="any", description="Shape.")
    license: Literal["any", "commercial", "modification", "public_domain"] = Field(
        default="commercial", description="What the licence must allow."
    )
    min_width: Integer | None = Field(default=None, ge=1, le=20_000, description="In pixels.")
    page: Integer = Field(default=1, ge=1, le=_MAX_PAGE, description="Page of results.")


class SearchResult(BaseModel):
    """The result of `search_images`."""

    images: list[ImageOut]
    next_page: int | None = Field(description="Give it as page to see more; null at the end.")
    provider_notes: list[str] = Field(description="Problems, such as a provider that did not respond.")


@mcp_tool(
    name="search_images",
    result=SearchResult,
    title="Search images",
    description=(
        "Searches licensed photographs for featured images and illustrations. Returns images, best first, each with "
        "licence, credit and a thumb_url to look at. Pass the ref of the one you choose to import_image: only imported "
        "images may be used, since that stores their credit."
    ),
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("core", "images"),
    choices={"provider": lambda plugin: [AUTO, *(source.name for source in sources_of(plugin)), LIBRARY]},
    timeout=45,
)
async def search_images(params: SearchParams, call: Call) -> ToolResult:
    """Search."""
    if params.provider == LIBRARY:
        data = await _search_library(params, call)
    else:
        data = await _search_providers(params, call)
    return ToolResult(text=results_text(data.images, data.next_page, data.provider_notes, OTHER_WAYS), data=data)


TOOLS: Final = (search_images,)


def sources_of(plugin: PluginContext[ImagesConfig]) -> Sequence[ImageSource]:
    """Return the configured providers in the operator's order, then the others by name."""
    order = plugin.config.providers
    remaining = {source.name: source for _, source in image_sources(plugin)}
    configured = [remaining.pop(name) for name in order if name in remaining]
    return [*configured, *(remaining[name] for name in sorted(remaining))]


def _chosen(call: Call, provider: str) -> Sequence[ImageSource]:
    sources = sources_of(plugin_of(call))
    if provider != AUTO:
        return [source for source in sources if source.name == provider]
    if not sources:
        raise InvalidInput(
            "provider", f"this server has no provider of images; library searches the account's own. {OTHER_WAYS}"
        )
    return sources


async def _search_providers(params: SearchParams, call: Call) -> SearchResult:
    query = ImageQuery(
        text=params.query,
        orientation=params.orientation,
        license=params.license,
        min_width=params.min_width or 0,
        page=params.page,
        per_page=_PAGE_SIZE,
    )
    try:
        results = await searching.search(plugin_of(call), _chosen(call, params.provider), query)
    except ImageProviderUnavailable as error:
        suggestion = "" if params.provider == AUTO else f"Provider {AUTO} asks the others. "
        raise ImageProviderUnavailable(f"{error.message}. {suggestion}{OTHER_WAYS}") from error
    return SearchResult(
        images=[image(result) for result in results.images],
        next_page=params.page + 1 if results.more and params.page < _MAX_PAGE else None,
        provider_notes=list(results.notes),
    )


async def _search_library(params: SearchParams, call: Call) -> SearchResult:
    skipped = (params.page - 1) * _PAGE_SIZE
    media = await _own_images(params, call, skipped + _PAGE_SIZE + 1)
    page = media[skipped : skipped + _PAGE_SIZE]
    note = "These images are in the library already; import_image with their ref takes them into an article."
    return SearchResult(
        images=[_own(entry) for entry in page],
        next_page=params.page + 1 if len(media) > skipped + _PAGE_SIZE else None,
        provider_notes=[note] if page else [],
    )


async def _own_images(params: SearchParams, call: Call, count: int) -> Sequence[Media]:
    """Return the account's newest images that match a search, at most `count`."""
    library, found = Library(plugin_of(call)), list[Media]()
    before: tuple[datetime, str] | None = None
    while True:
        images = await library.page(call.caller.subject, query=params.query, limit=_AT_ONCE, before=before)
        found += [media for media in images if _matches(media, params)]
        if len(images) < _AT_ONCE or len(found) >= count:
            return found[:count]
        before = images[-1].created_at, images[-1].id


def _matches(media: Media, params: SearchParams) -> bool:
    """Return whether an image of the library matches the filters. Users may do anything with their own."""
    if media.license and not searching.allows(ImageLicense(**media.license), params.license):
        return False
    return searching.has_shape(media.width, media.height, params.orientation, params.min_width or 0)


def _own(media: Media) -> ImageOut:
    library_item = item(media)
    license_ = library_item.license.model_dump() if library_item.license else {}
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
