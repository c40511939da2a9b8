"""Pixabay: photos that must be downloaded, not hotlinked; responses are cached for a day (its API documentation)."""

from __future__ import annotations

from typing import Any, Final

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_address, listed, member, number, text
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
        answer = await api.get(
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
        found = [image for one in listed(answer, "hits") if (image := _image(one)) is not None]
        total = number(answer.get("totalHits")) if isinstance(answer, dict) else 0
        return ImagePage(tuple(found[: query.per_page]), more=query.page * per_page < total)

    async def get(plugin: PluginContext, image_id: str) -> FoundImage:
        if not (image_id.isascii() and image_id.isdigit()):
            raise NotFound("there is no such image on Pixabay")
        answer = await api.get(plugin, "", {"key": key, "id": image_id})
        found = next((image for one in listed(answer, "hits") if (image := _image(one))), None)
        if found is None:
            raise NotFound("Pixabay no longer has this image")
        return found

    return ImageSource(NAME, "Pixabay", search, get)


def _image(one: Any) -> FoundImage | None:
    url = member(one, "largeImageURL")
    if not is_address(url) or not number(one.get("id")):
        return None
    creator, page_url = member(one, "user")[:200], member(one, "pageURL")
    return FoundImage(
        ref=f"{NAME}:{one['id']}",
        provider=NAME,
        title=text(one.get("tags"), 300),
        width=number(one.get("imageWidth")),
        height=number(one.get("imageHeight")),
        mime="image/png" if url.endswith(".png") else "image/jpeg",
        thumb_url=member(one, "previewURL") or url,
        preview_url=member(one, "webformatURL") or url,
        page_url=page_url,
        creator=creator,
        license=LICENSE,
        credit=credit_line(title="Image", page_url=page_url, creator=creator, creator_url="", provider="Pixabay"),
        hosting="download",
        file_url=url,
    )
