"""Extraction of the facts about an HTML page that the site checks use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from pressroom_seo.document.decoding import DecodedPage, decode
from pressroom_seo.document.markup import (
    MAX_PAGE_LENGTH,
    alternative_text,
    bounded_html,
    is_decorative,
    is_hidden,
    is_sized,
    media_source,
    relations,
    safe_html,
)
from pressroom_seo.document.model import NOT_FOLLOWED, Alternate, PageFacts, PageImage, PageLink, simhash, words_of
from pressroom_seo.structured_data.extraction import crawled_structured_data
from pressroom_seo.urls import has_session, normalise

MAX_LINKS: Final = 1000
MAX_IMAGES: Final = 300

_DOCTYPE = re.compile(r"\s*+(?>(?:(?:<!--(?>.*?-->)|<\?[^>]*+>)\s*+)*)<!doctype\s+html", re.IGNORECASE | re.DOTALL)
_DIGITS = re.compile(r"\d+")
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?['\"]?([^'\"]*)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\blorem ipsum dolor\b", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_SILENT = ["script", "style", "noscript", "template", "svg", "iframe"]
_INLINE = frozenset({"-text", "-comment", "span", "a", "abbr", "mark", "q", "sub", "sup", "wbr"})
_FRAME = ["nav", "header", "footer", "aside"]
_MAX_BYTES = 2 * MAX_PAGE_LENGTH
_SAMPLES = 10
_MIN_WORDS = 20


def read_page(content: bytes, content_type: str, url: str) -> PageFacts:
    """Extract the facts of an HTML page.

    Args:
        content: the decompressed bytes.
        content_type: the full value of the `Content-Type` header, which may declare the encoding.
        url: the page's URL; relative URLs are resolved against it.
    """
    cut = len(content) > _MAX_BYTES
    decoded = decode(_whole_letters(content[:_MAX_BYTES]) if cut else content, content_type)
    return _Page(decoded, url, cut=cut).facts()


def _whole_letters(content: bytes) -> bytes:
    """Drop the last UTF-8 character of truncated content, which may be incomplete."""
    end = len(content)
    while end > len(content) - 4 and content[end - 1] & 0xC0 == 0x80:
        end -= 1
    return content[: end - 1]


def _tidy(text: str | None, max_length: int = 500) -> str:
    return _SPACES.sub(" ", (text or "")[: 4 * max_length]).strip()[:max_length]


@dataclass(frozen=True, slots=True)
class _Text:
    words: list[str]
    placeholder: bool


class _Page:
    """One parsed page."""

    def __init__(self, decoded: DecodedPage, url: str, *, cut: bool) -> None:
        text, shortened = bounded_html(decoded.text)
        text = safe_html(text)
        self._cut = cut or shortened
        self._decoded = decoded
        self._url = url
        self._doctype = bool(_DOCTYPE.match(text[:2000]))
        self._tree = LexborHTMLParser(text)
        self._base = self._base_url()

    def facts(self) -> PageFacts:
        """Extract the facts. Call it only once: extracting the text modifies the tree."""
        decoded = self._decoded
        fields: dict[str, Any] = {
            **self._head(),
            **self._metas(),
            **self._links(),
            **self._images(),
            **self._resources(),
            "headings": self._headings(),
            "structured": crawled_structured_data(self._tree),
            "elements": len(self._tree.css("*")),
        }
        text = self._text()
        title = fields["titles"][0] if fields["titles"] else ""
        joined = " ".join(text.words)
        return PageFacts(
            encoding=decoded.encoding,
            encoding_http=decoded.http,
            encoding_meta=decoded.meta,
            encoding_bom=decoded.source == "bom",
            damaged=decoded.damaged,
            doctype=self._doctype,
            words=len(text.words),
            text_hash=_hash(joined) if text.words else "",
            form_hash=_hash(_DIGITS.sub("#", f"{title}\n{joined}")),
            simhash=simhash(text.words),
            placeholder=text.placeholder,
            cut=self._cut,
            **fields,
        )

    def _absolute(self, reference: str | None) -> str | None:
        return normalise((reference or "").strip(), self._base)

    def _base_url(self) -> str:
        node = self._tree.css_first("base[href]")
        return (normalise(node.attributes.get("href") or "", self._url) if node else None) or self._url

    def _css(self, selector: str) -> list[LexborNode]:
        return self._tree.css(selector)

    def _head(self) -> dict[str, Any]:
        root = self._tree.root
        canonicals = [node.attributes.get("href") or "" for node in self._css('link[rel~="canonical" i]')[:_SAMPLES]]
        alternates = [
            Alternate(
                _tidy(node.attributes.get("hreflang"), 40).lower(), self._absolute(node.attributes.get("href")) or ""
            )
            for node in self._css('link[rel~="alternate" i][hreflang]')[:200]
        ]
        return {
            "language": _tidy(root.attributes.get("lang"), 40) if root is not None else "",
            # SVG elements have titles too.
            "titles": _few(node.text() for node in self._css("title") if not _is_inside(node, "svg")),
            "canonicals": tuple(self._absolute(href) or "" for href in canonicals),
            "canonical_relative": any("://" not in href for href in canonicals),
            "alternates": tuple(alternates),
            "icon": bool(self._css('link[rel~="icon" i]')),
        }

    def _metas(self) -> dict[str, Any]:
        metas: dict[str, list[str]] = {}
        for node in self._css("meta[content]")[:300]:
            attributes = node.attributes
            names = {attributes.get("name") or "", attributes.get("property") or ""}
            if attributes.get("http-equiv"):
                # A noscript refresh only applies to browsers without JavaScript.
                names = set() if _is_inside(node, "noscript") else {f"http-equiv:{attributes['http-equiv']}"}
            for name in {name.strip().lower()[:60] for name in names if name}:
                metas.setdefault(name, []).append(_tidy(attributes.get("content"), 1000))
        robots = ",".join([*metas.get("robots", ()), *metas.get("googlebot", ())]).lower()
        refresh = metas.get("http-equiv:refresh", [""])[0]
        leads = _REFRESH.match(refresh) if ";" in refresh or "," in refresh else None
        return {
            "descriptions": _few(metas.get("description", ())),
            "viewport": metas.get("viewport", [""])[0],
            "robots": tuple(dict.fromkeys(part.strip() for part in robots.split(",") if part.strip()))[:20],
            "refresh": self._absolute(leads[1]) if leads and leads[1].strip() else None,
            "meta_headers": tuple(header for name, header in _IN_META.items() if any(metas.get(name, ()))),
            "open_graph": _open_graph(metas),
            "twitter": {name: values[0] for name, values in metas.items() if name.startswith("twitter:")},
        }

    def _links(self) -> dict[str, Any]:
        links: list[PageLink] = []
        uncrawlable: list[str] = []
        unreadable: list[str] = []
        sessions: list[str] = []
        nodes = self._css("a[href]")
        for node in nodes[:MAX_LINKS]:
            href = (node.attributes.get("href") or "").strip()
            url = self._absolute(href)
            if url is None:
                kind = href.partition(":")[0].lower() if ":" in href else ""
                # An element with a role, such as button, is not used as a link.
                if kind == "javascript" and not (node.attributes.get("role") or "").strip():
                    uncrawlable.append(href[:200])
                elif kind != "javascript":
                    unreadable.append(href[:200])
                continue
            if has_session(href):
                sessions.append(href[:200])
            if not href.startswith("#"):
                nofollow = not NOT_FOLLOWED.isdisjoint(relations(node.attributes))
                unseen = is_hidden(node.attributes) or node.attributes.get("aria-hidden") == "true"
                links.append(PageLink(url, self._link_text(node), nofollow, unseen))
        uncrawlable += ["<a> without href" for node in self._css("a[onclick]:not([href])")[:_SAMPLES]]
        return {
            "links": tuple(links),
            "links_total": len(nodes),
            "uncrawlable": tuple(uncrawlable[:_SAMPLES]),
            "unreadable": tuple(text for text in unreadable if _is_meant_for_http(text))[:_SAMPLES],
            "with_session": tuple(sessions[:_SAMPLES]),
        }

    def _images(self) -> dict[str, Any]:
        nodes = self._css("img")
        images = []
        for node in nodes[:MAX_IMAGES]:
            attributes = node.attributes
            source = media_source(attributes)
            url = "" if source.startswith("data:") else self._absolute(source) or ""
            alt = alternative_text(attributes)
            is_fallback = _is_inside(node, "noscript")
            hidden = is_fallback or is_decorative(attributes)
            sized = is_fallback or is_sized(attributes)
            images.append(PageImage(url, "" if hidden and alt is None else alt if alt is None else alt[:300], sized))
        return {"images": tuple(images), "images_total": len(nodes)}

    def _resources(self) -> dict[str, Any]:
        insecure: list[str] = []
        for selector, name in _LOADED:
            for node in self._css(selector):
                url = self._absolute(node.attributes.get(name))
                if url is not None and url.startswith("http:"):
                    insecure.append(url)
        forms = [self._absolute(node.attributes.get("action")) or "" for node in self._css("form[action]")]
        head = self._tree.head
        blocking = 0
        if head is not None:
            scripts = head.css("script[src]:not([async]):not([defer]):not([type=module])")
            blocking = len(scripts) + len(head.css('link[rel="stylesheet" i]:not([media="print"])'))
        return {
            "insecure": tuple(dict.fromkeys(insecure))[:_SAMPLES],
            "insecure_forms": tuple(url for url in forms if url.startswith("http:"))[:_SAMPLES],
            "blocking": blocking,
        }

    def _headings(self) -> tuple[tuple[int, str], ...]:
        headings = []
        for node in self._css("h1, h2, h3, h4, h5, h6")[:200]:
            if _is_unseen(node):
                continue
            alternatives = [
                child.attributes.get(name) or "" for child in node.css("img, [aria-label]") for name in _NAMING
            ]
            headings.append((int((node.tag or "h1")[1]), _tidy(_text_of(node, 600) or " ".join(alternatives), 300)))
        return tuple(headings)

    def _link_text(self, node: LexborNode) -> str:
        """Return a link's accessible name: its label, text, image alternatives or title."""
        labels = (node.attributes.get("aria-labelledby") or "").split()[:_SAMPLES]
        name = " ".join(self._labels.get(label, "") for label in labels).strip()
        name = name or node.attributes.get("aria-label") or _tidy(_text_of(node, 300), 120)
        if name:
            return _tidy(name, 120)
        alternatives = " ".join(image.attributes.get("alt") or "" for image in node.css("img[alt]")[:_SAMPLES])
        return _tidy(alternatives or node.attributes.get("title"), 120)

    @cached_property
    def _labels(self) -> dict[str, str]:
        """Texts of the elements with an ID; empty if no link uses `aria-labelledby`."""
        if self._tree.css_first("a[aria-labelledby]") is None:
            return {}
        return {
            node.attributes.get("id") or "": _tidy(_text_of(node, 300), 120) for node in self._css("[id]")[:MAX_LINKS]
        }

    def _text(self) -> _Text:
        """Extract the main text. Modifies the tree."""
        body = self._tree.body
        if body is None:
            return _Text([], placeholder=False)
        body.strip_tags(_SILENT, recursive=True)
        text = _text_of(body)
        all_words = words_of(text)
        placeholder = bool(_PLACEHOLDER.search(text))
        main = body.css_first("main, [role=main]") or body.css_first("article")
        if main is None:
            body.strip_tags(_FRAME, recursive=True)
            main = body
        words = words_of(_text_of(main))
        return _Text(words if len(words) >= _MIN_WORDS else all_words, placeholder)


