"""Parsers for sitemaps (sitemaps.org 0.9) and llms.txt."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from pressroom_seo.document.decoding import gunzip
from pressroom_seo.urls import normalise

MAX_URLS: Final = 50_000
"""Maximum number of URLs in one sitemap, as set by the protocol."""

MAX_SITEMAP_BYTES: Final = 52_428_800
"""Maximum size of one uncompressed sitemap in bytes, as set by the protocol."""

_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_IN_NAMESPACE = f"{{{_NAMESPACE}}}"
_ROOTS = ("urlset", "sitemapindex")
_CHUNK = 65_536
"""Bytes fed to the parser at a time. A chunk without `<` is rejected: the parser handles a tag in one go, however many
attributes it has, and blocks everything else meanwhile."""

_MAX_TEXT_LENGTH = 4096
_MAX_DEPTH = 32

Kind = Literal["urlset", "index", "text", "unknown"]


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL of a sitemap, normalised, with its `lastmod` as written."""

    url: str
    lastmod: str = ""


@dataclass(slots=True)
class Sitemap:
    """A parsed sitemap or sitemap index. `problem` states why it could not be parsed completely; empty otherwise."""

    url: str
    kind: Kind = "unknown"
    entries: list[SitemapEntry] = field(default_factory=list)
    unreadable: int = 0
    """Number of entries that are not valid URLs."""

    too_large: bool = False
    problem: str = ""


