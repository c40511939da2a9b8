"""Converting HTML from the clipboard to Markdown. Word processors write lists and bold text in their own ways."""

from __future__ import annotations

import re
from typing import Final

from pressroom_content.rendering.from_html import to_markdown

# Each repetition is limited or ends at the next tag, so that hostile HTML cannot take quadratic time.
_SPAN = re.compile(r"<span\b([^<>]{0,4000})>([^<]*)</span>")
_STYLES: Final = (
    (re.compile(r"font-weight:\s*(?:bold|[6-9]00)"), "strong"),
    (re.compile(r"font-style:\s*italic"), "em"),
    (re.compile(r"text-decoration:[^;]{0,100}line-through"), "s"),
)
_WORD_ITEM = re.compile(
    r"<p\b[^<>]{0,1000}\bMsoListParagraph[^<>]{0,1000}>\s{0,100}"
    r"<!\[if !supportLists\]>((?:(?!<p\b|<!\[).)*)<!\[endif\]>((?:(?!</?p\b).)*)</p>",
    re.DOTALL,
)
_TAG = re.compile(r"<[^<>]*>")
_NUMBERED = re.compile(r"\s*(?:\d+|[a-z]{1,4})[.)]", re.IGNORECASE)
_NEIGHBOURS = re.compile(r"</(ul|ol)>\s*<\1>")


def pasted_markdown(html: str) -> str:
    """Convert HTML from the clipboard to Markdown, sanitised. Lists of Microsoft Word lose their levels.

    Raises:
        InvalidInput: the HTML is nested too deeply, or has too many tags.
    """
    html = _NEIGHBOURS.sub("", _WORD_ITEM.sub(_word_item, html))
    return to_markdown(_SPAN.sub(_marked, html))


def _word_item(paragraph: re.Match[str]) -> str:
    tag = "ol" if _NUMBERED.match(_TAG.sub("", paragraph[1])) else "ul"
    return f"<{tag}><li>{paragraph[2]}</li></{tag}>"


def _marked(span: re.Match[str]) -> str:
    """Return a span of Google Docs with elements instead of styles."""
    attributes, text = span.groups()
    for style, tag in _STYLES:
        if text.strip() and style.search(attributes):
            text = f"<{tag}>{text}</{tag}>"
    return text
