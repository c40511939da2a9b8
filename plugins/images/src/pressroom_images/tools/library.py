"""Looking after the library."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from html import unescape
from typing import Final, Literal

import nh3
from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, mcp_tool
from pydantic import BaseModel, Field

from pressroom_images.host import articles_of, plugin_of
from pressroom_images.library.media import Media
from pressroom_images.library.store import Library
from pressroom_images.library.uploads import Uploads
from pressroom_images.tools.results import MediaItem, item


class UploadParams(Params):
    """What will be uploaded."""

    content_id: str | None = Field(default=None, max_length=64, description="The article that the image is for.")
    filename: str | None = Field(default=None, max_length=200, description="A name for the file.")
    content_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"] = Field(
        description="The kind of image; another kind is refused."
    )


class UploadResult(BaseModel):
    """The answer of `create_upload_url`."""

    upload_url: str = Field(description="Works once. Open it in a browser, or send the file there with PUT.")
    media_id: str = Field(description="What the image will be called once it was uploaded.")
    expires_at: datetime


class ListImagesParams(Params):
    """Which images."""

    website_id: str | None = Field(default=None, max_length=64, description="Only images of this website.")
    content_id: str | None = Field(default=None, max_length=64, description="Only images of this article.")
    query: str | None = Field(default=None, max_length=200, description="Words in title, alt text, caption or name.")
    limit: Integer = Field(default=20, ge=1, le=100, description="How many to return at most.")
    cursor: str | None = Field(
        default=None, max_length=200, description="The next_cursor of the answer before; keep the other arguments."
    )


class ListResult(BaseModel):
    """The answer of `list_media`."""

    media: list[MediaItem]
    next_cursor: str | None = Field(description="Give it as cursor to read on; null at the end.")


class UpdateImageParams(Params):
    """What to change."""

    media_id: str = Field(min_length=1, max_length=64, description="The image.")
    alt_text: str | None = Field(
        default=None, max_length=500, description="What it shows, for people who cannot see it."
    )
    caption: str | None = Field(default=None, max_length=1000, description="The line below it.")
    credit: str | None = Field(
        default=None, max_length=1000, description="Who is to be named, for own images; it may hold links in HTML."
    )


class MediaResult(BaseModel):
    """The answer of `update_media`."""

    media: MediaItem


class DeleteImageParams(Params):
    """What to delete."""

    media_id: str = Field(min_length=1, max_length=64, description="The image.")
    confirm: bool = Field(description="true, once the user has agreed.")


class DeleteResult(BaseModel):
    """The answer of `delete_media`."""

    deleted: bool
    used_in: list[str] = Field(description="Articles that use it; an image that is used is kept.")


@mcp_tool(
    name="create_upload_url",
    title="Make an upload link",
    description=(
        "Makes a link with which the user uploads one of their images from a browser or with curl. Use it when the "
        "user has an image on their machine. Returns upload_url, which works once, media_id and expires_at. Nothing is "
        "in the library before the upload; ask list_media afterwards, then add the alt text with update_media."
    ),
)
async def create_upload_url(params: UploadParams, call: Call) -> UploadResult:
    """Make a link."""
    if params.content_id:
        await articles_of(call).get(call.caller.subject, params.content_id)
    link = await Uploads(plugin_of(call)).link(
        call.caller.subject,
        content_id=params.content_id,
        filename=params.filename or "",
        media_type=params.content_type,
    )
    return UploadResult(upload_url=link.url, media_id=link.media_id, expires_at=link.expires_at)


@mcp_tool(
    name="list_media",
    title="List images",
    description=(
        "Lists the images of the library, newest first, with the lines that credit them and the articles that they "
        "were taken for. Use it to find an image that is there already. Returns media and next_cursor."
    ),
    annotations=Annotations(read_only=True, idempotent=True),
)
async def list_media(params: ListImagesParams, call: Call) -> ListResult:
    """List."""
    library = Library(plugin_of(call))
    found = await library.page(
        call.caller.subject,
        query=params.query or "",
        content_id=params.content_id or "",
        website_id=params.website_id or "",
        limit=params.limit + 1,
        before=_place(params.cursor) if params.cursor else None,
    )
    shown = found[: params.limit]
    uses = await library.uses([media.id for media in shown])
    return ListResult(
        media=[item(media, uses[media.id]) for media in shown],
        next_cursor=_cursor(shown[-1]) if len(found) > params.limit else None,
    )


@mcp_tool(
    name="update_media",
    title="Change an image's texts",
    description=(
        "Changes the alt text, caption or credit of an image in the library. The credit of a provider's image is a "
        "condition of its licence and cannot be changed. Returns the image."
    ),
    annotations=Annotations(idempotent=True),
)
async def update_media(params: UpdateImageParams, call: Call) -> MediaResult:
    """Change texts."""
    library, user_id = Library(plugin_of(call)), call.caller.subject
    media = await library.get(user_id, params.media_id)
    changes: dict[str, object] = {}
    if params.alt_text is not None:
        changes["alt_text"] = params.alt_text
    if params.caption is not None:
        changes["caption"] = params.caption
    if params.credit is not None:
        if media.license:
            raise InvalidInput("credit", f"the credit of an image from {media.provider} is given by its licence")
        html = nh3.clean(params.credit, tags={"a"}, attributes={"a": {"href"}}, url_schemes={"https", "http"})
        text = unescape(nh3.clean(params.credit, tags=set()))
        changes["credit"] = {"text": text, "html": html, "markdown": text}
    if not changes:
        raise InvalidInput("", "nothing to change: give alt_text, caption or credit")
    return MediaResult(media=item(await library.change(user_id, params.media_id, **changes)))


@mcp_tool(
    name="delete_media",
    title="Delete an image",
    description=(
        "Deletes an image of the library for good. One that articles use is kept, and used_in names them. Ask the user "
        "first, then call it with confirm true. Returns deleted and used_in."
    ),
    annotations=Annotations(destructive=True, idempotent=True),
)
async def delete_media(params: DeleteImageParams, call: Call) -> DeleteResult:
    """Delete."""
    library, user_id = Library(plugin_of(call)), call.caller.subject
    media = await library.get(user_id, params.media_id)
    used_in = (await library.uses([media.id]))[media.id]
    if used_in:
        return DeleteResult(deleted=False, used_in=used_in)
    if not params.confirm:
        raise InvalidInput("confirm", f"{media.filename} would be deleted for good; call again with confirm true")
    await library.delete(user_id, media.id)
    return DeleteResult(deleted=True, used_in=[])


TOOLS: Final = (create_upload_url, list_media, update_media, delete_media)


def _cursor(media: Media) -> str:
    return base64.urlsafe_b64encode(f"{media.created_at.timestamp():.6f} {media.id}".encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[datetime, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        moment, _, media_id = text.partition(" ")
        return datetime.fromtimestamp(float(moment), UTC), media_id
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("cursor", "this is not a next_cursor of list_media") from None