_UNOPENED: Final = frozenset({"dialog", "noscript", "template"})
_NAMING: Final = ("alt", "aria-label")
_IN_META: Final = {"http-equiv:content-security-policy": "content-security-policy", "referrer": "referrer-policy"}
"""Headers that a page can set with meta elements, by the name of the meta element."""

_LOADED: Final = (
    ("script[src]", "src"),
    ('link[rel~="stylesheet" i]', "href"),
    ("iframe[src]", "src"),
    ("img[src]", "src"),
    ("source[src]", "src"),
    ("video[src]", "src"),
    ("audio[src]", "src"),
)


def _few(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_tidy(text) for text, _ in zip(texts, range(_SAMPLES), strict=False))


def _open_graph(metas: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the Open Graph properties. `og:image:url` is an alias of `og:image` (ogp.me)."""
    properties = {name: values[0] for name, values in metas.items() if name.startswith("og:")}
    image = next(
        (properties[name] for name in ("og:image", "og:image:url", "og:image:secure_url") if properties.get(name)), ""
    )
    return properties | ({"og:image": image} if image else {})


def _is_unseen(node: LexborNode) -> bool:
    """Return whether an element or an ancestor is hidden, or is a dialog, `noscript` or `template`."""
    current: LexborNode | None = node
    while current is not None and current.tag != "html":
        if current.tag in _UNOPENED or is_hidden(current.attributes):
            return True
        current = current.parent
    return False


def _is_inside(node: LexborNode, tag: str) -> bool:
    ancestor = node.parent
    while ancestor is not None and ancestor.tag != tag:
        ancestor = ancestor.parent
    return ancestor is not None


def _text_of(node: LexborNode, max_length: int = MAX_PAGE_LENGTH) -> str:
    """Return an element's text with a space at block boundaries, but not at inline ones: a half-bold word is one word.

    Stops once characters and nodes together exceed `max_length`.
    """
    parts: list[str] = []
    length = 0
    for child in node.traverse(include_text=True):
        previous = child.prev
        if child.tag not in _INLINE or (previous is not None and previous.tag not in _INLINE):
            parts.append(" ")
        if child.tag == "-text":
            parts.append(child.text_content or "")
            length += len(parts[-1])
        length += 1
        if length > max_length:
            break
    return "".join(parts).strip()


def _is_meant_for_http(href: str) -> bool:
    """Return whether an invalid link was probably meant as an http URL."""
    scheme = re.match(r"\s*([A-Za-z][A-Za-z0-9+.-]*):", href)
    return scheme is None or scheme[1].lower() in ("http", "https", "htp", "htpp", "htttp", "ttps", "hhttps")


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
