"""Checking the images of an article: alt text, size, weight, format, loading, licence. It needs no network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from pressroom_seo.scoring.article import Article, ImageFacts
from pressroom_seo.scoring.context import split_address
from pressroom_seo.scoring.document import (
    Document,
    Image,
    clean_text,
    document_from_html,
    document_from_markdown,
)

Severity = Literal["error", "warning", "notice"]

MAX_ALT_LENGTH: Final = 100
HEAVY, TOO_HEAVY = 500_000, 1_000_000
SHARE_WIDTH: Final = 1200
_ABOVE_FOLD: Final = 1
"""How many images at the start are taken to be seen at once, so that loading them lazily delays the page."""

_OVERSIZE: Final = 2.5
"""An image with more than so many times the pixels of its width on the page wastes weight; screens use up to two."""

_MODERN: Final = frozenset({"image/webp", "image/avif", "image/svg+xml", "image/jxl"})
_MIMES: Final = {
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "svg": "image/svg+xml", "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff",
    "heic": "image/heic", "ico": "image/x-icon", "jxl": "image/jxl",
}  # fmt: skip
_NOT_ON_THE_WEB: Final = frozenset({"image/bmp", "image/tiff", "image/heic"})
_FILE_NAME: Final = re.compile(r"[\w .()-]+\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic)", re.IGNORECASE)
_CAMERA_NAME: Final = re.compile(
    r"(?:img|dsc[nf]?|pict?|image|photo|screenshot|screen-shot|untitled|unnamed|download|wp)?[-_ ]?[\d_ -]{2,}",
    re.IGNORECASE,
)
_EMPTY_ALT: Final = re.compile(
    r"(?:image|picture|photo|photograph|img|graphic|icon|logo|untitled|alt)\W*\d*", re.IGNORECASE
)
_PHRASE_OPENING: Final = re.compile(
    r"(?:an? )?(?:image|picture|photo|photograph|graphic) (?:of|showing)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ImageIssue:
    """A fault of one image. `image` is its address, `check` a stable name."""

    image: str
    check: str
    severity: Severity
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class ImageReport:
    """An image as it is known; what is None is not known. `weight` is in bytes, sizes in pixels."""

    src: str
    alt: str | None
    role: Literal["featured", "body"]
    mime: str
    weight: int | None
    width: int | None
    height: int | None
    loading: str
    licence: str
    credit_shown: bool | None


@dataclass(frozen=True, slots=True)
class ImagesReport:
    """All images of an article, and what is wrong with them, the gravest first."""

    images: tuple[ImageReport, ...]
    issues: tuple[ImageIssue, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return asdict(self)


def check_images(article: Article) -> ImagesReport:
    """Return what is known of an article's images and what is wrong. Any article gives a report."""
    body = clean_text(article.body)
    document = document_from_html(body) if article.format == "html" else document_from_markdown(body)
    images = list(document.images)
    reports = [_report(one, article.images, document, "body") for one in images]
    issues = [issue for at, one in enumerate(images) for issue in _issues(at, one, article, document)]
    issues += _repeated_alts(images)
    if article.featured_image:
        featured = Image(clean_text(article.featured_image), article.featured_image_alt, loading="eager")
        if all(one.src != featured.src for one in images):
            reports.insert(0, _report(featured, article.images, document, "featured"))
            issues += _source_issues(featured, article, document)
        issues += _featured_issues(featured, article)
    elif not images:
        issues.append(_no_images())
    rank = {"error": 0, "warning": 1, "notice": 2}
    return ImagesReport(tuple(reports), tuple(sorted(issues, key=lambda issue: rank[issue.severity])))


def has_credit(text: str, facts: ImageFacts) -> bool:
    """Tell whether a text carries the credit that is owed for an image, or will, once it is published.

    Words are compared, marks and case are not.
    """
    if facts.credit_added:
        return True
    wanted = _plain(facts.credit)
    return bool(wanted) and wanted in _plain(text)


