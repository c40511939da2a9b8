"""Review of an article's images for search engines and readers.

Sources: Google Search Central, "Image SEO best practices"; web.dev, "Lazy loading images" and "Use modern formats";
WCAG 2.2, 1.1.1 (alternative texts).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pressroom.sdk import FetchFailed, FetchRefused, InvalidInput, NotFound, PluginContext
from pressroom_content.contract import Article, ArticleReview, render_body
from pydantic import BaseModel, Field
from selectolax.lexbor import LexborHTMLParser

from pressroom_images.library.files import inspect
from pressroom_images.library.store import Library, Media

HEAVY_BYTES: Final = 200_000
TOO_HEAVY_BYTES: Final = 500_000
MAX_SIDE: Final = 2560
MAX_ALT_LENGTH: Final = 125
MAX_IMAGES: Final = 50
_MAX_FETCHED: Final = 20
_MAX_BYTES: Final = 10_485_760
_SECONDS: Final = 8.0
_OLD_FORMATS: Final = frozenset({"image/gif", "image/png", "image/bmp"})

_MEDIA_ID = re.compile(r"(?<![0-9A-Za-z])m_[0-9A-Za-z]{22}(?![0-9A-Za-z])", re.ASCII)
_FILE_NAME = re.compile(
    r"(?:img|dsc|image|photo|screenshot)?[\s_-]*\d*\.(?:jpe?g|png|gif|webp|avif)|\S+\.(?:jpe?g|png|gif)", re.IGNORECASE
)

Severity = Literal["critical", "warning", "notice"]
_ORDER: Final = ("critical", "warning", "notice")


class ImageReport(BaseModel):
    """An image of an article."""

    url: str
    role: Literal["featured", "inline"]
    media_id: str = Field(description="Its id in the library; empty if it is not from there.")
    alt_text: str
    media_type: str = Field(description="Empty where it could not be seen.")
    width: int = Field(description="In pixels; 0 if unknown.")
    height: int
    bytes: int = Field(description="0 if unknown.")
    license: str = Field(description="The code of its licence; empty if unknown.")
    reachable: bool


class ImageIssue(BaseModel):
    """Something to fix."""

    severity: Severity
    check_id: str
    url: str = Field(description="The image; empty if the article as a whole is meant.")
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class _ReferencedImage:
    """An image as referenced by the article."""

    url: str
    role: Literal["featured", "inline"]
    alt: str | None
    media: Media | None
    lazy: bool
    sized: bool
    first: bool


async def review_article(plugin: PluginContext, article: Article) -> ArticleReview:
    """Review an article's images for a part of the article check."""
    images, issues = await review(plugin, article)
    data = {"images": [image.model_dump() for image in images], "issues": [issue.model_dump() for issue in issues]}
    return ArticleReview(data, tuple(map(_line, issues)))


def _line(issue: ImageIssue) -> str:
    where = f" ({issue.url})" if issue.url else ""
    return f"{issue.severity}, {issue.check_id}{where}: {issue.message}. {issue.fix}"


async def review(plugin: PluginContext, article: Article) -> tuple[list[ImageReport], list[ImageIssue]]:
    """Return reports on an article's images, and the issues to fix, most severe first."""
    images = await _images(plugin, article)
    issues: list[ImageIssue] = []
    if not article.featured_media_id:
        message = "the article has no featured image: links to it will show none"
        issues.append(
            _issue("warning", "featured_image", "", message, "Choose one with search_images, then import it.")
        )
    slots = asyncio.Semaphore(4)

    async def report(number: int, image: _ReferencedImage) -> ImageReport:
        async with slots:
            return await _report(plugin, article.user_id, image, fetch=number < _MAX_FETCHED)

    reports = await asyncio.gather(*(report(number, image) for number, image in enumerate(images)))
    for image, image_report in zip(images, reports, strict=True):
        issues += _issues(image, image_report)
    return list(reports), sorted(issues, key=lambda issue: _ORDER.index(issue.severity))


async def _images(plugin: PluginContext, article: Article) -> Sequence[_ReferencedImage]:
    library = Library(plugin)

    async def media_of(media_id: str) -> Media | None:
        try:
            return await library.get(article.user_id, media_id)
        except NotFound:
            return None

    images: list[_ReferencedImage] = []
    if article.featured_media_id:
        media = await media_of(article.featured_media_id)
        url = media.url if media else ""
        images.append(_ReferencedImage(url, "featured", article.featured_alt, media, lazy=True, sized=True, first=True))
    run, owner = plugin.services.workers.run, article.user_id
    html = await run(render_body, article.body, article.body_format, owner=owner, what="the article")
    for position, node in enumerate(LexborHTMLParser(html).css("img")[:MAX_IMAGES]):
        attributes = node.attributes
        url = attributes.get("src") or ""
        match = _MEDIA_ID.search(url)
        images.append(
            _ReferencedImage(
                url,
                "inline",
                attributes.get("alt"),
                await media_of(match[0]) if match else None,
                lazy=attributes.get("loading") == "lazy",
                sized=bool(attributes.get("width") and attributes.get("height")),
                first=position == 0,
            )
        )
    return images


