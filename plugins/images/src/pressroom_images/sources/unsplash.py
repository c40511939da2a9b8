"""Unsplash: photos that must be hotlinked and credited, and whose use must be reported (its API guidelines)."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, urlencode

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import Credit, FoundImage, ImageLicense, ImagePage, ImageQuery, ImageSource

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_url, listed, member, number, text
from pressroom_images.sources.search import credit_line

NAME: Final = "unsplash"

LICENSE: Final = ImageLicense(
    "LicenseRef-Unsplash", "https://unsplash.com/license", commercial=True, modification=True, attribution_required=True
)
_ORIENTATIONS: Final = {"landscape": "landscape", "portrait": "portrait", "square": "squarish"}


def source(config: ImagesConfig, key: str) -> ImageSource:
    """Return the provider, using an access key."""
    headers = {"Authorization": f"Client-ID {key}", "Accept-Version": "v1"}
    api = ProviderApi("Unsplash", config.unsplash_url.rstrip("/"), headers, remember=600)

    async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
        if query.license == "public_domain":
            return ImagePage((), note="Unsplash has no images in the public domain.")
        document = await api.get(
            plugin,
            "/search/photos",
            {
                "query": query.text,
                "page": query.page,
                "per_page": query.per_page,
                "orientation": _ORIENTATIONS.get(query.orientation, ""),
                "content_filter": "high",
            },
        )
        images = tuple(image for row in listed(document, "results") if (image := _image(row, config)) is not None)
        pages = document.get("total_pages") if isinstance(document, dict) else 0
        return ImagePage(images, more=isinstance(pages, int) and query.page < pages)

    async def get(plugin: PluginContext, photo_id: str) -> FoundImage:
        image = _image(await api.get(plugin, f"/photos/{quote(photo_id, safe='')}", {}), config)
        if image is None:
            raise NotFound("Unsplash no longer has this photo")
        return image

    async def used(plugin: PluginContext, image: FoundImage) -> None:
        photo = await api.get(plugin, f"/photos/{quote(image.ref.partition(':')[2], safe='')}", {})
        location = member(photo, "links", "download_location")
        # The request carries the key, so only send it to the API itself.
        if location.startswith(config.unsplash_url.rstrip("/") + "/"):
            await api.ping(plugin, location)

    return ImageSource(NAME, "Unsplash", search, get, used)


def _image(row: Any, config: ImagesConfig) -> FoundImage | None:
    photo_id, url = member(row, "id"), member(row, "urls", "regular")
    if not photo_id or not is_url(url):
        return None
    utm = urlencode({"utm_source": config.unsplash_app, "utm_medium": "referral"})
    page_url = f"{member(row, 'links', 'html')}?{utm}"
    creator = member(row, "user", "name")[:200]
    line = credit_line(
        title="Photo",
        page_url=page_url,
        creator=creator,
        creator_url=f"{member(row, 'user', 'links', 'html')}?{utm}",
        provider="Unsplash",
    )
    home = f"https://unsplash.com/?{utm}"
    return FoundImage(
        ref=f"{NAME}:{photo_id}",
        provider=NAME,
        title=text(row.get("description"), 300) or text(row.get("alt_description"), 300),
        width=number(row.get("width")),
        height=number(row.get("height")),
        mime="image/jpeg",
        thumb_url=member(row, "urls", "thumb") or url,
        preview_url=member(row, "urls", "small") or url,
        page_url=page_url,
        creator=creator,
        license=LICENSE,
        credit=Credit(
            line.text,
            line.html.replace("on Unsplash", f'on <a href="{home.replace("&", "&amp;")}" rel="noopener">Unsplash</a>'),
            line.markdown.replace("on Unsplash", f"on [Unsplash]({home})"),
        ),
        hosting="hotlink",
        file_url=url,
        use_requires=("credit", "hotlink_only", "download_ping"),
    )
