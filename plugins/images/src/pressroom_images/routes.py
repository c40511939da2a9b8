"""What is served: the images, and the page on which people upload, with the form that it posts (RFC 7578)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import Final

from pressroom.sdk import CallError, HttpRequest, HttpResponse, NotFound, PluginContext, Route, parse_multipart

from pressroom_images.config import ImagesConfig
from pressroom_images.library.files import Thumbnails
from pressroom_images.library.store import Library
from pressroom_images.library.uploads import Uploads
from pressroom_images.pages import PATH, THUMBNAILS, root_of
from pressroom_images.pages import routes as media_pages

_YEAR: Final = "public, max-age=31536000, immutable"
_MULTIPART: Final = 65_536
"""Bytes that the parts of a form may have around the file."""

_MAX_FIELDS: Final = 15

_IMAGE_HEADERS: Final = {
    "Cache-Control": _YEAR,
    "Content-Security-Policy": "default-src 'none'; sandbox",
}

_PAGE_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}

_STYLE: Final = """
:root{color-scheme:light dark;--paper:#faf7f2;--ink:#1d1a17;--accent:#b9502a;--edge:#d9d0c3}
@media (prefers-color-scheme:dark){:root{--paper:#161311;--ink:#f1ebe3;--accent:#e0764c;--edge:#3a322b}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 Inter,system-ui,sans-serif}
main{max-width:36rem;margin:10vh auto;padding:0 24px}
h1{font:600 2rem/1.2 "Source Serif 4",Georgia,serif;margin:0 0 16px}
form{display:grid;gap:16px;padding:24px;border:1px solid var(--edge);border-radius:12px;margin-top:24px}
input{font:inherit;max-width:100%}
button{font:inherit;font-weight:600;padding:12px 20px;border:0;border-radius:8px;background:var(--ink);
color:var(--paper);justify-self:start;cursor:pointer}
a{color:inherit;text-decoration-color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.notice{border-left:4px solid var(--accent);padding:8px 16px}
"""


def routes(plugin: PluginContext[ImagesConfig]) -> Sequence[Route]:
    """Return the URLs that this plugin serves."""
    most = plugin.config.max_image_bytes
    return [
        Route("/media/<media_id>/<filename>", _serve(plugin)),
        Route(f"{THUMBNAILS}/<media_id>", _serve_thumbnail(plugin)),
        Route(
            "/media/upload/<token>",
            _upload(plugin),
            ("GET", "POST", "PUT"),
            max_body_bytes=most + _MULTIPART,
            before_body=_check_link(plugin),
        ),
        *media_pages(plugin),
    ]


def _serve(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def serve(request: HttpRequest) -> HttpResponse:
        """Send an image; whoever knows its id may see it, as on any website."""
        media_id = request.path_params["media_id"]
        tag = f'"{media_id}"'
        if tag in request.headers.get("if-none-match", ""):
            return HttpResponse(b"", 304, headers={"ETag": tag, "Cache-Control": _YEAR})
        content, media_type = await Library(plugin).content(media_id)
        headers = {**_IMAGE_HEADERS, "ETag": tag, "Cross-Origin-Resource-Policy": "cross-origin"}
        return HttpResponse(content, media_type=media_type, headers=headers)

    return serve


def _serve_thumbnail(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    thumbnails = Thumbnails(plugin)

    async def serve(request: HttpRequest) -> HttpResponse:
        """Send an image as small as lists show it."""
        media_id = request.path_params["media_id"]
        tag = f'"{media_id}-small"'
        if tag in request.headers.get("if-none-match", ""):
            return HttpResponse(b"", 304, headers={"ETag": tag, "Cache-Control": _YEAR})
        content, media_type = await thumbnails.get(media_id)
        return HttpResponse(content, media_type=media_type, headers={**_IMAGE_HEADERS, "ETag": tag})

    return serve


def _check_link(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse | None]]:
    async def check(request: HttpRequest) -> HttpResponse | None:
        """Refuse a link that does not work before anything that is sent to it is read."""
        try:
            await Uploads(plugin).open(request.path_params["token"])
        except NotFound as error:
            return _refusal(request, error)
        return None

    return check


def _upload(plugin: PluginContext[ImagesConfig]) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    async def upload(request: HttpRequest) -> HttpResponse:
        """Show the form, take what it sends, or take a file that is sent by itself."""
        uploads, token = Uploads(plugin), request.path_params["token"]
        try:
            if request.method == "GET":
                return _page("Upload an image", _form())
            content, filename = _sent(request)
            media = await uploads.take(token, content, filename)
        except CallError as error:
            return _refusal(request, error)
        if _is_plain(request):
            return HttpResponse(f"{media.id} {media.url}\n".encode(), 201, "text/plain; charset=utf-8")
        size = f"{media.width} × {media.height} pixels"
        return _page(
            "Thank you",
            f"<p>{escape(media.filename)} ({size}) is in the library. Add an alt text there for people who can't see "
            "it, or close this page.</p>"
            f'<p><a href="{escape(root_of(plugin))}{PATH}">Open the media library</a></p>',
        )

    return upload


def _refusal(request: HttpRequest, error: CallError) -> HttpResponse:
    status = 404 if isinstance(error, NotFound) else 400
    if _is_plain(request):
        return HttpResponse(f"{error.message}\n".encode(), status, "text/plain; charset=utf-8")
    notice = f'<p class="notice" id="problem" role="alert">{escape(error.message)}</p>'
    return _page("That didn't work", notice + ("" if status == 404 else _form(refused=True)), status)


def _is_plain(request: HttpRequest) -> bool:
    """Tell whether a program sends the file, which gets a line of text rather than a page."""
    return request.method == "PUT" or request.headers.get("accept", "").startswith("text/plain")


def _sent(request: HttpRequest) -> tuple[bytes, str]:
    """Return the file of a request and its name: the body itself, or the part of a form (RFC 7578)."""
    kind = request.headers.get("content-type", "")
    if not kind.lower().startswith("multipart/form-data"):
        return request.body, ""
    files = parse_multipart(kind, request.body, _MAX_FIELDS).files
    sent = next(iter(files.values()), None)
    return (sent[0].content, sent[0].name) if sent else (b"", "")


def _form(*, refused: bool = False) -> str:
    told = ' aria-describedby="problem" aria-invalid="true" autofocus' if refused else ""
    return (
        "<p>Choose one JPEG, PNG, GIF, WebP or AVIF file. It is added to your media library, and is not published.</p>"
        '<form method="post" enctype="multipart/form-data"><label for="file">Image</label>'
        f'<input id="file" type="file" name="file" accept="image/*" required{told}><button>Upload</button></form>'
    )


def _page(title: str, content: str, status: int = 200) -> HttpResponse:
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{content}</main></body></html>"
    )
    return HttpResponse(html.encode(), status, headers=_PAGE_HEADERS)
