"""The images of an article, in their libraries and on their way to a website: IDs, hosting, captions and credits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from typing import Final, Literal

import nh3
import structlog
from pressroom.sdk import BackendError, NotFound, PluginContext, PressroomError

from pressroom_content.articles.fields import MEDIA_ID
from pressroom_content.contract import Article, MediaFile, MediaLibrary, RemoteMedia, SiteUnavailable, media_libraries

log = structlog.get_logger()

MAX_IMAGES: Final = 100
"""The maximum number of images that are sent with one article."""

_NOTE_SECONDS: Final = 10.0
"""Time limit for a media library to note the images of an article."""

_IMG = re.compile(r'<img\b(?>(?:[^<>"]++|"[^"<>]*+")*)>')
"""An image in sanitised HTML, where `<` and `>` are escaped in attributes."""

_MARKDOWN_IMAGE = re.compile(r"!\[(?>(?:[^\[\]\n]++|(?<!!)\[)*)\]\([^()\n]*+\)")
_NO_URL: Final = frozenset("()\"'<>")
"""Characters that end a URL in HTML and in Markdown, besides white space."""

_REST_OF_URL = re.compile(r"[^\s()\"'<>]*+")
_ALONE = re.compile(
    r'<p>\s*+((?>(?:<a\b(?>(?:[^<>"]++|"[^"<>]*+")*)>)?)<img\b(?>(?:[^<>"]++|"[^"<>]*+")*)>(?>(?:</a>)?))\s*+</p>'
)
"""A paragraph that consists of one image, or a link around one image."""

_CAPTION_FOLLOWS = re.compile(r"\s*+(?>(?:</a>)?)\s*+<figcaption\b")
_END_OF_LINK = re.compile(r"\s*+</a>")
_END_OF_FIGURE = re.compile(r"\s*+</figure>")
_MARKED = re.compile(r"([\\`*_{}\[\]])")
_CREDIT_TAGS: Final = {"a", "em", "strong", "span", "cite", "small"}

Policy = Literal["rehost", "hotlink", "none"]
Way = Literal["upload", "link", "leave_out"]


@dataclass(frozen=True, slots=True)
class PostImage:
    """An image of the account's library, and how it reaches the website."""

    file: MediaFile
    way: Way

    @property
    def credit_html(self) -> str:
        """The image's required credit line, sanitised."""
        return nh3.clean(self.file.credit_html, tags=_CREDIT_TAGS) if self.file.credit_html else ""

    @property
    def caption(self) -> str:
        """The caption as plain text on one line."""
        return " ".join(self.file.caption.split())

    @property
    def without_content(self) -> PostImage:
        """The image without its bytes, for a worker that only places it in a text."""
        return PostImage(replace(self.file, content=b""), self.way)

    def at(self, uploaded: Mapping[str, RemoteMedia]) -> RemoteMedia | None:
        """Return where the image is hosted, or `None` if it is not available."""
        if self.way == "upload":
            return uploaded.get(self.file.id)
        return RemoteMedia("", self.file.url) if self.way == "link" else None


def inline_ids(html: str) -> Sequence[str]:
    """Return the IDs of the library images in a text, without duplicates, in order of appearance."""
    identifiers = (identifier for tag in _IMG.findall(html) for identifier in MEDIA_ID.findall(tag))
    return list(dict.fromkeys(identifiers))


async def note_images(plugin: PluginContext, article: Article, media_ids: Iterable[str]) -> None:
    """Notify the media libraries of the images that a stored article has, so that they keep them."""
    media_ids = list(islice(media_ids, MAX_IMAGES))
    for library in [library for _, library in media_libraries(plugin) if library.used is not None]:
        try:
            with plugin.extensions.calling(f"media library {library.name}", library, seconds=_NOTE_SECONDS):
                await _note_in(library, plugin, article, media_ids)
        except PressroomError as error:
            # The article is stored, so the call must not fail.
            log.warning("a media library could not note images", library=library.name, error=error.message)


async def _note_in(library: MediaLibrary, plugin: PluginContext, article: Article, media_ids: Iterable[str]) -> None:
    for media_id in media_ids:
        if library.used is not None:
            with suppress(NotFound):  # an image of another library
                await library.used(plugin, article.user_id, media_id, article.id)


