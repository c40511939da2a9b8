"""Wikimedia Commons: the MediaWiki API, with the licence of each file (`extmetadata` of CommonsMetadata)."""

from __future__ import annotations

from typing import Any, Final

from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import FoundImage, ImagePage, ImageQuery, ImageSource
from selectolax.lexbor import LexborHTMLParser

from pressroom_images.config import ImagesConfig
from pressroom_images.sources.requesting import ProviderApi, is_url, listed, member, number, text
from pressroom_images.sources.search import creative_commons, credit_line

NAME: Final = "wikimedia"

_COMMON: Final = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "prop": "imageinfo",
    "iiprop": "url|size|mime|extmetadata",
    "iiextmetadatafilter": "LicenseShortName|LicenseUrl|License|Artist|ObjectName|AttributionRequired|Restrictions",
    "iiurlwidth": 640,
}
_MAX_MEMBER_LENGTH: Final = 10_000
"""Maximum number of characters of a metadata value to parse."""

_RASTER: Final = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})


def source(config: ImagesConfig) -> ImageSource:
    """Return the provider."""
    api = ProviderApi("Wikimedia Commons", config.wikimedia_url, {}, remember=600)

    async def search(plugin: PluginContext, query: ImageQuery) -> ImagePage:
        document = await api.get(
            plugin,
            "",
            {
                **_COMMON,
                "generator": "search",
                "gsrsearch": f"{_plain(query.text)} filetype:bitmap"
                + (f" filew:>{query.min_width}" if query.min_width else ""),
                "gsrnamespace": 6,
                "gsrlimit": query.per_page,
                "gsroffset": (query.page - 1) * query.per_page or "",
            },
        )
        # A generator returns pages unordered; `index` is their rank in the search.
        pages = sorted(listed(document, "query", "pages"), key=lambda page: number(page.get("index")))
        images = tuple(image for page in pages if (image := _image(page)) is not None)
        note = (
            ""
            if query.orientation == "any"
            else "Wikimedia Commons cannot search by orientation; its results are filtered."
        )
        return ImagePage(images, more=isinstance(document, dict) and "continue" in document, note=note)

    async def get(plugin: PluginContext, page_id: str) -> FoundImage:
        if not (page_id.isascii() and page_id.isdigit()):
            raise NotFound("there is no such image on Wikimedia Commons")
        document = await api.get(plugin, "", {**_COMMON, "pageids": page_id})
        match = next((image for page in listed(document, "query", "pages") if (image := _image(page))), None)
        if match is None:
            raise NotFound("Wikimedia Commons no longer has this image, or its licence is not free")
        return match

    return ImageSource(NAME, "Wikimedia Commons", search, get)


def _plain(query: str) -> str:
    """Replace characters that are search operators with spaces."""
    return "".join(" " if sign in ':"~-|!' else sign for sign in query)


def _image(page: dict[str, Any]) -> FoundImage | None:
    info = next(iter(listed(page, "imageinfo")), None)
    if info is None or info.get("mime") not in _RASTER:
        return None
    license_ = creative_commons(
        _meta(info, "LicenseShortName") or _meta(info, "License"), url=_meta(info, "LicenseUrl")
    )
    url = text(info.get("url"), 2048)
    if license_ is None or not is_url(url):
        return None
    title = _meta(info, "ObjectName") or text(page.get("title")).removeprefix("File:").rpartition(".")[0]
    creator = _meta(info, "Artist")[:200]
    page_url = text(info.get("descriptionurl"), 2048)
    return FoundImage(
        ref=f"{NAME}:{page.get('pageid')}",
        provider=NAME,
        title=title,
        width=number(info.get("width")),
        height=number(info.get("height")),
        mime=str(info["mime"]),
        thumb_url=text(info.get("thumburl"), 2048) or url,
        preview_url=text(info.get("thumburl"), 2048) or url,
        page_url=page_url,
        creator=creator,
        license=license_,
        credit=credit_line(
            title=title,
            page_url=page_url,
            creator=creator,
            creator_url="",
            provider="Wikimedia Commons",
            license_=license_,
        ),
        hosting="download",
        file_url=url,
        use_requires=("credit",) if license_.attribution_required else (),
    )


def _meta(info: dict[str, Any], name: str) -> str:
    """Return a metadata value as plain text. It is HTML written by the uploader."""
    html = member(info, "extmetadata", name, "value")
    if "<" not in html and "&" not in html:
        return html
    body = LexborHTMLParser(html[:_MAX_MEMBER_LENGTH]).body
    return " ".join(body.text().split()) if body is not None else ""
