"""Making HTML safe to show, and saying what that took away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import nh3
from selectolax.lexbor import LexborHTMLParser

from pressroom_content.records import BodyFormat
from pressroom_content.rendering.bounds import check_depth, check_html
from pressroom_content.rendering.markdown import html_of_markdown
from pressroom_content.rendering.rules import RULES, SCHEMES, Sanitiser, attribute_value

_WITH_CONTENT: Final = frozenset({"script", "style", "template", "noscript", "object", "svg", "math", "xmp", "title"})
"""Elements that go with everything inside them: none of it is meant to be read."""

_EMPTY_FRAME = re.compile(
    r"<iframe(?:\s(?:allowfullscreen|height|loading|title|width|class|dir|id|lang)=\"[^\"<>]*+\")*+></iframe>"
)
_FRAME_OF_THE_PARSER: Final = frozenset({"html", "head", "body", "tbody"})
_MAX_REMOVED: Final = 50
COMMENTS: Final = "comments"

_Parts = Counter[tuple[str, str]]
"""How often there is an element (with an empty second name), or an attribute of it."""


@dataclass(frozen=True, slots=True)
class SanitisedHtml:
    """HTML that is safe to show, and what of the original is not in it, in words."""

    html: str
    removed: tuple[str, ...] = ()


def render(body: str, body_format: BodyFormat, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Return a body as sanitised HTML. It takes about a second for a megabyte: call it in a thread.

    Raises:
        InvalidInput: the body is nested too deep, or too intricate to be parsed in time.
    """
    return sanitise(html_of_markdown(body) if body_format == "markdown" else body, sanitiser)


def sanitise(html: str, sanitiser: Sanitiser = "full") -> SanitisedHtml:
    """Return HTML without anything that could run, load or restyle the page that it is shown on.

    Raises:
        InvalidInput: it is nested too deep, or has too many tags.
    """
    check_html(html)
    before = _counted(html)
    cleaned = _cleaner(sanitiser).clean(html)
    emptied = "".join(_emptied(cleaned))
    removed = [*_removed(before - _counted(emptied), sanitiser)]
    if "".join(emptied.split()) != "".join(cleaned.split()):
        removed.append("what stood inside <iframe>")
    if "<!--" in html:
        removed.append(COMMENTS)
    return SanitisedHtml(_EMPTY_FRAME.sub("", emptied), tuple(removed))


def _emptied(cleaned: str) -> Iterator[str]:
    """Yield the parts of cleaned HTML without what stands inside of frames.

    A parser reads that as text, so the cleaner leaves tags in it as they are; they would come to life in a page that
    goes without the frame.
    """
    at = 0
    while (start := cleaned.find("<iframe", at)) >= 0:
        opened = cleaned.find(">", start) + 1  # the cleaner escapes it in attributes
        closed = cleaned.find("</iframe>", opened)
        yield cleaned[at : opened or None]
        if not opened or closed < 0:
            return
        at = closed
    yield cleaned[at:]


@cache
def _cleaner(sanitiser: Sanitiser) -> nh3.Cleaner:
    rules = RULES[sanitiser]
    return nh3.Cleaner(
        tags=set(rules.tags),
        attributes={tag: set(names) for tag, names in rules.attributes.items()},
        clean_content_tags=set(_WITH_CONTENT),
        attribute_filter=attribute_value,
        url_schemes=set(SCHEMES),
        link_rel=None,
        strip_comments=True,
    )


def _removed(gone: _Parts, sanitiser: Sanitiser) -> Iterator[str]:
    """Yield what is gone in words, the most frequent first."""
    tags = RULES[sanitiser].tags
    shown = 0
    for (tag, attribute), count in gone.most_common():
        if tag in _FRAME_OF_THE_PARSER or (attribute and tag not in tags and tag != "iframe"):
            continue
        if attribute and gone[tag, ""] >= count:
            continue  # it went with its element
        shown += 1
        if shown > _MAX_REMOVED:
            yield "and more"
            return
        times = f" ({count} times)" if count > 1 else ""
        yield (f"the attribute {attribute} of <{tag}>" if attribute else f"<{tag}>") + times


def _counted(html: str) -> _Parts:
    found: _Parts = Counter()
    root = LexborHTMLParser(html).root
    if root is None:
        return found
    check_depth(root)
    for node in root.traverse(include_text=False):
        tag = _shortened(node.tag or "")
        if tag.startswith("-"):
            continue  # comments and the like
        found[tag, ""] += 1
        for attribute in node.attributes:
            found[tag, _shortened(attribute)] += 1
    return found


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
