"""Pixabay: photos that must be downloaded, not hotlinked; responses are cached for a day (its API documentation)."""

from __future__ import annotations

from typing import Any, Final

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_url, listed, member, number, text
from pressroom_images.sources.search import credit_line

NAME: Final = "pixabay"

LICENSE: Final = ImageLicense(
    "LicenseRef-Pixabay",
    "https://pixabay.com/service/license-summary/",
    commercial=True,
    modification=True,
    attribution_required=False,
)
_DAY: Final = 86_400.0
_MAX_QUERY_LENGTH: Final = 100
_MIN_PER_PAGE: Final = 3
_ORIENTATIONS: Final = {"landscape": "horizontal", "portrait": "vertical"}


def source(config: ImagesConfig, key: str) -> ImageSource:
    """Return the provider, using an API key."""
    api = ProviderApi("Pixabay", config.pixabay_url, {}, remember=_DAY)

    async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
        if query.license == "public_domain":
            return ImagePage((), note="Pixabay does not say which images are in the public domain.")
        per_page = max(_MIN_PER_PAGE, query.per_page)
        document = await api.get(
            plugin,
            "",
            {
                "key": key,
                "q": query.text[:_MAX_QUERY_LENGTH],
                "image_type": "photo",
                "orientation": _ORIENTATIONS.get(query.orientation, "all"),
                "min_width": query.min_width or "",
                "page": query.page,
                "per_page": per_page,
                "safesearch": "true",
            },
        )
        images = [image for row in listed(document, "hits") if (image := _image(row)) is not None]
        total = number(document.get("totalHits")) if isinstance(document, dict) else 0
        return ImagePage(tuple(images[: query.per_page]), more=query.page * per_page < total)

    async def get(plugin: PluginContext, image_id: str) -> FoundImage:
        if not (image_id.isascii() and image_id.isdigit()):
            raise NotFound("there is no such image on Pixabay")
        document = await api.get(plugin, "", {"key": key, "id": image_id})
        match = next((image for row in listed(document, "hits") if (image := _image(row))), None)
        if match is None:
            raise NotFound("Pixabay no longer has this image")
        return match

    return ImageSource(NAME, "Pixabay", search, get)


def _image(row: Any) -> FoundImage | None:
    url = member(row, "largeImageURL")
    if not is_url(url) or not number(row.get("id")):
        return None
    creator, page_url = member(row, "user")[:200], member(row, "pageURL")
    return FoundImage(
        ref=f"{NAME}:{row['id']}",
        provider=NAME,
        title=text(row.get("tags"), 300),
        width=number(row.get("imageWidth")),
        height=number(row.get("imageHeight")),
        mime="image/png" if url.endswith(".png") else "image/jpeg",
        thumb_url=member(row, "previewURL") or url,
        preview_url=member(row, "webformatURL") or url,
        page_url=page_url,
        creator=creator,
        license=LICENSE,
        credit=credit_line(title="Image", page_url=page_url, creator=creator, creator_url="", provider="Pixabay"),
        hosting="download",
        file_url=url,
    )