async def read_images(
    plugin: PluginContext, user_id: str, ids: Iterable[str], *, policy: Policy, can_upload: bool
) -> tuple[Mapping[str, PostImage], Sequence[str]]:
    """Return the images by ID, and warnings about the images that were left out.

    Raises `SiteUnavailable` if an image cannot be read at the moment.
    """
    libraries = [library for _, library in media_libraries(plugin)]
    images: dict[str, PostImage] = {}
    warnings: list[str] = []
    for number, identifier in enumerate(ids):
        if number >= MAX_IMAGES:
            warnings.append(f"the article has more than {MAX_IMAGES} images; the others were not sent")
            break
        file = await _read(plugin, libraries, user_id, identifier)
        if file is None:
            warnings.append(f"the image {identifier} is no longer in the media library; it was left out")
            continue
        way = _way(file, policy, can_upload=can_upload)
        images[identifier] = PostImage(file, way)
        if way == "leave_out" and policy != "none":
            warnings.append(f"the image {file.filename} may neither be uploaded nor linked; it was left out")
    return images, warnings


def placed(
    html: str,
    markdown: str,
    images: Mapping[str, PostImage],
    uploaded: Mapping[str, RemoteMedia],
    *,
    figures: bool = True,
) -> tuple[str, str]:
    """Return a text, in both formats, with the current URLs of its images and their captions and credits below them.

    `figures` is whether the HTML may contain figures.
    """
    same_format = markdown == html
    identifiers = inline_ids(html)
    targets: dict[str, str] = {}
    visible: dict[str, PostImage] = {}
    for identifier in identifiers:
        image = images.get(identifier)
        target = image.at(uploaded) if image else None
        if image is not None and target is not None:
            targets[identifier], visible[identifier] = target.url, image
    if lacking := frozenset(identifiers) - visible.keys():
        html, markdown = _without(_IMG, html, lacking), _without(_MARKDOWN_IMAGE, markdown, lacking)
    html = _credited(_captioned(html, visible, figures=figures), visible)
    markdown = _with_lines(markdown, visible)
    html = "".join(_moved(html, {identifier: escape(url) for identifier, url in targets.items()}))
    markdown = "".join(_moved(markdown, targets))
    return html, html if same_format else markdown


def with_featured_credit(html: str, markdown: str, image: PostImage | None) -> tuple[str, str]:
    """Return a text with the credit of the featured image appended."""
    if image is None or not image.credit_html:
        return html, markdown
    same_format, text = markdown == html, image.file.credit_text
    if image.credit_html not in html and not (text and escape(text, quote=False) in html):
        html = f"{html.rstrip()}\n<p><small>{image.credit_html}</small></p>\n"
    if text and not _says(markdown, text):
        markdown = f"{markdown.rstrip()}\n\n*{_as_markdown(text)}*\n"
    return html, html if same_format else markdown


async def _read(
    plugin: PluginContext, libraries: Sequence[MediaLibrary], user_id: str, identifier: str
) -> MediaFile | None:
    for library in libraries:
        try:
            return await library.read(plugin, user_id, identifier)
        except NotFound:
            continue
        except BackendError as error:
            raise SiteUnavailable(f"the image {identifier} cannot be read at the moment: {error.message}") from error
    return None


def _way(file: MediaFile, policy: Policy, *, can_upload: bool) -> Way:
    """Return how an image reaches a site. Hotlink-only images are never copied."""
    linkable = bool(file.url)
    if policy == "none":
        return "leave_out"
    if file.hosting == "hotlink" or (policy == "hotlink" and file.hosting == "either"):
        return "link" if linkable else "leave_out"
    if can_upload and file.content:
        return "upload"
    return "link" if linkable else "leave_out"


def _moved(text: str, urls: Mapping[str, str]) -> Iterator[str]:
    """Yield the parts of a text in which each URL that contains an ID is replaced by the new URL for that ID."""
    end = 0
    for match in MEDIA_ID.finditer(text):
        start = match.start()
        if match[0] not in urls or start < end:
            continue
        while start > end and not (text[start - 1] in _NO_URL or text[start - 1].isspace()):
            start -= 1
        yield text[end:start]
        yield urls[match[0]]
        tail = _REST_OF_URL.match(text, match.end())
        end = tail.end() if tail else match.end()
    yield text[end:]


