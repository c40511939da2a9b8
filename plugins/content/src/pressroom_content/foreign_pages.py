"""What pages of websites say of themselves. They may be made to keep a parser busy: read them in a worker process."""

from __future__ import annotations

from dataclasses import dataclass

from pressroom.sdk import InvalidInput
from selectolax.lexbor import LexborHTMLParser, SelectolaxError


@dataclass(frozen=True, slots=True)
class LivePageHead:
    """The canonical URL and the robots rules of a page, empty where it has none, and its titles and first headings."""

    canonical: str
    robots: str
    titles: tuple[str, ...]


def read_live_page(content: bytes) -> LivePageHead:
    """Return what an HTML page in UTF-8 says. Raises `InvalidInput` where it takes more memory than there is."""
    tree = _parsed(content)
    return LivePageHead(
        canonical=_attribute(tree, 'link[rel="canonical"]', "href"),
        robots=_attribute(tree, "meta[name=robots]", "content"),
        titles=tuple(node.text() for node in tree.css("h1, title")),
    )


def names_meta(content: bytes, name: str, value: str) -> bool:
    """Tell whether the head of an HTML page in UTF-8 has a `meta` element of a name with a value.

    Raises:
        InvalidInput: the page takes more memory than there is.
    """
    head = _parsed(content).head
    tags = head.css("meta[name][content]") if head is not None else []
    return any(
        (tag.attributes.get("name") or "").lower() == name and tag.attributes.get("content") == value for tag in tags
    )


def _parsed(content: bytes) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(content.decode("utf-8", "replace"))
    except SelectolaxError:
        raise InvalidInput("", "its HTML is nested too deep to be read") from None


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get(name) or "") if node is not None else ""