async def _report(plugin: PluginContext, owner: str, image: _ReferencedImage, *, fetch: bool) -> ImageReport:
    media = image.media
    report = ImageReport(
        url=image.url,
        role=image.role,
        media_id=media.id if media else "",
        alt_text=image.alt or "",
        media_type=media.media_type if media else "",
        width=media.width if media else 0,
        height=media.height if media else 0,
        bytes=media.size if media else 0,
        license=str(media.license.get("code", "")) if media else "",
        reachable=bool(media and media.size),
    )
    if report.reachable or not fetch or not image.url.startswith(("https://", "http://")):
        return report
    try:
        response = await plugin.services.fetcher.get(
            image.url, accept="image/*", max_bytes=_MAX_BYTES, seconds=_SECONDS
        )
        if response.status != 200:
            return report
        file = await plugin.services.workers.run(inspect, response.content, _MAX_BYTES, owner=owner, what="an image")
    except (FetchFailed, FetchRefused, InvalidInput):
        return report
    sizes = {"media_type": file.media_type, "width": file.width, "height": file.height, "bytes": len(file.content)}
    return report.model_copy(update={**sizes, "reachable": True})


def _issues(image: _ReferencedImage, report: ImageReport) -> Iterator[ImageIssue]:
    yield from _about_texts(image)
    yield from _about_files(image, report)
    if image.url.startswith("http://"):
        yield _issue("warning", "image_https", image.url, "the image is loaded over plain http", "Use its https URL.")
    if image.media is None and image.role == "inline":
        message = "the image is not from the library: its licence is unknown, and it may disappear"
        yield _issue("notice", "image_license", image.url, message, "Import it with import_image, and use its url.")
    if image.role == "inline" and not image.first and not image.lazy:
        message = "the image is loaded at once, although it is further down"
        yield _issue(
            "notice", "image_lazy", image.url, message, 'Add loading="lazy", where the platform does not by itself.'
        )


def _about_texts(image: _ReferencedImage) -> Iterator[ImageIssue]:
    alt = (image.alt or "").strip()
    if not alt:
        message = "the image has no alt text"
        yield _issue("critical", "image_alt", image.url, message, "Describe in a few words what it shows.")
    elif _FILE_NAME.fullmatch(alt):
        yield _issue(
            "warning", "image_alt", image.url, f"the alt text {alt!r} is a file name", "Describe what it shows."
        )
    elif len(alt) > MAX_ALT_LENGTH:
        message = f"the alt text has {len(alt)} characters"
        yield _issue("notice", "image_alt", image.url, message, f"Keep it below {MAX_ALT_LENGTH}.")


def _about_files(image: _ReferencedImage, report: ImageReport) -> Iterator[ImageIssue]:
    if not report.reachable:
        message = "the image cannot be reached"
        yield _issue("critical", "image_reachable", image.url, message, "Check its URL, or import another image.")
        return
    size = f"{report.bytes / 1000:,.0f} kB"
    if report.bytes > TOO_HEAVY_BYTES:
        fix = f"Reduce it to less than {HEAVY_BYTES // 1000} kB: fewer pixels, or WebP."
        yield _issue("warning", "image_weight", image.url, f"the image has {size}", fix)
    elif report.bytes > HEAVY_BYTES:
        fix = f"{HEAVY_BYTES // 1000} kB or less loads faster."
        yield _issue("notice", "image_weight", image.url, f"the image has {size}", fix)
    if report.media_type in _OLD_FORMATS and report.bytes > HEAVY_BYTES:
        name = report.media_type.removeprefix("image/").upper()
        yield _issue("notice", "image_format", image.url, f"a {name} of {size}", "WebP or AVIF holds the same in less.")
    if max(report.width, report.height) > MAX_SIDE:
        message = f"the image has {report.width} x {report.height} pixels"
        fix = f"{MAX_SIDE} pixels are enough for any screen."
        yield _issue("notice", "image_dimensions", image.url, message, fix)
    if image.role == "inline" and not image.sized:
        message = "the image has no width and height: the page jumps while it loads"
        yield _issue(
            "notice", "image_dimensions", image.url, message, "Add width and height, where the platform does not."
        )


def _issue(severity: Severity, check_id: str, url: str, message: str, fix: str) -> ImageIssue:
    return ImageIssue(severity=severity, check_id=check_id, url=url, message=message, fix=fix)
