"""The tool that imports images into the library and articles."""

from __future__ import annotations

import re
from hashlib import sha256
from html import escape
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pressroom.sdk import (
    Annotations,
    Call,
    CallError,
    FetchFailed,
    FetchRefused,
    InvalidInput,
    Params,
    PluginContext,
    ToolResult,
    mcp_tool,
)
from pressroom_content.contract import Article, BodyFormat, FoundImage, ImageSource
from pydantic import BaseModel, Field

from pressroom_images.config import articles_of, config_of, plugin_of
from pressroom_images.library.files import InspectedImage, inspect
from pressroom_images.library.store import Library, Media
from pressroom_images.sources.search import contained
from pressroom_images.tools.results import ONE_LINE, MediaItem, described, item
from pressroom_images.tools.search import LIBRARY, sources_of

_SECONDS: Final = 20.0
_OK: Final = 200
_ATTEMPTS: Final = 10
_ID_LETTER: Final = "m_"
_MARKUP: Final = re.compile(r"[\\`*_\[\]<]")
_ESCAPED: Final = r"\\\g<0>"

Role = Literal["featured", "inline", "library"]


class ImportImageParams(Params):
    """Which image to take."""

    image_ref: str = Field(
        min_length=3, max_length=2048, description="ref of a search result, media_id, or https URL of an image."
    )
    alt_text: Annotated[str, Field(min_length=1, max_length=500), ONE_LINE] | None = Field(
        default=None, description="What it shows, without 'image of'. Required unless the image has one."
    )
    content_id: str | None = Field(
        default=None, max_length=64, description="The article it is for; featured and inline need it."
    )
    role: Role = Field(default="library", description="featured: also set as the article's featured image.")


class ImportResult(BaseModel):
    """The result of `import_image`."""

    media: MediaItem
    content_id: str | None = Field(default=None, description="The article it was imported for.")
    version: int | None = Field(default=None, description="Where featured: the article's newest version.")


@mcp_tool(
    name="import_image",
    result=ImportResult,
    title="Import an image",
    description=(
        "Adds an image to the media library with its licence and credit line: a result of search_images, or your "
        "own image from an https URL, such as the link of generate_image. A media_id uses an image of the library. "
        "With role featured it becomes the article's featured image; inline returns the line to place with "
        "update_content. Publishing adds the credit automatically. Repeating it returns the same image."
    ),
    annotations=Annotations(idempotent=True, open_world=True),
    toolsets=("core", "images"),
    timeout=60,
)
async def import_image(params: ImportImageParams, call: Call) -> ToolResult:
    """Take an image in."""
    if params.role != "library" and not params.content_id:
        raise InvalidInput("content_id", f"role {params.role} needs the article; list_content names the articles")
    user_id = call.caller.subject
    article = await articles_of(call).get(user_id, params.content_id) if params.content_id else None
    if params.image_ref.startswith(("https://", "http://")):
        media = await _import_from_url(params, call)
    else:
        media = await _import_result(params, call)
    if params.alt_text and not media.alt_text:
        media = await Library(plugin_of(call)).change(user_id, media.id, alt_text=params.alt_text)
    version = None
    if params.content_id and params.role == "inline":
        await Library(plugin_of(call)).use(media.id, params.content_id, params.role)
    elif params.content_id and params.role == "featured":
        alt_text = params.alt_text or _alt_text(media.alt_text)
        version = (await set_featured(call, params.content_id, media.id, alt_text)).version
    used_in = (await Library(plugin_of(call)).uses(user_id, [media.id]))[media.id]
    data = ImportResult(media=item(media, used_in), content_id=params.content_id, version=version)
    return ToolResult(text=_text(data, params, article), data=data)


TOOLS: Final = (import_image,)


def _text(data: ImportResult, params: ImportImageParams, article: Article | None) -> str:
    lines = [described(data.media)]
    if data.version is not None:
        lines.append(
            f"It is the featured image of {data.content_id}, whose newest version is {data.version}. "
            "A published post shows it after publish_content."
        )
    elif article is not None and params.role == "inline":
        image = _inline(data.media.url, params.alt_text or data.media.alt_text, article.body_format)
        lines.append(f"To place it, put this line into the article's body with update_content: {image}")
    else:
        lines.append(
            "It is in the library. To make it an article's featured image, call import_image with image_ref "
            f"{data.media.id}, content_id and role featured."
        )
    if params.alt_text and data.media.alt_text not in ("", params.alt_text) and params.role == "library":
        lines.append("It was there already and keeps its alt text; update_media changes it.")
    return "\n".join(lines)


def _inline(url: str, alt_text: str, body_format: BodyFormat) -> str:
    """Return an image in the format of the body that it is for, on one line."""
    alt_text = " ".join(alt_text.split())
    if body_format == "html":
        return f'<img src="{escape(url)}" alt="{escape(alt_text)}">'
    return f"![{_MARKUP.sub(_ESCAPED, alt_text)}]({url})"


def _alt_text(alt_text: str | None) -> str:
    if not alt_text:
        raise InvalidInput("alt_text", "is missing; say in a sentence what the image shows")
    return alt_text


