"""The images of an article."""

from __future__ import annotations

import asyncio
from typing import Final

from pressroom.sdk import Annotations, Call, Params, mcp_tool
from pydantic import BaseModel, Field

from pressroom_images.host import articles_of, plugin_of
from pressroom_images.library.featuring import set_featured
from pressroom_images.library.reviewing import ImageIssue, ImageReport, review


class FeaturedParams(Params):
    """Which image for which article."""

    content_id: str = Field(min_length=1, max_length=64, description="The article.")
    media_id: str = Field(min_length=1, max_length=64, description="An image of the library.")
    alt_text: str | None = Field(
        default=None, max_length=500, description="What it shows; left out, the alt text of the image."
    )


class FeaturedResult(BaseModel):
    """The answer of `set_featured_image`."""

    content_id: str
    version: int = Field(description="The article's newest version, for expected_version.")


class ImageCheckParams(Params):
    """Which article."""

    content_id: str = Field(min_length=1, max_length=64, description="The article whose images are looked at.")


class ImageReportOut(BaseModel):
    """The answer of `check_image_seo`."""

    images: list[ImageReport]
    issues: list[ImageIssue] = Field(description="What to fix, the most important first.")


@mcp_tool(
    name="set_featured_image",
    title="Set the featured image",
    description=(
        "Makes an image of the library an article's featured image, which platforms show above it and in links. "
        "Returns content_id and the article's new version. A published post gets it with update_publication."
    ),
    annotations=Annotations(idempotent=True),
)
async def set_featured_image(params: FeaturedParams, call: Call) -> FeaturedResult:
    """Set it."""
    article = await set_featured(call, params.content_id, params.media_id, params.alt_text or "")
    return FeaturedResult(content_id=article.id, version=article.version)


@mcp_tool(
    name="check_image_seo",
    title="Check an article's images",
    description=(
        "Looks at every image of an article: weight, format and dimensions, alt text, licence, lazy loading, "
        "and whether it can be reached. Use it before publishing. Returns images, each with what is known of it, and "
        "issues with a fix for each."
    ),
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    timeout=60,
)
async def check_image_seo(params: ImageCheckParams, call: Call) -> ImageReportOut:
    """Look at the images."""
    article = await articles_of(call).get(call.caller.subject, params.content_id)
    async with asyncio.timeout(50):
        images, issues = await review(plugin_of(call), article)
    return ImageReportOut(images=images, issues=issues)


TOOLS: Final = (set_featured_image, check_image_seo)