def mime_of(src: str, facts: ImageFacts | None) -> str:
    """Return the media type of an image, as it is known or by the ending of its address; empty where neither says."""
    if facts and facts.mime:
        return facts.mime.lower()
    embedded = re.match(r"data:([\w.+/-]+)", src)
    if embedded:
        return embedded[1].lower()
    parts = split_address(src)
    ending = parts.path.rpartition(".")[2].lower() if parts else ""
    return _MIMES.get(ending, "")


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", clean_text(text).casefold()))


def _report(
    image: Image, known: Mapping[str, ImageFacts], document: Document, role: Literal["featured", "body"]
) -> ImageReport:
    facts = known.get(image.src)
    owed = facts is not None and facts.credit_required
    return ImageReport(
        src=image.src if len(image.src) <= 2000 else f"{image.src[:100]}…",
        alt=image.alt,
        role=role,
        mime=mime_of(image.src, facts),
        weight=facts.weight if facts else None,
        width=(facts.width if facts else None) or image.width,
        height=(facts.height if facts else None) or image.height,
        loading=image.loading,
        licence=facts.licence if facts else "",
        credit_shown=has_credit(document.prose, facts) if owed and facts else None,
    )


def _issues(at: int, image: Image, article: Article, document: Document) -> Iterator[ImageIssue]:
    yield from _alt_issues(image)
    yield from _loading_issues(at, image, document)
    yield from _size_issues(image, article.images.get(image.src), document)
    yield from _source_issues(image, article, document)


def _alt_issues(image: Image) -> Iterator[ImageIssue]:
    if image.decorative:
        return
    alt = (image.alt or "").strip()
    fix = "Say in a few words what the image shows and why it is there."
    if image.alt is None or not alt:
        yield _issue(image, "alt_missing", "error", "The image has no alt text.", fix)
    elif len(alt) > MAX_ALT_LENGTH:
        message = f"The alt text has {len(alt)} characters; screen readers cannot pause in it."
        yield _issue(
            image, "alt_too_long", "warning", message, f"Cut it to {MAX_ALT_LENGTH} characters; use a caption."
        )
    elif _FILE_NAME.fullmatch(alt) or _EMPTY_ALT.fullmatch(alt):
        yield _issue(image, "alt_says_nothing", "warning", f"The alt text “{alt}” says nothing of the image.", fix)
    elif _PHRASE_OPENING.match(alt):
        message = "The alt text begins by saying that it is an image, which screen readers say anyway."
        yield _issue(image, "alt_opening", "notice", message, "Begin with what it shows.")


def _loading_issues(at: int, image: Image, document: Document) -> Iterator[ImageIssue]:
    if at < _ABOVE_FOLD and image.loading == "lazy":
        message = "The first image is loaded lazily, so the page seems slow."
        yield _issue(
            image, "first_image_lazy", "warning", message, "Take loading=lazy away, and add fetchpriority=high."
        )
    elif at > _ABOVE_FOLD and image.loading != "lazy" and not document.markdown:
        message = "The image is loaded at once, though it is further down."
        yield _issue(image, "not_lazy", "notice", message, "Add loading=lazy.")


def _size_issues(image: Image, facts: ImageFacts | None, document: Document) -> Iterator[ImageIssue]:
    known = facts is not None and facts.width and facts.height
    if not (image.width and image.height) and not document.markdown and not known:
        message = "Width and height are missing: the text jumps when the image loads."
        yield _issue(image, "dimensions_missing", "warning", message, "Set both to the image's own pixels.")
    if facts is None or not facts.width or not image.width:
        return
    if facts.width > _OVERSIZE * image.width and not image.srcset:
        message = f"The image has {facts.width} px for {image.width} px on the page."
        yield _issue(image, "oversized", "warning", message, f"Offer it at {2 * image.width} px, or with srcset.")
    if image.height and facts.height and abs(facts.width / facts.height - image.width / image.height) > 0.05:
        message = "Width and height on the page have another ratio than the image: it is distorted, or the text jumps."
        yield _issue(
            image, "ratio_differs", "warning", message, f"Use {facts.width} and {facts.height}, or their ratio."
        )