async def _import_result(params: ImportImageParams, call: Call) -> Media:
    library, user_id = Library(plugin_of(call)), call.caller.subject
    provider, _, image_id = params.image_ref.partition(":")
    if provider == LIBRARY or (params.image_ref.startswith(_ID_LETTER) and not image_id):
        return await library.get(user_id, image_id or params.image_ref)
    existing = await library.by_ref(user_id, params.image_ref)
    if existing is not None:
        return existing
    source = next((source for source in sources_of(plugin_of(call)) if source.name == provider), None)
    if source is None or not image_id:
        raise InvalidInput(
            "image_ref",
            f"give the ref of a result of search_images{_example_ref(plugin_of(call))}, a media_id of list_media, or "
            "an https URL",
        )
    alt_text = _alt_text(params.alt_text)
    image = await contained(plugin_of(call), source, source.get(plugin_of(call), image_id))
    file = None if image.hosting == "hotlink" else await _downloaded(image.file_url, call)
    media = await library.add_result(user_id, image, alt_text, file)
    await _report_use(source, image, call)
    return media


def _example_ref(plugin: PluginContext) -> str:
    source = next(iter(sources_of(plugin)), None)
    return f", such as {source.name}:…" if source else ""


async def _report_use(source: ImageSource, image: FoundImage, call: Call) -> None:
    if source.used is None:
        return
    try:
        await contained(plugin_of(call), source, source.used(plugin_of(call), image))
    except CallError:
        # The image is already imported; a missed usage report must not undo that.
        return


async def _import_from_url(params: ImportImageParams, call: Call) -> Media:
    """Import a user's own image. Deduplicates by content, since signed URLs of the same file differ.

    The URL of an image of the library stands for that image, which keeps its licence and credit.
    """
    in_library = await Library(plugin_of(call)).by_url(call.caller.subject, params.image_ref)
    if in_library is not None:
        return in_library
    file = await _image_of_server(params.image_ref, call) or await _downloaded(params.image_ref, call)
    name = urlsplit(params.image_ref).path.rpartition("/")[2] or "image"
    ref = f"sha256:{sha256(file.content).hexdigest()}"
    library, user_id = Library(plugin_of(call)), call.caller.subject
    existing = await library.by_ref(user_id, ref)
    if existing is not None:
        return existing
    alt_text = _alt_text(params.alt_text)
    return await library.add_user_image(user_id, file, name=name, alt_text=alt_text, page_url=params.image_ref, ref=ref)


async def _image_of_server(url: str, call: Call) -> InspectedImage | None:
    """Return the image behind a signed link of this server, such as that of a generator; `None` for any other URL.

    It is read without a request, since the server may be on a private network.
    """
    plugin = plugin_of(call)
    content = await plugin.services.tools.read_file(url)
    if content is None and url.startswith(f"{plugin.base_url}/files/"):
        raise InvalidInput(
            "image_ref",
            "this link of the server has expired or is not complete; call the tool that made the image again, and pass "
            "its new link as it is",
        )
    return await _inspected(content, call) if content is not None else None


async def _downloaded(url: str, call: Call) -> InspectedImage:
    max_bytes = config_of(call).max_image_bytes
    try:
        response = await plugin_of(call).services.fetcher.get(
            url,
            accept="image/avif, image/webp, image/png, image/jpeg, image/gif",
            max_bytes=max_bytes,
            seconds=_SECONDS,
        )
    except (FetchRefused, FetchFailed) as error:
        raise InvalidInput("image_ref", f"the image could not be fetched: {error.message}") from None
    if response.status != _OK:
        raise InvalidInput("image_ref", f"the image could not be fetched: its host returned HTTP {response.status}")
    return await _inspected(response.content, call)


async def _inspected(content: bytes, call: Call) -> InspectedImage:
    max_bytes = config_of(call).max_image_bytes
    try:
        run, owner = plugin_of(call).services.workers.run, call.caller.subject
        return await run(inspect, content, max_bytes, owner=owner, what="the image")
    except InvalidInput as error:
        raise InvalidInput("image_ref", error.problem) from None


async def set_featured(call: Call, content_id: str, media_id: str, alt_text: str = "") -> Article:
    """Set an image of the library as an article's featured image. Returns the article's newest version.

    Creates no version if nothing changes. If the article changes at the same time, both changes are kept.

    Raises:
        NotFound: the account has no such article or image.
        InvalidInput: the article is in the trash, or other calls keep changing it.
    """
    articles, user_id = articles_of(call), call.caller.subject
    media = await Library(plugin_of(call)).get(user_id, media_id)
    changes = {"featured_media_id": media.id, "featured_alt": alt_text or media.alt_text}
    for _ in range(_ATTEMPTS):
        article = await articles.get(user_id, content_id)
        if article.status == "trashed":
            raise InvalidInput("content_id", "is in the trash; bring it back with restore_content first")
        if (article.featured_media_id, article.featured_alt) == tuple(changes.values()):
            return article
        try:
            return await articles.change(article, changes, origin=call.caller.connection_name)
        except InvalidInput as error:
            if error.field != "expected_version":
                raise
    raise InvalidInput("content_id", "is being changed by other calls; nothing was changed by this one: repeat it")
