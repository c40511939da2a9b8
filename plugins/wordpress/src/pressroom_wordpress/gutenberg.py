"""Converting HTML to blocks of the WordPress block editor, so that users can continue to edit it there.

Content that no other block can express becomes an HTML block, which looks the same. Texts get no line breaks that the
author did not set, and nothing in them is executed: WordPress looks for shortcodes everywhere, even in code and
attributes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from pressroom_wordpress.markup import INLINE, VOID, HtmlElement, parse, player_of, serialised, tag

_SHORTCODE = re.compile(r"\[(?=[^<>&\[\]\x00-\x20=])")
_LONELY_URL = re.compile(r"^([^\S\n]*+https?:)//(?=[^\s<>\"]++[^\S\n]*+$)", re.MULTILINE | re.IGNORECASE)
"""A URL on a line of its own, which WordPress replaces with a player or a card."""

_SPACE = re.compile(r"[ \t\r\n\f]+")
_LANGUAGE = re.compile(r"language-[\w+#-]+", re.ASCII)
_IMAGE_ID = re.compile(r"wp-image-(\d{1,18})", re.ASCII)
_ALIGN = re.compile(r"align(left|center|right|wide|full)")
_PIXELS = re.compile(r"\d{1,5}", re.ASCII)
_DIGITS = re.compile(r"-?\d{1,9}", re.ASCII)
_ESCAPES: Final = (
    ("--", "\\u002d\\u002d"), ("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("[", "\\u005b"),
)  # fmt: skip
_INNER = "\n\n"

Nodes = Sequence[HtmlElement | str]


def encode(html: str) -> Sequence[str]:
    """Return the sources of the blocks that show sanitised HTML."""
    if not html.strip():
        return []
    nodes = parse(html)
    if nodes is None:
        return [_block("html", {}, html.strip().replace("[", "&#91;"))]
    return list(_blocks(nodes))


def still(text: str) -> str:
    """Escape text of HTML so that WordPress does not find shortcodes or embeds in it; readers see the same."""
    return _LONELY_URL.sub(r"\1&#47;&#47;", _SHORTCODE.sub("&#91;", text))


def _blocks(nodes: Nodes) -> Iterator[str]:
    run: list[HtmlElement | str] = []
    for node in (*nodes, HtmlElement("")):
        if isinstance(node, str) or node.name in INLINE:
            run.append(node)
            continue
        if any(isinstance(inline, HtmlElement) or inline.strip() for inline in run):
            yield _one(HtmlElement("p", {}, run))
        run = []
        if node.name:
            yield _one(node)


def _one(element: HtmlElement) -> str:
    make = _MAKERS.get(element.name)
    block = make(element) if make else None
    return block if block is not None else _block("html", {}, serialised([_escaped_children(element)]))


def _escaped_children(element: HtmlElement) -> HtmlElement:
    children = [
        _escaped_children(child) if isinstance(child, HtmlElement) else still(child) for child in element.children
    ]
    return HtmlElement(element.name, element.attributes, children)


def _block(name: str, attributes: Mapping[str, Any], html: str) -> str:
    json_text = ""
    if attributes:
        json_text = json.dumps(attributes, ensure_ascii=False, separators=(",", ":"))
        for sign, escaped in _ESCAPES:
            json_text = json_text.replace(sign, escaped)
        json_text += " "
    return f"<!-- wp:{name} {json_text}-->\n{html}\n<!-- /wp:{name} -->"


def _inline(nodes: Nodes) -> str | None:
    """Return inline content on one line; `None` if it contains block-level elements."""
    parts: list[str] = []
    if not _write_inline(nodes, parts):
        return None
    return still("".join(parts).strip(" "))


def _write_inline(nodes: Nodes, parts: list[str]) -> bool:
    for node in nodes:
        if isinstance(node, str):
            text = _SPACE.sub(" ", node)
            parts.append(still(text.lstrip(" ") if parts and parts[-1] == "<br>" else text))
            continue
        if node.name not in INLINE:
            return False
        parts.append(tag(node.name, node.attributes))
        if node.name not in VOID:
            if not _write_inline(node.children, parts):
                return False
            parts.append(f"</{node.name}>")
    return True


def _has_only(element: HtmlElement, names: Collection[str]) -> bool:
    return set(element.attributes) <= set(names)


def _class(name: str, element: HtmlElement) -> dict[str, str]:
    return {"class": name, **{key: value for key, value in element.attributes.items() if key != "class"}}


def _paragraph(element: HtmlElement) -> str | None:
    nonblank = [child for child in element.children if isinstance(child, HtmlElement) or child.strip()]
    if len(nonblank) == 1 and isinstance(nonblank[0], HtmlElement) and not element.attributes:
        image = _image(HtmlElement("figure", {}, [nonblank[0]]))
        if image is not None:
            return image
    text = _inline(element.children)
    if text is None or not _has_only(element, ("dir", "id")):
        return None
    direction = element.attributes.get("dir", "")
    if direction not in ("", "ltr", "rtl"):
        return None
    return _block(
        "paragraph", {"direction": direction} if direction else {}, f"{tag('p', element.attributes)}{text}</p>"
    )


def _heading(element: HtmlElement) -> str | None:
    text, level = _inline(element.children), int(element.name[1])
    if text is None or not _has_only(element, ("id",)):
        return None
    opening_tag = tag(element.name, _class("wp-block-heading", element))
    return _block("heading", {} if level == 2 else {"level": level}, f"{opening_tag}{text}</{element.name}>")


def _list(element: HtmlElement) -> str | None:
    allowed = ("start", "reversed", "id") if element.name == "ol" else ("id",)
    if not _has_only(element, allowed) or not element.only("li") or not element.elements():
        return None
    attributes: dict[str, Any] = {"ordered": True} if element.name == "ol" else {}
    if "start" in element.attributes:
        if not _DIGITS.fullmatch(element.attributes["start"]):
            return None
        attributes["start"] = int(element.attributes["start"])
    if "reversed" in element.attributes:
        attributes["reversed"] = True
    items = [_item(child) for child in element.elements()]
    if None in items:
        return None
    opening_tag = tag(element.name, _class("wp-block-list", element))
    return _block("list", attributes, f"{opening_tag}{_INNER.join(filter(None, items))}</{element.name}>")


def _item(element: HtmlElement) -> str | None:
    """Return a list item: a text, and the lists below it. A text in a paragraph is equivalent to one without."""
    if element.attributes:
        return None
    children = [child for child in element.children if isinstance(child, HtmlElement) or child.strip()]
    first = children[0] if children else ""
    if isinstance(first, HtmlElement) and first.name == "p" and not first.attributes:
        texts, rest = first.children, children[1:]
    else:
        below = next((at for at, child in enumerate(children) if _is_list(child)), len(children))
        texts, rest = children[:below], children[below:]
    if not all(_is_list(child) for child in rest):
        return None
    lists = [_list(child) for child in rest if isinstance(child, HtmlElement)]
    text = _inline(texts)
    if text is None or None in lists:
        return None
    return _block("list-item", {}, f"<li>{text}{''.join(filter(None, lists))}</li>")


def _is_list(node: HtmlElement | str) -> bool:
    return isinstance(node, HtmlElement) and node.name in ("ul", "ol")


def _quote(element: HtmlElement) -> str | None:
    if not _has_only(element, ("id",)):
        return None
    children, cite = list(element.children), ""
    while children and isinstance(children[-1], str) and not children[-1].strip():
        children.pop()
    last = children[-1] if children else None
    if isinstance(last, HtmlElement) and last.name == "cite" and not last.attributes and len(children) > 1:
        source = _inline(last.children)
        if source is None:
            return None
        cite, children = f"<cite>{source}</cite>", children[:-1]
    inner = _INNER.join(_blocks(children))
    return _block("quote", {}, f"{tag('blockquote', _class('wp-block-quote', element))}{inner}{cite}</blockquote>")


def _preformatted(element: HtmlElement) -> str | None:
    """Return a code block, or preformatted text. The language becomes a class, as highlighters expect it."""
    inner = element.elements()
    is_code = len(inner) == 1 and inner[0].name == "code" and element.only("code")
    if not _has_only(element, ("id", "class")):
        return None
    holder = inner[0] if is_code else element
    names = [*element.attributes.get("class", "").split(), *holder.attributes.get("class", "").split()]
    language = next((name for name in names if _LANGUAGE.fullmatch(name)), "")
    lines = _lines(holder.children)
    if lines is None or (is_code and not _has_only(holder, ("class", "lang"))):
        return None
    identifier = {key: value for key, value in element.attributes.items() if key == "id"}
    if not is_code:
        if language:
            return None
        # The line break after the tag belongs to the tag.
        start = "\n" if lines.startswith("\n") else ""
        return _block(
            "preformatted", {}, f"{tag('pre', {'class': 'wp-block-preformatted', **identifier})}{start}{lines}</pre>"
        )
    lines = lines.removesuffix("\n")
    opening_tag = tag("pre", {"class": f"wp-block-code {language}".strip(), **identifier})
    return _block("code", {"className": language} if language else {}, f"{opening_tag}<code>{lines}</code></pre>")


def _lines(nodes: Nodes) -> str | None:
    """Return text with its line breaks; `None` if it contains block-level elements."""
    for node in nodes:
        if isinstance(node, HtmlElement) and (node.name not in INLINE or _lines(node.children) is None):
            return None
    return serialised([_escaped_children(node) if isinstance(node, HtmlElement) else still(node) for node in nodes])


def _separator(element: HtmlElement) -> str | None:
    if not _has_only(element, ("class",)):
        return None
    return _block("separator", {}, '<hr class="wp-block-separator has-alpha-channel-opacity"/>')


def _details(element: HtmlElement) -> str | None:
    inner = element.elements()
    if not _has_only(element, ("open",)) or not inner or inner[0].name != "summary" or inner[0].attributes:
        return None
    if any(isinstance(child, str) and child.strip() for child in element.children[: element.children.index(inner[0])]):
        return None
    summary = _inline(inner[0].children)
    if summary is None:
        return None
    rest = element.children[element.children.index(inner[0]) + 1 :]
    opening_tag = tag("details", _class("wp-block-details", element))
    html = f"{opening_tag}<summary>{summary}</summary>{_INNER.join(_blocks(rest))}</details>"
    return _block("details", {"showContent": True} if "open" in element.attributes else {}, html)


def _figure(element: HtmlElement) -> str | None:
    names = [child.name for child in element.elements() if child.name != "figcaption"]
    if names == ["table"]:
        return _table(element)
    return _embed(element) if names == ["iframe"] else _image(element)


def _captioned(element: HtmlElement) -> tuple[HtmlElement, str] | None:
    """Return the only element of a figure, and its caption as HTML; `None` for other figures."""
    inner = element.elements()
    if not element.only(*(child.name for child in inner)) or not 1 <= len(inner) <= 2:
        return None
    if len(inner) == 1:
        return inner[0], ""
    if inner[1].name != "figcaption" or not _has_only(inner[1], ()):
        return None
    text = _inline(inner[1].children)
    return None if text is None else (inner[0], f'<figcaption class="wp-element-caption">{text}</figcaption>')


def _image(element: HtmlElement) -> str | None:
    captioned = _captioned(element)
    if captioned is None or not _has_only(element, ("class", "id")):
        return None
    holder, caption = captioned
    linked = holder.name == "a" and len(holder.elements()) == 1 and holder.only("img")
    image = holder.elements()[0] if linked else holder
    if image.name != "img" or (linked and not _has_only(holder, ("href", "rel", "target"))):
        return None
    if not _has_only(
        image, ("src", "alt", "title", "width", "height", "class", "loading", "decoding", "srcset", "sizes")
    ):
        return None
    image_attributes, attributes = image.attributes, dict[str, Any]()
    names = ["wp-block-image"]
    if aligned := _ALIGN.search(element.attributes.get("class", "")):
        attributes["align"] = aligned[1]
        names.append(aligned[0])
    tag_attributes = {"src": image_attributes.get("src", ""), "alt": image_attributes.get("alt", "")}
    if identifier := _IMAGE_ID.search(image_attributes.get("class", "")):
        attributes["id"] = int(identifier[1])
        tag_attributes["class"] = identifier[0]
    if "title" in image_attributes:
        tag_attributes["title"] = image_attributes["title"]
    sides = [side for side in ("width", "height") if _PIXELS.fullmatch(image_attributes.get(side, ""))]
    if sides:
        attributes |= {side: int(image_attributes[side]) for side in sides}
        tag_attributes |= {side: image_attributes[side] for side in sides}
        names.append("is-resized")
    if linked:
        attributes["linkDestination"] = "custom"
    inner = tag("img", tag_attributes)
    inner = f"{tag('a', holder.attributes)}{inner}</a>" if linked else inner
    id_attribute = {"id": element.attributes["id"]} if "id" in element.attributes else {}
    opening_tag = tag("figure", {"class": " ".join(names), **id_attribute})
    return _block("image", attributes, f"{opening_tag}{inner}{caption}</figure>")


def _embed(element: HtmlElement) -> str | None:
    captioned = _captioned(element if element.name == "figure" else HtmlElement("figure", {}, [element]))
    if captioned is None or captioned[0].name != "iframe" or (element.name == "figure" and element.attributes):
        return None
    player = player_of(captioned[0].attributes.get("src", ""))
    if player is None:
        return None
    name = player.provider
    names = f"wp-block-embed is-type-video is-provider-{name} wp-block-embed-{name}"
    html = f'<figure class="{names}"><div class="wp-block-embed__wrapper">\n{player.url}\n</div>{captioned[1]}</figure>'
    return _block("embed", {"url": player.url, "type": "video", "providerNameSlug": name, "responsive": True}, html)


def _table(element: HtmlElement) -> str | None:
    captioned = _captioned(element if element.name == "figure" else HtmlElement("figure", {}, [element]))
    if captioned is None or (element.name == "figure" and element.attributes):
        return None
    table, caption = captioned
    if table.name != "table" or table.attributes or not table.only("caption", "thead", "tbody", "tfoot", "tr"):
        return None
    parts: list[str] = []
    for section in table.elements():
        if section.name == "caption":
            text = _inline(section.children)
            if text is None or caption or section.attributes:
                return None
            caption = f'<figcaption class="wp-element-caption">{text}</figcaption>'
            continue
        rows = [_row(row) for row in section.elements()]
        if section.name == "tr" or section.attributes or not section.only("tr") or None in rows:
            return None
        parts.append(f"<{section.name}>{''.join(filter(None, rows))}</{section.name}>")
    html = f'<figure class="wp-block-table"><table>{"".join(parts)}</table>{caption}</figure>'
    return _block("table", {"hasFixedLayout": False}, html)


def _row(element: HtmlElement) -> str | None:
    if element.attributes or not element.only("td", "th"):
        return None
    cells: list[str] = []
    for cell in element.elements():
        text = _inline(cell.children)
        if text is None or not _has_only(cell, ("align", "colspan", "rowspan", "scope")):
            return None
        attributes = dict(cell.attributes)
        aligned = attributes.pop("align", "")
        if aligned in ("left", "center", "right"):
            attributes = {"class": f"has-text-align-{aligned}", "data-align": aligned, **attributes}
        cells.append(f"{tag(cell.name, attributes)}{text}</{cell.name}>")
    return f"<tr>{''.join(cells)}</tr>"


_MAKERS: Final[Mapping[str, Callable[[HtmlElement], str | None]]] = {
    "p": _paragraph,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _heading),
    "ul": _list,
    "ol": _list,
    "blockquote": _quote,
    "pre": _preformatted,
    "hr": _separator,
    "details": _details,
    "figure": _figure,
    "img": _image,
    "iframe": _embed,
    "table": _table,
}