def _source_issues(image: Image, article: Article, document: Document) -> Iterator[ImageIssue]:
    facts = article.images.get(image.src)
    yield from _address_issues(image, article)
    yield from _format_issues(image, facts)
    if facts is None:
        return
    if facts.weight is not None and facts.weight > HEAVY:
        severity: Severity = "error" if facts.weight > TOO_HEAVY else "warning"
        message = f"The image has {facts.weight / 1000:.0f} kB; up to {HEAVY // 1000} kB load well."
        yield _issue(image, "too_heavy", severity, message, "Use fewer pixels, or the format WebP or AVIF.")
    if facts.credit_required and not has_credit(document.prose, facts):
        message = f"The licence {facts.licence or '(unknown)'} asks for a credit, which the article lacks."
        fix = f"Add under the image: {facts.credit or 'author, source and licence'}"
        yield _issue(image, "credit_missing", "error", message, fix)
    if facts.hotlink_only and not _is_foreign(image, article):
        message = "The licence allows only to show the image from its source; this is a copy."
        yield _issue(image, "copy_not_allowed", "error", message, "Use the source's own address of the image.")


def _address_issues(image: Image, article: Article) -> Iterator[ImageIssue]:
    if not image.src:
        yield _issue(image, "no_source", "error", "The image has no address.", "Set src.")
        return
    if image.src.startswith("data:"):
        if len(image.src) > 4_000:
            message = "The image is written into the page, so search engines do not list it."
            yield _issue(image, "embedded", "notice", message, "Publish it as a file of its own.")
        return
    parts = split_address(image.src)
    own = split_address(article.url)
    if parts is not None and parts.scheme == "http" and own is not None and own.scheme == "https":
        message = "The image is fetched without encryption, which browsers block on an https page."
        yield _issue(image, "mixed_content", "error", message, "Use https.")
    name = parts.path.rpartition("/")[2].rpartition(".")[0] if parts else ""
    if name and _CAMERA_NAME.fullmatch(name):
        message = f"The file name “{name[:60]}” says nothing of the image."
        yield _issue(image, "file_name", "notice", message, "Name the file by what it shows, with hyphens.")


def _format_issues(image: Image, facts: ImageFacts | None) -> Iterator[ImageIssue]:
    mime = mime_of(image.src, facts)
    if mime in _NOT_ON_THE_WEB:
        message = f"Many browsers do not show {mime}."
        yield _issue(image, "format", "error", message, "Convert it to WebP, AVIF or JPEG.")
    elif mime and mime not in _MODERN and facts and (facts.weight or 0) > HEAVY // 5:
        message = f"{mime} is heavier than need be."
        yield _issue(image, "format", "notice", message, "Offer it as WebP or AVIF.")


def _featured_issues(image: Image, article: Article) -> Iterator[ImageIssue]:
    facts = article.images.get(image.src)
    if article.featured_image_alt is not None or facts:
        yield from _alt_issues(image) if article.featured_image_alt is not None else ()
    if facts and facts.width and facts.width < SHARE_WIDTH:
        message = f"The featured image is {facts.width} px wide; previews and Google Discover want {SHARE_WIDTH}."
        yield _issue(image, "featured_small", "warning", message, f"Use one of {SHARE_WIDTH} px or more.")


def _repeated_alts(images: list[Image]) -> Iterator[ImageIssue]:
    different = {one.src: one for one in images if one.alt and not one.decorative}.values()
    counts = Counter((one.alt or "").casefold() for one in different)
    for image in different:
        if counts[(image.alt or "").casefold()] > 1:
            message = f"Several images have the alt text “{(image.alt or '')[:60]}”."
            yield _issue(image, "alt_repeated", "notice", message, "Say what tells them apart.")


def _is_foreign(image: Image, article: Article) -> bool:
    parts, own = split_address(image.src), split_address(article.url)
    if parts is None or not parts.hostname:
        return False
    return own is None or parts.hostname != own.hostname


def _no_images() -> ImageIssue:
    fix = "Add one that shows what the text says, and name it as the featured image."
    return ImageIssue("", "no_images", "warning", "The article has no image.", fix)


def _issue(image: Image, check: str, severity: Severity, message: str, fix: str) -> ImageIssue:
    return ImageIssue(image.src[:500] or "(no address)", check, severity, message, fix)
