"""Pexels: free photos that need a visible credit (according to its API guidelines)."""

from __future__ import annotations

from typing import Any, Final

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_url, listed, member, number, text
from pressroom_images.sources.search import credit_line

NAME: Final = "pexels"

LICENSE: Final = ImageLicense(
    "LicenseRef-Pexels",
    "https://www.pexels.com/license/",
    commercial=True,
    modification=True,
    attribution_required=True,
)


def source(config: ImagesConfig, key: str) -> ImageSource:
    """Return the provider, using an API key."""
    api = ProviderApi("Pexels", config.pexels_url.rstrip("/"), {"Authorization": key}, remember=600)

    async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
        if query.license == "public_domain":
            return ImagePage((), note="Pexels has no images in the public domain.")
        document = await api.get(
            plugin,
            "/search",
            {
                "query": query.text,
                "page": query.page,
                "per_page": query.per_page,
                "orientation": "" if query.orientation == "any" else query.orientation,
            },
        )
        images = tuple(image for row in listed(document, "photos") if (image := _image(row)) is not None)
        return ImagePage(images, more=bool(member(document, "next_page")))

    async def get(plugin: PluginContext, photo_id: str) -> FoundImage:
        if not (photo_id.isascii() and photo_id.isdigit()):
            raise NotFound("there is no such photo on Pexels")
        image = _image(await api.get(plugin, f"/photos/{photo_id}", {}))
        if image is None:
            raise NotFound("Pexels no longer has this photo")
        return image

    return ImageSource(NAME, "Pexels", search, get)


def _image(row: Any) -> FoundImage | None:
    url = member(row, "src", "large2x") or member(row, "src", "original")
    if not is_url(url) or not number(row.get("id")):
        return None
    page_url = member(row, "url")
    creator = member(row, "photographer")[:200]
    return FoundImage(
        ref=f"{NAME}:{row['id']}",
        provider=NAME,
        title=text(row.get("alt"), 300),
        width=number(row.get("width")),
        height=number(row.get("height")),
        mime="image/jpeg",
        thumb_url=member(row, "src", "tiny") or url,
        preview_url=member(row, "src", "medium") or url,
        page_url=page_url,
        creator=creator,
        license=LICENSE,
        credit=credit_line(
            title="Photo",
            page_url=page_url,
            creator=creator,
            creator_url=member(row, "photographer_url"),
            provider="Pexels",
        ),
        hosting="either",
        file_url=url,
        use_requires=("credit",),
    )
