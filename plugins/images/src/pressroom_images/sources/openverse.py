"""Openverse: openly licensed images from many collections, without a key (api.openverse.org, version 1)."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import Credit, FoundImage, ImagePage, ImageQuery, ImageSource

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_url, listed, number, text
from pressroom_images.sources.search import creative_commons, credit_line

NAME: Final = "openverse"

_MAX_PER_PAGE: Final = 20
"""The API's limit for clients without a key."""

_RATIOS: Final = {"landscape": "wide", "portrait": "tall", "square": "square"}
_LICENSES: Final = {"commercial": "commercial", "modification": "modification"}


def source(config: ImagesConfig) -> ImageSource:
    """Return the provider."""
    api = ProviderApi("Openverse", config.openverse_url.rstrip("/"), {}, remember=600)

    async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
        document = await api.get(
            plugin,
            "/images/",
            {
                "q": query.text,
                "page": query.page,
                "page_size": min(query.per_page, _MAX_PER_PAGE),
                "aspect_ratio": _RATIOS.get(query.orientation, ""),
                "license_type": _LICENSES.get(query.license, ""),
                "license": "cc0,pdm" if query.license == "public_domain" else "",
                "mature": "false",
            },
        )
        images = [image for row in listed(document, "results") if (image := _image(row)) is not None]
        pages = document.get("page_count") if isinstance(document, dict) else 0
        return ImagePage(tuple(images), more=isinstance(pages, int) and query.page < pages)

    async def get(plugin: PluginContext, image_id: str) -> FoundImage:
        image = _image(await api.get(plugin, f"/images/{quote(image_id, safe='')}/", {}))
        if image is None:
            raise NotFound("Openverse no longer has this image, or its licence is not known")
        return image

    return ImageSource(NAME, "Openverse", search, get)


def _image(row: Any) -> FoundImage | None:
    if not isinstance(row, dict):
        return None
    license_ = creative_commons(
        text(row.get("license")), text(row.get("license_version")), text(row.get("license_url"))
    )
    image_id, url = text(row.get("id")), text(row.get("url"), 2048)
    if license_ is None or not image_id or not is_url(url):
        return None
    page_url = text(row.get("foreign_landing_url"), 2048)
    creator = text(row.get("creator"), 200)
    title = text(row.get("title"), 300)
    line = credit_line(
        title=title,
        page_url=page_url,
        creator=creator,
        creator_url=text(row.get("creator_url"), 2048),
        provider="Openverse",
        license_=license_,
    )
    attribution = text(row.get("attribution"), 1000)
    kind = text(row.get("filetype")).lower()
    return FoundImage(
        ref=f"{NAME}:{image_id}",
        provider=NAME,
        title=title,
        width=number(row.get("width")),
        height=number(row.get("height")),
        mime=f"image/{'jpeg' if kind in ('', 'jpg') else kind}",
        thumb_url=text(row.get("thumbnail"), 2048) or url,
        preview_url=url,
        page_url=page_url,
        creator=creator,
        license=license_,
        credit=Credit(attribution or line.text, line.html, line.markdown),
        hosting="download",
        file_url=url,
        use_requires=("credit",) if license_.attribution_required else (),
        sensitive=row.get("mature") is True,
    )