def _with_lines(markdown: str, images: Mapping[str, PostImage]) -> str:
    """Insert captions and credits as plain text below their images, unless the text contains them already."""
    lines: dict[str, list[str]] = {}
    for identifier, image in images.items():
        caption, credit = _as_markdown(image.caption), image.file.credit_text
        lines[identifier] = [caption] if caption and f"*{caption}*" not in markdown else []
        if credit and not _says(markdown, credit):
            lines[identifier].append(_as_markdown(credit))
    parts: list[str] = []
    written = 0
    inserted = ""
    for match in _MARKDOWN_IMAGE.finditer(markdown) if any(lines.values()) else ():
        for identifier in MEDIA_ID.findall(match[0]):
            new_lines = [line for line in lines.pop(identifier, ()) if line not in inserted]
            parts += [markdown[written : match.end()], *(f"\n*{line}*" for line in new_lines)]
            inserted = "\n".join([inserted, *new_lines])
            written = match.end()
    return "".join([*parts, markdown[written:]])


def _says(markdown: str, line: str) -> bool:
    return line in markdown or _as_markdown(line) in markdown


def _as_markdown(text: str) -> str:
    """Escape plain text so that Markdown shows it literally."""
    return _MARKED.sub(r"\\\1", escape(text, quote=False))


def _without(images: re.Pattern[str], text: str, lacking: frozenset[str]) -> str:
    """Return a text without the images that have one of these IDs."""
    return images.sub(lambda match: match[0] if lacking.isdisjoint(MEDIA_ID.findall(match[0])) else "", text)


def _credited(html: str, images: Mapping[str, PostImage]) -> str:
    """Insert each credit after its image: in the caption if there is one, otherwise after an enclosing link.

    Links cannot be nested.
    """
    lines: dict[str, str] = {}
    for identifier, image in images.items():
        credit, text = image.credit_html, escape(image.file.credit_text, quote=False)
        before = (html, *lines.values())
        if credit and not any(credit in part or (text and text in part) for part in before):
            lines[identifier] = credit
    parts: list[str] = []
    written = 0
    in_link = False
    at = 0
    for match in _IMG.finditer(html) if lines else ():
        in_link, at = _is_link_open(html, at, match.end(), in_link), match.end()
        for identifier in dict.fromkeys(MEDIA_ID.findall(match[0])):
            credit = lines.pop(identifier, "")
            if credit:
                end = max(written, _end_of_image(html, match.end(), in_link=in_link))
                parts += [html[written:end], f"<br><small>{credit}</small>"]
                written = end
    return "".join([*parts, html[written:]])


def _is_link_open(html: str, start: int, end: int, before: bool) -> bool:
    opened, closed = html.rfind("<a ", start, end), html.rfind("</a>", start, end)
    return before if opened == closed else opened > closed


def _end_of_image(html: str, end: int, *, in_link: bool) -> int:
    """Return the position at which to insert the credit of an image that ends at `end`."""
    if _CAPTION_FOLLOWS.match(html, end):
        return max(end, html.find("</figcaption>", end))
    return max(end, html.find("</a>", end) + len("</a>")) if in_link else end


def _captioned(html: str, images: Mapping[str, PostImage], *, figures: bool) -> str:
    """Insert missing captions below images, in a figure if the image is alone in its paragraph."""
    captions = {identifier: escape(image.caption, quote=False) for identifier, image in images.items()}
    captions = {
        identifier: caption for identifier, caption in captions.items() if caption and f">{caption}<" not in html
    }
    if not captions:
        return html
    first_image: dict[str, str] = {}

    def caption_of(image: str) -> str:
        """Return the caption of an image; empty if another image already shows the same caption."""
        identifier = next((identifier for identifier in MEDIA_ID.findall(image) if identifier in captions), "")
        caption = captions.get(identifier, "")
        return caption if caption and first_image.setdefault(caption, identifier) == identifier else ""

    def alone(match: re.Match[str]) -> str:
        caption = caption_of(match[1])
        return f"<figure>{match[1]}<figcaption>{caption}</figcaption></figure>" if caption else match[0]

    html = _ALONE.sub(alone, html) if figures else html
    parts: list[str] = []
    written = 0
    for match in _IMG.finditer(html):
        caption = "" if _CAPTION_FOLLOWS.match(html, match.end()) else caption_of(match[0])
        if not caption:
            continue
        closing = _END_OF_LINK.match(html, match.end())
        end = closing.end() if closing else match.end()
        in_figure = figures and _END_OF_FIGURE.match(html, end)
        below = f"<figcaption>{caption}</figcaption>" if in_figure else f"<br><em>{caption}</em>"
        parts += [html[written:end], below]
        written = end
    return "".join([*parts, html[written:]])
