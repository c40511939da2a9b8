"""Reading sitemaps (sitemaps.org, protocol 0.9): XML, an index of them, plain text, and any of these in gzip."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from pressroom_seo.crawler.content import gunzip
from pressroom_seo.crawler.urls import normalise

MAX_URLS: Final = 50_000
"""How many addresses one sitemap may list; the protocol's own bound."""

MAX_SITEMAP_BYTES: Final = 52_428_800
"""How many bytes one sitemap may have unpacked; the protocol's own bound."""

_SPACE_OF_NAMES = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
_CHUNK = 65_536
"""Bytes that are parsed at once. No tag and no text may fill a whole chunk: a tag is parsed in one go, however many
attributes it has, and nothing else runs meanwhile."""

_MAX_TEXT_LENGTH = 4096
_MAX_DEPTH = 32

Kind = Literal["urlset", "index", "text", "unknown"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One address of a sitemap, normalised, with its `lastmod` as it is written."""

    url: str
    lastmod: str = ""


@dataclass(slots=True)
class Sitemap:
    """What a sitemap lists: pages, or other sitemaps. `problem` is empty, or says why it could not be read whole."""

    url: str
    kind: Kind = "unknown"
    entries: list[Entry] = field(default_factory=list)
    unreadable: int = 0
    """How many of its addresses are none."""

    too_large: bool = False
    problem: str = ""


def read_sitemap(url: str, content: bytes, *, whole: bool = True, most_urls: int = MAX_URLS) -> Sitemap:
    """Return what a sitemap lists, as much of it as can be read.

    No document type, no entity and nothing outside of the document is ever read.

    Args:
        url: where it was found; relative addresses are relative to it.
        content: as it was sent; gzip is recognised by its first bytes.
        whole: whether `content` is all of it.
        most_urls: where reading ends.
    """
    sitemap = Sitemap(url)
    if content[:2] == b"\x1f\x8b":
        unpacked = gunzip(content, MAX_SITEMAP_BYTES)
        content, whole = unpacked.content, whole and unpacked.whole
        sitemap.problem = unpacked.problem
    sitemap.too_large = not whole
    start = content[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        _read_xml(sitemap, content, most_urls)
    elif start:
        _read_text(sitemap, content, most_urls)
    else:
        sitemap.problem = sitemap.problem or "it is empty"
    return sitemap


def _read_text(sitemap: Sitemap, content: bytes, most: int) -> None:
    for line in content.decode("utf-8", "replace").split("\n"):
        if line.strip():
            _add(sitemap, line.strip(), "", most)
    sitemap.kind = "text"
    if not sitemap.entries:
        sitemap.kind = "unknown"
        sitemap.problem = "it is neither XML nor a list of addresses"


def _read_xml(sitemap: Sitemap, content: bytes, most: int) -> None:
    target = _Target(sitemap, most)
    parser = DefusedXMLParser(target=target, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    try:
        for at in range(0, len(content), _CHUNK):
            chunk = content[at : at + _CHUNK]
            if len(chunk) == _CHUNK and b"<" not in chunk:
                sitemap.problem = f"it has a tag or a text of more than {_CHUNK} bytes"
                return
            parser.feed(chunk)
        if not sitemap.too_large:
            parser.close()
    except DefusedXmlException:
        sitemap.problem = "it has a document type or entities, which a sitemap must not have"
    except ParseError as error:
        sitemap.problem = f"it is no well-formed XML: {error}"[:200]
    except (ValueError, LookupError) as error:
        sitemap.problem = f"its encoding cannot be read: {error}"[:200]
    except _Enough as reason:
        sitemap.problem = str(reason)
    if sitemap.kind == "unknown" and not sitemap.problem:
        sitemap.problem = "its root element is neither urlset nor sitemapindex"


class _Enough(Exception):
    """The rest of the document is not read."""


class _Target:
    """Takes the parser's events and keeps only addresses: no tree is built."""

    def __init__(self, sitemap: Sitemap, most: int) -> None:
        self._sitemap = sitemap
        self._most = most
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._length = 0
        self._values: dict[str, str] = {}

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        name = tag.removeprefix(_SPACE_OF_NAMES)
        if not self._path and name in ("urlset", "sitemapindex"):
            self._sitemap.kind = "urlset" if name == "urlset" else "index"
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise _Enough("its elements are nested too deep")
        if len(self._path) == 2:
            self._values = {}
        self._text, self._length = ([], 0) if len(self._path) == 3 and name in ("loc", "lastmod") else (None, 0)

    def data(self, text: str) -> None:
        if self._text is not None and self._length < _MAX_TEXT_LENGTH:
            self._text.append(text)
            self._length += len(text)

    def end(self, _tag: str) -> None:
        name = self._path.pop()
        if self._text is not None:
            self._values[name] = "".join(self._text).strip()
            self._text = None
        if len(self._path) == 1 and name in ("url", "sitemap"):
            _add(self._sitemap, self._values.get("loc", ""), self._values.get("lastmod", ""), self._most)
            if self._sitemap.too_large:
                raise _Enough("")

    def close(self) -> None:
        """Nothing is kept open."""


def _add(sitemap: Sitemap, loc: str, lastmod: str, most: int) -> None:
    if len(sitemap.entries) >= most:
        sitemap.too_large = True
        return
    url = normalise(loc, sitemap.url)
    if url is None:
        sitemap.unreadable += 1
    else:
        sitemap.entries.append(Entry(url, lastmod[:40]))
