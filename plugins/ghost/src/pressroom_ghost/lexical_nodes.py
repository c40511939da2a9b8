"""Builders for Lexical nodes in Ghost's format, and a check for a formatting bug of Ghost's renderer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

Node = dict[str, Any]

BITS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
"""Format bits of texts, in the order in which Ghost processes them: strong, em, s, u, code, sub, sup, mark."""

_ELEMENT: Final = {"direction": None, "format": "", "indent": 0}

FRAME: Final = (
    '{"root":{"children":[',
    '],"direction":null,"format":"","indent":0,"type":"root","version":1}}',
)
"""The JSON before and after the blocks of a new document."""


def written(node: Node) -> str:
    """Serialise a node byte for byte as Ghost does: JSON without white space and with minimal escaping."""
    return json.dumps(node, ensure_ascii=False, separators=(",", ":")).encode(errors="replace").decode()


def text(words: str, bits: int = 0) -> Node:
    """Return a text node with a format."""
    return {
        "detail": 0,
        "format": bits,
        "mode": "normal",
        "style": "",
        "text": words,
        "type": "extended-text",
        "version": 1,
    }


def line_break() -> Node:
    """Return a line break node."""
    return {"type": "linebreak", "version": 1}


def link(url: str, children: Sequence[Node], rel: str | None) -> Node:
    """Return a link node."""
    attributes = {"rel": rel or None, "target": None, "title": None, "url": url}
    return {"children": [*children], **_ELEMENT, "type": "link", "version": 1, **attributes}


def element(kind: str, children: Sequence[Node], **more: Any) -> Node:
    """Return a block node with inline children, such as a paragraph."""
    return {"children": [*children], **_ELEMENT, "type": kind, "version": 1, **more}


def card(kind: str, **members: Any) -> Node:
    """Return a card node, such as an image."""
    return {"type": kind, "version": 1, **members}


def list_of(tag: str, start: int, items: Sequence[tuple[Sequence[Node], Node | None]], depth: int) -> Node:
    """Return a list node. Each item has text nodes and, optionally, a nested list.

    Ghost stores a nested list as the only child of a separate item and shows it in the item before that.
    """
    children: list[Node] = []
    for number, (texts, nested) in enumerate(items, start):
        item = {"children": [*texts], **_ELEMENT, "indent": depth, "type": "listitem", "version": 1, "value": number}
        children.append(item)
        if nested is not None:
            children.append({**item, "children": [nested], "value": number + 1})
    kind = "number" if tag == "ol" else "bullet"
    return element("list", children, listType=kind, start=start, tag=tag)


def is_rendered_correctly(nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether Ghost renders the formats of a sequence of texts, links and line breaks correctly.

    Ghost closes as many elements as formats end, innermost first. If an outer format ends while an inner one continues,
    as in `<em>a</em><strong><em>b</em>c</strong>`, texts get the wrong formats.
    """
    following = _next_of_runs(nodes)
    opened: list[int] = []
    texts = [(at, node) for at, node in enumerate(nodes) if node["type"] != "linebreak"]
    for position, (at, node) in enumerate(texts):
        bits = node.get("format", 0) if node["type"] != "link" else 0
        if not bits:
            continue
        missing = [bit for bit in BITS if bits & bit and bit not in opened]
        opened += sorted(missing, key=lambda bit: following[at].get(bit, len(nodes)))
        after = texts[position + 1][1] if position + 1 < len(texts) else None
        next_bits = after["format"] if after is not None and after["type"] != "link" else 0
        ending = [bit for bit in opened if not next_bits & bit]
        still_open = opened[: len(opened) - len(ending)]
        if any(bit in ending for bit in still_open):
            return False
        opened = still_open
    return True


def _next_of_runs(nodes: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[int, int]]:
    """Return for each node, by format, the index of the next text with it, looking ahead to the next link."""
    runs: list[Mapping[int, int]] = []
    following: dict[int, int] = {}
    for at in range(len(nodes) - 1, -1, -1):
        runs.append(following)
        if nodes[at]["type"] == "link":
            following = {}
        elif nodes[at].get("format", 0):
            following = following | {bit: at for bit in BITS if nodes[at]["format"] & bit}
    return runs[::-1]
