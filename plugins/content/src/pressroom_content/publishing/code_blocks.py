"""Code blocks on web pages: their text, without line numbers and buttons, and their language."""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborNode

from pressroom_content.publishing.structure import MAX_VALUE, UNSEEN

_LANGUAGE: Final = re.compile(
    r"(?:^|[\s;])(?:language|lang|highlight-source|highlight-text|brush:|sourceCode)[-:\s]*([\w+#.-]{1,40})", re.ASCII
)
_NUMBERS: Final = re.compile(r"(?:^|[\s_-])(?:ln|lnt|lnlinks|lineno|linenos|line-numbers?|gutter|gl)(?:$|[\s_-])")


def code_of(block: LexborNode) -> str:
    """Return the text of a code block, without the line numbers and buttons that pages add to it."""
    parts: list[str] = []
    stack = [block]
    while stack:
        node = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "br":
            parts.append("\n")
        elif not tag.startswith("-") and tag not in UNSEEN:
            attributes = node.attributes
            hidden = attributes.get("aria-hidden") == "true"
            numbers = _NUMBERS.search((attributes.get("class") or "")[:MAX_VALUE]) is not None
            if (hidden or numbers) and node is not block and tag in ("span", "td", "a", "div"):
                continue
            stack += reversed(list(node.iter(include_text=True)))
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ").strip("\n")


def language_of(block: LexborNode) -> str:
    """Return the declared language of a code block; empty if it does not declare one."""
    around: list[LexborNode] = [block]
    inner = block.css_first("code")
    if inner is not None:
        around.insert(0, inner)
    node = block.parent
    for _ in range(3):
        if node is not None and node.tag not in ("body", "html", "article", "main"):
            around.append(node)
            node = node.parent
    for element in around:
        attributes = element.attributes
        for name in ("data-lang", "data-language", "data-enlighter-language", "lang"):
            if name != "lang" and attributes.get(name):
                return str(attributes[name])[:40].lower()
        match = _LANGUAGE.search((attributes.get("class") or "")[:MAX_VALUE])
        if match:
            return match[1].lower()
    return ""
