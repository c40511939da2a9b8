"""The images of an article on their way to a website: which ones there are, where they may lie, who is to be named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Final, Literal

import nh3
from pressroom.sdk import BackendError, NotFound, PluginContext

from pressroom_content.contract import MediaFile, MediaLibrary, RemoteMedia, SiteUnavailable

MOST: Final = 100
"""Images of one article that are sent at most."""

_ID = re.compile(r"(?<![0-9A-Za-z])m_[0-9A-Za-z]{22}(?![0-9A-Za-z])", re.ASCII)
_IMG = re.compile(r'<img\b(?:[^>"]|"[^"]*")*>')
_IN_MARKDOWN = r"!\[[^\]\n]*\]\([^)\n]*{id}[^)\n]*\)"
_URL = r"[^\s()\"'<>]*(?<![0-9A-Za-z]){id}(?![0-9A-Za-z])[^\s()\"'<>]*"
_CREDIT_TAGS: Final = {"a", "em", "strong", "span", "cite", "small"}

Policy = Literal["rehost", "hotlink", "none"]
Way = Literal["upload", "link", "leave_out"]


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of the account's library, and the way that it takes to the website."""

    file: MediaFile
    way: Way

    @property
    def credit_html(self) -> str:
        """The line that has to stand by it, made safe."""
        return nh3.clean(self.file.credit_html, tags=_CREDIT_TAGS) if self.file.credit_html else ""

    def at(self, uploaded: Mapping[str, RemoteMedia]) -> RemoteMedia | None:
        """Return where it lies, or `None` where it lies nowhere."""
        if self.way == "upload":
            return uploaded.get(self.file.id)
        return RemoteMedia("", self.file.url) if self.way == "link" else None


def inline_ids(html: str) -> Sequence[str]:
    """Return the ids of the library's images that stand in a text, each once, in their order."""
    found = (identifier for tag in _IMG.findall(html) for identifier in _ID.findall(tag))
    return list(dict.fromkeys(found))


async def read_pictures(
    plugin: PluginContext, user_id: str, ids: Iterable[str], *, policy: Policy, can_upload: bool
) -> tuple[Mapping[str, Picture], Sequence[str]]:
    """Return the images by id, and what is wrong with others, in words.

    Raises `SiteUnavailable` where an image cannot be read at the moment.
    """
    libraries = [
        record for _, record in sorted(plugin.extensions.of("pressroom_media_libraries"), key=lambda one: one[0])
    ]
    found: dict[str, Picture] = {}
    warnings: list[str] = []
    for number, identifier in enumerate(ids):
        if number >= MOST:
            warnings.append(f"the article has more than {MOST} images; the others were not sent")
            break
        file = await _read(plugin, libraries, user_id, identifier)
        if file is None:
            warnings.append(f"the image {identifier} is not in the media library any more; it was left out")
            continue
        way = _way(file, policy, can_upload=can_upload)
        found[identifier] = Picture(file, way)
        if way == "leave_out" and policy != "none":
            warnings.append(f"the image {file.filename} may neither be uploaded nor linked; it was left out")
    return found, warnings


def placed(
    html: str, markdown: str, pictures: Mapping[str, Picture], uploaded: Mapping[str, RemoteMedia]
) -> tuple[str, str]:
    """Return a text, in both its forms, with the images where they lie now and their credits beside them."""
    for identifier in inline_ids(html):
        picture = pictures.get(identifier)
        target = picture.at(uploaded) if picture else None
        if picture is None or target is None:
            html = _without(html, identifier)
            markdown = re.sub(_IN_MARKDOWN.format(id=identifier), "", markdown)
            continue
        html = _credited(html, identifier, picture)
        markdown = _credited_markdown(markdown, identifier, picture.file.credit_text)
        address = re.compile(_URL.format(id=identifier))
        html = address.sub(partial(_always, escape(target.url)), html)
        markdown = address.sub(partial(_always, target.url), markdown)
    return html, markdown


def with_featured_credit(html: str, markdown: str, picture: Picture | None) -> tuple[str, str]:
    """Return a text with the featured image's credit at its end."""
    if picture is None or not picture.credit_html:
        return html, markdown
    text = picture.file.credit_text
    if picture.credit_html not in html and not (text and text in html):
        html = f"{html.rstrip()}\n<p><small>{picture.credit_html}</small></p>\n"
    if text and text not in markdown:
        markdown = f"{markdown.rstrip()}\n\n*{text}*\n"
    return html, markdown


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
    """Return how an image comes to a site. One that may only be hotlinked is never copied."""
    linkable = bool(file.url)
    if policy == "none":
        return "leave_out"
    if file.hosting == "hotlink" or (policy == "hotlink" and file.hosting == "either"):
        return "link" if linkable else "leave_out"
    if can_upload and file.content:
        return "upload"
    return "link" if linkable else "leave_out"


def _always(text: str, _match: re.Match[str]) -> str:
    return text  # a replacement as it is: `re.sub` would read backslashes in a text


def _credited_markdown(markdown: str, identifier: str, credit: str) -> str:
    if not credit or credit in markdown:
        return markdown
    image = re.search(_IN_MARKDOWN.format(id=identifier), markdown)
    return markdown if image is None else f"{markdown[: image.end()]}\n*{credit}*{markdown[image.end() :]}"


def _without(html: str, identifier: str) -> str:
    return _IMG.sub(lambda match: "" if identifier in match[0] else match[0], html)


def _credited(html: str, identifier: str, picture: Picture) -> str:
    """Put the credit behind an image, and behind the link that it stands in: links cannot stand inside each other."""
    credit = picture.credit_html
    if not credit or credit in html or (picture.file.credit_text and picture.file.credit_text in html):
        return html
    for match in _IMG.finditer(html):
        if identifier in match[0]:
            end = match.end()
            if html.rfind("<a ", 0, end) > html.rfind("</a>", 0, end):
                end = html.find("</a>", end) + len("</a>")
            return f"{html[:end]}<br><small>{credit}</small>{html[end:]}"
    return html
