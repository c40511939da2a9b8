"""HTTP routes: images, thumbnails, and the upload page with its multipart form (RFC 7578)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC
from typing import Final

from pressroom.sdk import (
    CallError,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    Route,
    parse_multipart,
)

from pressroom_images.config import ImagesConfig
from pressroom_images.library.files import ANY_KIND, EXTENSIONS, KIND_NAMES, Thumbnails, display_size, size_of
from pressroom_images.library.store import Library
from pressroom_images.library.uploads import Uploads
from pressroom_images.pages import PATH, THUMBNAILS, fragment, root_of
from pressroom_images.pages import routes as media_pages
from pressroom_images.tables import UploadRow

_YEAR: Final = "public, max-age=31536000, immutable"
_MULTIPART: Final = 65_536
"""Maximum multipart overhead around the file, in bytes."""

_MAX_FIELDS: Final = 15

_IMAGE_HEADERS: Final = {
    "Cache-Control": _YEAR,
    "Content-Security-Policy": "default-src 'none'; sandbox",
}

_TITLE: Final = "Upload an image"


def routes(plugin: PluginContext[ImagesConfig]) -> Sequence[Route]:
    """Return the plugin's routes."""
    max_bytes = plugin.config.max_image_bytes
    return [
        Route("/media/<media_id>/<filename>", _serve(plugin)),
        Route(f"{THUMBNAILS}/<media_id>", _serve_thumbnail(plugin)),
        Route(
            "/media/upload/<token>",
            _upload(plugin),
            ("GET", "POST", "PUT"),
            max_body_bytes=max_bytes + _MULTIPART,
            before_body=_check_link(plugin),
            title=_TITLE,
        ),
        *media_pages(plugin),
    ]


def _serve(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def serve(request: HttpRequest) -> HttpResponse:
        """Serve an image to anyone who has its ID."""
        media_id = request.path_params["media_id"]
        tag = f'"{media_id}"'
        if tag in request.headers.get("if-none-match", ""):
            await Library(plugin).check_content(media_id)
            return HttpResponse(b"", 304, headers={"ETag": tag, "Cache-Control": _YEAR})
        content, media_type = await Library(plugin).content(media_id)
        headers = {**_IMAGE_HEADERS, "ETag": tag, "Cross-Origin-Resource-Policy": "cross-origin"}
        return HttpResponse(content, media_type=media_type, headers=headers)

    return serve


def _serve_thumbnail(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    thumbnails = Thumbnails(plugin)

    async def serve(request: HttpRequest) -> HttpResponse:
        """Serve the thumbnail of an image."""
        media_id = request.path_params["media_id"]
        tag = f'"{media_id}-small"'
        if tag in request.headers.get("if-none-match", ""):
            await Library(plugin).check_content(media_id)
            return HttpResponse(b"", 304, headers={"ETag": tag, "Cache-Control": _YEAR})
        content, media_type = await thumbnails.get(media_id)
        return HttpResponse(content, media_type=media_type, headers={**_IMAGE_HEADERS, "ETag": tag})

    return serve


def _check_link(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse | None]]:
    async def check(request: HttpRequest) -> HttpResponse | None:
        """Reject an invalid link or a file that is too large before the request body is read."""
        try:
            link = await Uploads(plugin).open(request.path_params["token"])
        except NotFound as error:
            return _refusal(plugin, request, error)
        max_bytes, content_length = plugin.config.max_image_bytes, request.headers.get("content-length", "")
        if content_length.isdecimal() and int(content_length) > max_bytes + _MULTIPART:
            larger = f"the file has more than the {size_of(max_bytes)} that an image may have; choose a smaller one"
            return _refusal(plugin, request, InvalidInput("", larger), link, status=413)
        return None

    return check


def _upload(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def upload(request: HttpRequest) -> HttpResponse:
        """Show the upload form, or store a file from the form or the raw request body."""
        uploads, token = Uploads(plugin), request.path_params["token"]
        link: UploadRow | None = None
        try:
            link = await uploads.open(token)
            if request.method == "GET":
                return _form(plugin, link)
            content, filename = _sent(request)
            media = await uploads.take(token, content, filename)
        except CallError as error:
            return _refusal(plugin, request, error, link)
        if _is_plain(request):
            return HttpResponse(f"{media.id} {media.url}\n".encode(), 201, "text/plain; charset=utf-8")
        width, height = display_size(media.width, media.height)
        return fragment(
            "uploaded.html",
            plugin,
            request,
            name=media.filename,
            size=f"{media.width} × {media.height} pixels",
            thumb=f"{root_of(plugin)}{THUMBNAILS}/{media.id}",
            shown_width=width,
            shown_height=height,
            library=root_of(plugin) + PATH,
        )

    return upload


def _refusal(
    plugin: PluginContext[ImagesConfig],
    request: HttpRequest,
    error: CallError,
    link: UploadRow | None = None,
    *,
    status: int = 0,
) -> HttpResponse:
    """Respond to a rejected upload: with the form and the error while the link is valid, else with an error page."""
    status = status or (404 if isinstance(error, NotFound) else 400)
    if _is_plain(request):
        return HttpResponse(f"{_sentence(error.message)}\n".encode(), status, "text/plain; charset=utf-8")
    if link is not None and not isinstance(error, NotFound):
        return _form(plugin, link, error.message, status)
    library = root_of(plugin) + PATH
    return fragment(
        "upload_ended.html", plugin, request, status=status, problem=_sentence(error.message), library=library
    )


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."


def _is_plain(request: HttpRequest) -> bool:
    """Return whether the client is a program that expects a line of text, not a page."""
    return request.method == "PUT" or request.headers.get("accept", "").startswith("text/plain")


def _sent(request: HttpRequest) -> tuple[bytes, str]:
    """Return the uploaded file and its name, from the raw body or a multipart form (RFC 7578)."""
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        return request.body, ""
    files = parse_multipart(kind, request.body, _MAX_FIELDS).files
    upload = next(iter(files.values()), None)
    return (upload[0].content, upload[0].name) if upload else (b"", "")


def _form(plugin: PluginContext[ImagesConfig], link: UploadRow, problem: str = "", status: int = 200) -> HttpResponse:
    kinds = [link.media_type] if link.media_type else list(EXTENSIONS)
    values = {
        "accept": ",".join(kinds),
        "kinds": KIND_NAMES[link.media_type] if link.media_type else ANY_KIND,
        "most": size_of(plugin.config.max_image_bytes),
        "until": link.expires_at.astimezone(UTC),
        "problem": _sentence(problem) if problem else "",
    }
    return fragment("upload_link.html", plugin, None, status=status, **values)
