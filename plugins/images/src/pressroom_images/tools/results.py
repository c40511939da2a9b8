"""Result models and texts that several tools share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pressroom_content.contract import FoundImage
from pydantic import BaseModel, BeforeValidator, Field

from pressroom_images.library.store import Media

ONE_LINE: Final = BeforeValidator(lambda value: " ".join(value.split()) if isinstance(value, str) else value)
"""Writes a text on one line, without spaces around it."""


class License(BaseModel):
    """What may be done with an image."""

    code: str = Field(description="SPDX identifier, or LicenseRef-… for a provider's own licence.")
    url: str = Field(description="URL of the licence text.")
    commercial: bool = Field(description="Whether commercial use is allowed.")
    modification: bool = Field(description="Whether it may be changed.")
    attribution_required: bool = Field(description="Whether its creator has to be named.")


class CreditLine(BaseModel):
    """The line that names an image's creator and source."""

    text: str
    html: str
    markdown: str


class ImageOut(BaseModel):
    """A search result."""

    ref: str = Field(description="Give it to import_image as image_ref.")
    provider: str
    title: str
    width: int = Field(description="In pixels; 0 if unknown.")
    height: int
    mime: str
    thumb_url: str = Field(description="A small image to look at.")
    preview_url: str
    page_url: str = Field(description="The image's page at its provider.")
    creator: str
    license: License
    credit: CreditLine
    hosting: str = Field(
        description="download: the file is copied to this server. hotlink: it is shown from its provider. either: "
        "both are allowed."
    )
    use_requires: list[str] = Field(description="Conditions of use: credit, hotlink_only, download_ping.")
    sensitive: bool


class MediaItem(BaseModel):
    """An image of the library."""

    id: str = Field(description="Give it as media_id to the other tools.")
    url: str = Field(description="Its public URL. Use it as the URL of an image in an article.")
    title: str
    filename: str
    media_type: str
    width: int = Field(description="In pixels.")
    height: int
    bytes: int = Field(description="Its size; 0 for an image that is shown from its provider.")
    alt_text: str
    caption: str
    provider: str = Field(description="Where it is from; library for own images.")
    page_url: str
    hosting: str
    license: License | None = Field(description="null for own images.")
    credit_html: str = Field(description="The credit line required next to the image; empty if none is.")
    credit_text: str
    created_at: datetime
    used_in: list[str] = Field(default_factory=list, description="Articles that use it.")


def image(result: FoundImage) -> ImageOut:
    """Convert a search result for the tool result."""
    return ImageOut(
        ref=result.ref,
        provider=result.provider,
        title=result.title,
        width=result.width,
        height=result.height,
        mime=result.mime,
        thumb_url=result.thumb_url,
        preview_url=result.preview_url,
        page_url=result.page_url,
        creator=result.creator,
        license=License(
            code=result.license.code,
            url=result.license.url,
            commercial=result.license.commercial,
            modification=result.license.modification,
            attribution_required=result.license.attribution_required,
        ),
        credit=CreditLine(text=result.credit.text, html=result.credit.html, markdown=result.credit.markdown),
        hosting=result.hosting,
        use_requires=list(result.use_requires),
        sensitive=result.sensitive,
    )


def item(media: Media, used_in: list[str] | None = None) -> MediaItem:
    """Convert an image of the library for the tool result."""
    return MediaItem(
        id=media.id,
        url=media.text_url,
        title=media.title,
        filename=media.filename,
        media_type=media.media_type,
        width=media.width,
        height=media.height,
        bytes=media.size,
        alt_text=media.alt_text,
        caption=media.caption,
        provider=media.provider,
        page_url=media.page_url,
        hosting=media.hosting,
        license=License.model_validate(media.license) if media.license else None,
        credit_html=media.credit.get("html", ""),
        credit_text=media.credit.get("text", ""),
        created_at=media.created_at,
        used_in=used_in or [],
    )


def results_text(images: Sequence[ImageOut], next_page: int | None, notes: Sequence[str], other_ways: str) -> str:
    """Format search results as text."""
    heading = f"{len(images)} image{'' if len(images) == 1 else 's'}, best first:"
    lines = [heading] if images else ["No image was found; try other or fewer words."]
    for result in images:
        size = f"{result.width}x{result.height}" if result.width and result.height else "size unknown"
        lines.append(
            f"- {result.ref}: {_one_line(result.title) or 'without a title'}, {size}, {_licence(result.license)}"
        )
        creator = f", by {_one_line(result.creator)}" if result.creator else ""
        lines.append(f"  {result.provider}{creator}; look at {result.thumb_url}")
    lines += [f"Note: {note}" for note in notes]
    if next_page is not None:
        lines.append(f"More: page {next_page}.")
    lines.append("Take one with import_image and its ref as image_ref." if images else other_ways)
    return "\n".join(lines)


def described(media: MediaItem) -> str:
    """Format an image of the library as text."""
    size = f"{media.width}x{media.height}" if media.width and media.height else "size unknown"
    lines = [
        f"{media.id}: {media.filename}, {media.media_type}, {size}",
        f"  url: {media.url}",
        f"  alt_text: {_one_line(media.alt_text) or 'none yet; add it with update_media'}",
    ]
    if media.caption:
        lines.append(f"  caption: {_one_line(media.caption)}")
    if media.license is not None:
        lines.append(f"  from {media.provider}, {_licence(media.license)}")
    if media.credit_text:
        lines.append(f"  credit, which publishing adds: {_one_line(media.credit_text)}")
    if media.used_in:
        lines.append(f"  used in: {', '.join(media.used_in)}")
    return "\n".join(lines)


def _licence(license_: License) -> str:
    if not license_.code:
        return "your own"
    limits = [
        word
        for word, applies in (
            ("no commercial use", not license_.commercial),
            ("no changes", not license_.modification),
            ("credit required", license_.attribution_required),
        )
        if applies
    ]
    return f"{license_.code} ({', '.join(limits)})" if limits else license_.code


def _one_line(text: str) -> str:
    return " ".join(text.split())
