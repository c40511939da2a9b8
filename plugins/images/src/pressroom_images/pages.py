"""The dashboard's page of the media library: `/dashboard/media`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, PluginContext, Route
from pressroom_content.contract import content_services, cursor_of, read_cursor

from pressroom_images.config import ImagesConfig
from pressroom_images.library.files import display_size
from pressroom_images.library.store import Library, Media
from pressroom_images.library.uploads import Uploads

PATH: Final = "/dashboard/media"
THUMBNAILS: Final = "/media/thumbnails"
ON_A_PAGE: Final = 24
MAX_ALT_LENGTH: Final = 500

_MAX_QUERY_LENGTH: Final = 200
_TOOLS: Final = {"upload": "create_upload_url", "alt": "update_media"}
_MAX_USES: Final = 5


def routes(plugin: PluginContext[ImagesConfig]) -> Sequence[Route]:
    """Return the route of the page."""

    async def media(request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return await _list(plugin, request)
        typed = _form_of(request)
        match typed.get("do"):
            case "upload":
                return await _upload(plugin, request)
            case "alt":
                return await _describe(plugin, request, typed)
            case _:
                raise InvalidInput("do", "is unknown; reload the page and use its buttons")

    return [Route(PATH, media, ("GET", "POST"), DashboardPage("Media", _TOOLS, "Content"))]


async def _upload(plugin: PluginContext[ImagesConfig], request: HttpRequest) -> HttpResponse:
    """Create an upload link. Return a form that posts to it, or only its path if the page's script asks for text."""
    link = await Uploads(plugin).link(request.subject, content_id=None, filename="", media_type="")
    if request.headers.get("accept", "").startswith("text/plain"):  # the page's script, once for each of several files
        path = root_of(plugin) + link.url.removeprefix(plugin.base_url)
        return HttpResponse(path.encode(), media_type="text/plain; charset=utf-8")
    return fragment(
        "upload.html",
        plugin,
        request,
        action=root_of(plugin) + link.url.removeprefix(plugin.base_url),
        minutes=plugin.config.upload_minutes,
    )


async def _describe(
    plugin: PluginContext[ImagesConfig], request: HttpRequest, typed: Mapping[str, str]
) -> HttpResponse:
    """Save the alt text of an image. Raises `NotFound`."""
    media_id, alt = typed.get("media_id", ""), " ".join(typed.get("alt_text", "").split())
    if len(alt) > MAX_ALT_LENGTH:
        problem = f"The text has {len(alt):,} characters; at most {MAX_ALT_LENGTH} are allowed. Shorten it."
        await Library(plugin).get(request.subject, media_id)
        return await _list(plugin, request, failed=(media_id, alt, problem))
    await Library(plugin).change(request.subject, media_id, alt_text=alt)
    cursor_part = f"&cursor={quote(request.query['cursor'], safe='')}" if request.query.get("cursor") else ""
    query_part = f"&q={quote(request.query['q'], safe='')}" if request.query.get("q") else ""
    return HttpResponse(b"", 303, headers={"Location": f"{root_of(plugin)}{PATH}?done=alt{query_part}{cursor_part}"})


async def _list(
    plugin: PluginContext[ImagesConfig], request: HttpRequest, *, failed: tuple[str, str, str] = ("", "", "")
) -> HttpResponse:
    query, cursor = request.query.get("q", "").strip()[:_MAX_QUERY_LENGTH], request.query.get("cursor", "")
    library = Library(plugin)
    before = read_cursor(cursor) if cursor else None
    images = await library.page(request.subject, query=query, limit=ON_A_PAGE + 1, before=before)
    visible = images[:ON_A_PAGE]
    uses = await library.uses(request.subject, [image.id for image in visible])
    articles = content_services(plugin).articles
    titles = await articles.titles(request.subject, [used for ids in uses.values() for used in ids])
    following = cursor_of(visible[-1].created_at, visible[-1].id) if len(images) > ON_A_PAGE else ""
    current_query = f"?q={quote(query, safe='')}&cursor={quote(cursor, safe='')}"
    return fragment(
        "media.html",
        plugin,
        request,
        status=400 if failed[0] else 200,
        rows=[
            _row(plugin, image, [(id_, titles[id_]) for id_ in uses[image.id] if id_ in titles], failed)
            for image in visible
        ],
        query=query,
        older=bool(cursor),
        more=f"?q={quote(query, safe='')}&cursor={following}" if following else "",
        action=f"{root_of(plugin)}{PATH}{current_query}",
        path=root_of(plugin) + PATH,
        longest=MAX_ALT_LENGTH,
        max_bytes=plugin.config.max_image_bytes,
        message="The alt text is saved." if request.query.get("done") == "alt" else "",
    )


def _row(
    plugin: PluginContext[ImagesConfig], media: Media, uses: Sequence[tuple[str, str]], failed: tuple[str, str, str]
) -> dict[str, Any]:
    """Return an image's template values. A hotlinked image has no thumbnail: the CSP blocks other hosts."""
    is_rejected = failed[0] == media.id
    shown_width, shown_height = display_size(media.width, media.height)
    return {
        "id": media.id,
        "name": media.title or media.filename,
        "url": _link(media.url),
        "thumb": "" if media.hotlinked else f"{root_of(plugin)}{THUMBNAILS}/{media.id}",
        "shown_width": shown_width,
        "shown_height": shown_height,
        "size": f"{media.width} × {media.height} pixels" if media.width and media.height else "",
        "provider": "Your image" if media.provider == "library" else media.provider,
        "license": media.license.get("code", ""),
        "license_url": _link(media.license.get("url", "")),
        "credit": media.credit.get("text", ""),
        "page_url": _link(media.page_url),
        "alt": failed[1] if is_rejected else media.alt_text,
        "has_alt": bool(media.alt_text),
        "error": failed[2] if is_rejected else "",
        "uses": uses[:_MAX_USES],
        "more_uses": max(0, len(uses) - _MAX_USES),
    }


def _link(url: str) -> str:
    """Return an http or https URL, or an empty string for anything else: provider data is untrusted."""
    return url if url.startswith(("https://", "http://")) else ""


def _form_of(request: HttpRequest) -> Mapping[str, str]:
    fields = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1].replace("\0", "") for name, values in fields.items()}


def root_of(plugin: PluginContext[ImagesConfig]) -> str:
    """Return the path prefix of the server's URLs; usually empty."""
    return urlsplit(plugin.base_url).path.rstrip("/")


def fragment(
    template: str, plugin: PluginContext[ImagesConfig], request: HttpRequest | None, *, status: int = 200, **values: Any
) -> HttpResponse:
    """Render a part of a page. With a dashboard request, its forms get a CSRF token."""
    values |= {"root": root_of(plugin), "token": request.csrf_token if request else ""}
    text = plugin.templates.render(template, **values)
    return HttpResponse(text.encode("utf-8", "replace"), status, headers={"Cache-Control": "no-store"})
