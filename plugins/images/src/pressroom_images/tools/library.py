"""Tools for managing the library: upload links, list, update and delete."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from html import unescape
from typing import Annotated, Final, Literal

import nh3
from pressroom.sdk import Annotations, Call, ClientRequestId, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_images.config import articles_of, plugin_of
from pressroom_images.library.store import Library, Media
from pressroom_images.library.uploads import Uploads
from pressroom_images.tools.results import ONE_LINE, MediaItem, described, item


class UploadParams(Params):
    """What will be uploaded."""

    content_id: str | None = Field(default=None, max_length=64, description="The article it is for.")
    filename: str | None = Field(default=None, max_length=200, description="Name for the file.")
    content_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"] = Field(
        description="Only this kind is accepted."
    )
    client_request_id: ClientRequestId = None


class UploadResult(BaseModel):
    """The result of `create_upload_url`."""

    upload_url: str = Field(description="Works once. Open it in a browser, or send the file there with PUT.")
    media_id: str = Field(description="The image's id once it is uploaded.")
    expires_at: datetime


class ListImagesParams(Params):
    """Which images."""

    content_id: str | None = Field(default=None, max_length=64, description="Only this article's images.")
    query: str | None = Field(default=None, max_length=200, description="Words in texts or file names.")
    limit: Integer = Field(default=20, ge=1, le=100, description="Maximum number.")
    cursor: str | None = Field(default=None, max_length=200, description="next_cursor of the last result.")


class ListResult(BaseModel):
    """The result of `list_media`."""

    media: list[MediaItem]
    next_cursor: str | None = Field(description="Pass it as cursor for more; null at the end.")


class UpdateImageParams(Params):
    """What to change."""

    media_id: str = Field(min_length=1, max_length=64, description="The image.")
    alt_text: Annotated[str, Field(max_length=500), ONE_LINE] | None = Field(default=None, description="What it shows.")
    caption: str | None = Field(default=None, max_length=1000, description="Plain text below it.")
    credit: str | None = Field(
        default=None, max_length=1000, description="Who is named below your own image; may contain <a>."
    )


class MediaResult(BaseModel):
    """The result of `update_media`."""

    media: MediaItem


class DeleteImageParams(Params):
    """What to delete."""

    media_id: str = Field(min_length=1, max_length=64, description="The image.")
    confirm: bool = Field(description="true once the user has agreed.")


class DeleteResult(BaseModel):
    """The result of `delete_media`."""

    deleted: bool
    used_in: list[str] = Field(description="The articles that use the image, which is then kept.")


@mcp_tool(
    name="create_upload_url",
    result=UploadResult,
    title="Create an upload link",
    description=(
        "Creates a link for the user to upload an image, in a browser or with curl -T. Returns upload_url, which "
        "works once, and the future media_id of the image. After the upload, call import_image with it and an alt "
        "text."
    ),
    toolsets=("core", "images"),
)
async def create_upload_url(params: UploadParams, call: Call) -> ToolResult:
    """Make a link."""
    if params.content_id:
        await articles_of(call).get(call.caller.subject, params.content_id)
    link = await Uploads(plugin_of(call)).link(
        call.caller.subject,
        content_id=params.content_id,
        filename=params.filename or "",
        media_type=params.content_type,
    )
    until = f"{link.expires_at:%Y-%m-%d %H:%M}+00:00 (UTC)"
    text = (
        f"Ask the user to open {link.url} in a browser and to choose the file ({params.content_type}), or to run: "
        f"curl -T FILE '{link.url}'. The link works once, until {until}. The image will be {link.media_id}; after the "
        "upload, call import_image with this as image_ref and an alt_text."
    )
    return ToolResult(
        text=text, data=UploadResult(upload_url=link.url, media_id=link.media_id, expires_at=link.expires_at)
    )


@mcp_tool(
    name="list_media",
    result=ListResult,
    title="List images",
    description=(
        "Lists the images of the library, newest first, each with its url, alt text, credit and the articles that "
        "use it. To use one in an article, call import_image with its id."
    ),
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("images",),
)
async def list_media(params: ListImagesParams, call: Call) -> ToolResult:
    """List."""
    library = Library(plugin_of(call))
    images = await library.page(
        call.caller.subject,
        query=params.query or "",
        content_id=params.content_id or "",
        limit=params.limit + 1,
        before=_position(params.cursor) if params.cursor else None,
    )
    if params.content_id and not images:
        await articles_of(call).get(call.caller.subject, params.content_id)  # an unknown one is an error
    visible = images[: params.limit]
    uses = await library.uses(call.caller.subject, [media.id for media in visible])
    data = ListResult(
        media=[item(media, uses[media.id]) for media in visible],
        next_cursor=_cursor(visible[-1]) if len(images) > params.limit else None,
    )
    return ToolResult(text=_listed(data), data=data)


@mcp_tool(
    name="update_media",
    result=MediaResult,
    title="Change an image's texts",
    description=(
        "Changes the alt text, caption or credit of an image in the library. The credit of a provider's image follows "
        "from its licence and cannot be changed. Articles keep the alt texts that they have. Posts show a new caption "
        "or credit once a newer version of the article is published, or after publish_content with force."
    ),
    annotations=Annotations(idempotent=True),
    toolsets=("images",),
)
async def update_media(params: UpdateImageParams, call: Call) -> ToolResult:
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
    changed = await library.change(user_id, params.media_id, **changes)
    data = MediaResult(media=item(changed, (await library.uses(user_id, [media.id]))[media.id]))
    return ToolResult(text=described(data.media), data=data)


@mcp_tool(
    name="delete_media",
    result=DeleteResult,
    title="Delete an image",
    description=(
        "Permanently deletes an image from the library. If articles use it, it is kept, and used_in names them. Ask "
        "the user first."
    ),
    annotations=Annotations(destructive=True, idempotent=True),
    toolsets=("images",),
)
async def delete_media(params: DeleteImageParams, call: Call) -> ToolResult:
    """Delete."""
    library, user_id = Library(plugin_of(call)), call.caller.subject
    media = await library.get(user_id, params.media_id)
    used_in = (await library.uses(user_id, [media.id]))[media.id]
    if used_in:
        return ToolResult(
            text=f"{media.filename} was kept, since articles use it: {', '.join(used_in)}. Give them another featured "
            "image with import_image, or take it out of their body with update_content; where they are live, call "
            "publish_content then.",
            data=DeleteResult(deleted=False, used_in=used_in),
        )
    if not params.confirm:
        raise InvalidInput("confirm", f"{media.filename} would be deleted for good; call again with confirm true")
    await library.delete(user_id, media.id)
    return ToolResult(text=f"{media.filename} was deleted.", data=DeleteResult(deleted=True, used_in=[]))


TOOLS: Final = (create_upload_url, list_media, update_media, delete_media)


def _listed(data: ListResult) -> str:
    if not data.media:
        return (
            "No image was found in the library. search_images finds licensed ones, create_upload_url takes the user's."
        )
    lines = [described(image) for image in data.media]
    if data.next_cursor is not None:
        lines.append(f"More with cursor {data.next_cursor}")
    return "\n".join(lines)


def _cursor(media: Media) -> str:
    return base64.urlsafe_b64encode(f"{media.created_at.timestamp():.6f} {media.id}".encode()).decode().rstrip("=")


def _position(cursor: str) -> tuple[datetime, str]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        moment, _, media_id = text.partition(" ")
        return datetime.fromtimestamp(float(moment), UTC), media_id
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("cursor", "this is not a next_cursor of list_media") from None