def read_sitemap(
    url: str, content: bytes, *, whole: bool = True, problem: str = "", most_urls: int = MAX_URLS
) -> Sitemap:
    """Parse a sitemap in XML or plain text, keeping the entries before any error.

    Document types, entities and external references are rejected.

    Args:
        url: the sitemap's URL; relative URLs are resolved against it.
        content: the content as received; gzip is detected by its magic bytes.
        whole: whether `content` is complete.
        problem: why it is not, if it is damaged and not too large.
        most_urls: maximum number of entries to read.
    """
    sitemap = Sitemap(url, problem=problem)
    if content[:2] == b"\x1f\x8b":
        unpacked = gunzip(content, MAX_SITEMAP_BYTES)
        content, whole = unpacked.content, whole and unpacked.whole
        sitemap.problem = problem or unpacked.problem
    sitemap.too_large = not whole and not sitemap.problem
    start = content[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        _read_xml(sitemap, content, most_urls, whole=whole)
    elif start:
        _read_text(sitemap, content, most_urls, whole=whole)
    else:
        sitemap.problem = sitemap.problem or "it is empty"
    return sitemap


def _read_text(sitemap: Sitemap, content: bytes, max_urls: int, *, whole: bool) -> None:
    lines = content.decode("utf-8", "replace").split("\n")
    for line in lines if whole else lines[:-1]:  # the last line may be cut
        if line.strip() and not _add(sitemap, line.strip(), "", max_urls):
            break
    sitemap.kind = "text"
    if not sitemap.entries:
        sitemap.kind = "unknown"
        sitemap.problem = sitemap.problem or "it is neither XML nor a list of URLs"


def _read_xml(sitemap: Sitemap, content: bytes, max_urls: int, *, whole: bool) -> None:
    target = _Target(sitemap, max_urls)
    parser = DefusedXMLParser(target=target, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    try:
        for start in range(0, len(content), _CHUNK):
            chunk = content[start : start + _CHUNK]
            if len(chunk) == _CHUNK and b"<" not in chunk:
                sitemap.problem = f"it has a tag or a text of more than {_CHUNK} bytes"
                return
            parser.feed(chunk)
        if whole:
            parser.close()
    except DefusedXmlException:
        sitemap.problem = "it has a document type or entities, which a sitemap must not have"
    except ParseError as error:
        sitemap.problem = f"it is not well-formed XML: {error}"[:200]
    except (ValueError, LookupError) as error:
        sitemap.problem = f"its encoding cannot be read: {error}"[:200]
    except _LimitReached as reason:
        sitemap.problem = str(reason)
    if sitemap.kind == "unknown" and not sitemap.problem:
        known = target.root in _ROOTS
        sitemap.problem = (
            f"its namespace is not {_NAMESPACE}" if known else "its root element is neither urlset nor sitemapindex"
        )


class _LimitReached(Exception):
    """Stops the parser early."""


class _Target:
    """A streaming parser target that keeps only URLs and builds no tree."""

    def __init__(self, sitemap: Sitemap, max_urls: int) -> None:
        self.root = ""
        self._sitemap = sitemap
        self._max_urls = max_urls
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._length = 0
        self._values: dict[str, str] = {}

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        name = tag.removeprefix(_IN_NAMESPACE)
        if not self._path:
            self.root = tag.rpartition("}")[2]
            if name in _ROOTS:
                self._sitemap.kind = "urlset" if name == "urlset" else "index"
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise _LimitReached("its elements are nested too deep")
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
        if len(self._path) == 1 and name in ("url", "sitemap") and not self._add():
            raise _LimitReached("")

    def _add(self) -> bool:
        return _add(self._sitemap, self._values.get("loc", ""), self._values.get("lastmod", ""), self._max_urls)

    def close(self) -> None:
        """Do nothing; the parser requires this method."""


def _add(sitemap: Sitemap, loc: str, lastmod: str, max_urls: int) -> bool:
    """Add an entry, and return whether there was room for it."""
    if len(sitemap.entries) >= max_urls:
        sitemap.too_large = True
        return False
    url = normalise(loc, sitemap.url)
    if url is None:
        sitemap.unreadable += 1
    else:
        sitemap.entries.append(SitemapEntry(url, lastmod[:40]))
    return True


MAX_LLMS_TXT_BYTES: Final = 2_000_000
"""Maximum number of bytes of an llms.txt to parse."""

_ENTRY = re.compile(r"^\s*[-*+]\s+\[([^\]]*)\]\(\s*<?([^)\s>]+)[^)]*\)\s*:?\s*(.*)$")
_LIST = re.compile(r"^\s*[-*+]\s+")
_MAX_LINE_LENGTH = 4000
_MAX_ENTRIES = 5000
_MAX_LLMS_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class LlmsEntry:
    """One link of an llms.txt; `url` is normalised."""

    title: str
    url: str
    note: str
    section: str


@dataclass(frozen=True, slots=True)
class LlmsTxt:
    """A parsed llms.txt; `problems` are human-readable."""

    title: str
    summary: str
    sections: tuple[str, ...]
    entries: tuple[LlmsEntry, ...]
    problems: tuple[str, ...]


def read_llms_txt(content: bytes, url: str) -> LlmsTxt:
    """Parse an llms.txt and list its violations of the convention.

    Args:
        content: the file's bytes, decoded as UTF-8.
        url: the file's URL; relative links are resolved against it.
    """
    text = content[:MAX_LLMS_TXT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    title = summary = ""
    sections: list[str] = []
    entries: list[LlmsEntry] = []
    problems: list[str] = []
    for number, full_line in enumerate(text.splitlines(), 1):
        line = full_line[:_MAX_LINE_LENGTH]
        if line.startswith("# "):
            problems += [f"line {number}: a second title"] if title else []
            title = title or line[2:].strip()[:200]
        elif line.startswith("## "):
            sections.append(line[3:].strip()[:200])
        elif line.startswith(">") and not sections:
            summary = f"{summary} {line[1:].strip()}".strip()[:1000]
        elif _LIST.match(line) and sections and len(entries) < _MAX_ENTRIES:
            entry = _entry(line, url, sections[-1])
            if entry is None:
                problems.append(f"line {number}: no link of the form - [title](url): note")
            else:
                entries.append(entry)
    if not title:
        problems.insert(0, "it has no title: its first line must be # and the site's name")
    if not entries:
        problems.append("it lists no pages: below a line of ## come lines of the form - [title](url): note")
    return LlmsTxt(title, summary, tuple(sections[:100]), tuple(entries), tuple(problems[:_MAX_LLMS_PROBLEMS]))


def _entry(line: str, base: str, section: str) -> LlmsEntry | None:
    match = _ENTRY.match(line)
    url = normalise(match[2], base) if match else None
    if match is None or url is None:
        return None
    return LlmsEntry(match[1].strip()[:200], url, match[3].strip()[:300], section)
