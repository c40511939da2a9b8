"""SVG images made safe before resvg draws them: nothing is loaded, nothing grows beyond limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_REFERENCE: Final = re.compile(r"url\(\s*+['\"]?+\s*+#([^'\")\s]++)", re.IGNORECASE)
_ANY_URL: Final = re.compile(r"url\(\s*+['\"]?+\s*+(?!#)[^)]*+\)?+|@import[^;]*+;?+", re.IGNORECASE)
_EMBEDDED: Final = re.compile(r"data:image/(png|jpe?g|gif|webp);base64,", re.IGNORECASE)
_LENGTH: Final = re.compile(r"\s*+([0-9]{1,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(px|pt|em|rem|mm|cm|in)?\s*+\Z")
_UNITS: Final = {
    None: 1.0, "px": 1.0, "pt": 96 / 72, "em": 16.0, "rem": 16.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0,
}  # fmt: skip
_DRAWN_ELEMENTS: Final = frozenset(
    {"svg", "g", "defs", "symbol", "use", "switch", "a", "title", "desc", "style", "path", "rect", "circle", "ellipse",
     "line", "polyline", "polygon", "text", "tspan", "textPath", "image", "linearGradient", "radialGradient", "stop",
     "pattern", "clipPath", "mask", "marker", "filter", "feBlend", "feColorMatrix", "feComponentTransfer", "feFuncA",
     "feFuncB", "feFuncG", "feFuncR", "feComposite", "feDiffuseLighting", "feDisplacementMap", "feDistantLight",
     "feDropShadow", "feFlood", "feGaussianBlur", "feMerge", "feMergeNode", "feOffset", "fePointLight",
     "feSpecularLighting", "feSpotLight", "feTile"}
)  # fmt: skip
"""What is left of a drawing. Everything else runs, loads, moves, takes too long, or is not drawn."""

_REPORTED: Final = {
    "script": "scripts",
    "foreignobject": "foreignObject",
    "iframe": "foreignObject",
    "animate": "animations",
    "animatemotion": "animations",
    "animatetransform": "animations",
    "set": "animations",
    "feturbulence": "filters that take too long",
    "feimage": "filters that take too long",
    "feconvolvematrix": "filters that take too long",
    "femorphology": "filters that take too long",
}
"""What `Svg.removed` calls the elements whose absence somebody may notice, by their names in lower case."""

_HANDLERS: Final = "event handlers"
_OUTSIDE: Final = "references to other files"
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.IGNORECASE | re.DOTALL)
_LOADING: Final = re.compile(r"url\(|@import|image-set\(|src\(", re.IGNORECASE)

_SIMPLE_ELEMENTS: Final = frozenset(
    {"svg", "g", "defs", "title", "desc", "metadata", "use", "path", "rect", "circle", "ellipse", "line", "polyline",
     "polygon", "linearGradient", "radialGradient", "stop"}
)  # fmt: skip
_COSTLY: Final = re.compile(
    r"(?:^|;)\s*(?:filter|mask|clip-path|marker[a-z-]*|stroke-dasharray|opacity|mix-blend-mode|isolation)\s*:",
    re.IGNORECASE,
)
"""Attributes, and declarations in `style`, that have parts drawn apart, or again and again."""

MAX_BYTES: Final = 5 * 2**20
MAX_ELEMENTS: Final = 20_000
"""How many elements may be drawn, each counted as often as others refer to it."""

MAX_DEPTH: Final = 200
MAX_BLUR: Final = 200.0


class UnsafeSvg(ValueError):
    """The image cannot be read, or contains more than is drawn."""


@dataclass(frozen=True, slots=True)
class Svg:
    """An SVG text that may be drawn, and the size that it says it has.

    `elements` are drawn, each counted as often as others refer to it. `simple` tells that there are but shapes in
    colours and gradients. `removed` names what was left out because it runs, loads or moves.
    """

    text: str
    width: float | None
    height: float | None
    ratio: float | None
    elements: int = 0
    simple: bool = False
    removed: tuple[str, ...] = ()

    def sized(self, width: int, height: int) -> str:
        """Return the text of the drawing in a window of that many pixels."""
        return f'<svg width="{width}" height="{height}"{self.text.removeprefix("<svg")}'


def safe_svg(text: str) -> Svg:
    """Return an SVG without anything that loads or runs.

    Raises:
        UnsafeSvg: it is not an SVG, declares entities, or is too large once its references are followed.
    """
    if len(text) > MAX_BYTES:
        raise UnsafeSvg("the SVG is too large")
    # Entities are the one part of XML that grows and that reads files; no image needs them.
    if "<!ENTITY" in text or _declares(text):
        raise UnsafeSvg("the SVG declares entities")
    root = _parsed(text)
    if root.tag not in (f"{{{_SVG}}}svg", "svg"):
        raise UnsafeSvg("there is no <svg> in it")
    removed = _strip(root)
    elements = _drawn(root)
    if elements > MAX_ELEMENTS:
        raise UnsafeSvg(f"the SVG draws more than {MAX_ELEMENTS} elements")
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _XLINK)
    width, height = _length(root.get("width")), _length(root.get("height"))
    ratio = width / height if width and height else _view_ratio(root.get("viewBox", ""))
    _without_size(root, width, height)
    return Svg(ET.tostring(root, encoding="unicode"), width, height, ratio, elements, _simple(root), removed)


def with_namespaces(markup: str) -> str:
    """Return the markup of an `<svg>` with the namespaces that pages may leave out and files may not."""
    head = markup[:2000].partition("<svg")[2].partition(">")[0]
    if "xmlns=" not in head:
        markup = markup.replace("<svg", f'<svg xmlns="{_SVG}"', 1)
    if "xlink:" in markup and "xmlns:xlink" not in markup:
        markup = markup.replace("<svg", f'<svg xmlns:xlink="{_XLINK}"', 1)
    return markup


def _declares(text: str) -> bool:
    """Tell whether the document type, of which XML has at most one, declares something of its own."""
    _, found, after = text.partition("<!DOCTYPE")
    return bool(found) and "[" in after.partition(">")[0]


def _without_size(root: Element, width: float | None, height: float | None) -> None:
    """Leave the size to whoever draws it. Without a `viewBox` a drawing is stretched, as browsers do."""
    for name in ("width", "height", "x", "y"):
        root.attrib.pop(name, None)
    if width and height and "viewBox" not in root.attrib:
        root.set("viewBox", f"0 0 {width} {height}")
        root.set("preserveAspectRatio", "none")


def _parsed(text: str) -> Element:
    """Return the root of an XML text, refused where it is nested too deeply."""
    builder = _Builder()
    parser = ET.XMLParser(target=builder)  # noqa: S314 - what declares entities was refused before
    try:
        parser.feed(text)
        parser.close()
    except (ET.ParseError, ValueError, AssertionError) as error:
        if isinstance(error, UnsafeSvg):
            raise
        raise UnsafeSvg("the SVG is not well-formed XML") from error
    return builder.root


class _Builder(ET.TreeBuilder):
    """Builds the tree, and stops where it gets too deep."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0
        self._root: Element | None = None

    @property
    def root(self) -> Element:
        """The first element."""
        if self._root is None:
            raise UnsafeSvg("there is no <svg> in it")
        return self._root

    def start(self, tag: Any, attrs: dict[Any, Any], /) -> Any:
        """Open an element."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnsafeSvg("the SVG is nested too deeply")
        element = super().start(tag, attrs)
        self._root = element if self._root is None else self._root
        return element

    def end(self, tag: str, /) -> Element:
        """Close an element."""
        self._depth -= 1
        return super().end(tag)


def _length(text: str | None) -> float | None:
    match = _LENGTH.match(text or "")
    return float(match[1]) * _UNITS[match[2]] if match else None


def _view_ratio(box: str) -> float | None:
    try:
        _, _, width, height = (float(part) for part in re.split(r"[\s,]+", box.strip()))
    except ValueError:
        return None
    return width / height if 0 < width < 1e9 and 0 < height < 1e9 else None


def _strip(root: Element) -> tuple[str, ...]:
    """Take out whatever is not drawn, and return what somebody may miss."""
    removed: dict[str, None] = {}
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for child in list(parent):
            if _outside_svg(child.tag) or _local(child.tag) not in _DRAWN_ELEMENTS:
                parent.remove(child)
                if reported := _REPORTED.get(_local(child.tag).lower()):
                    removed[reported] = None
            else:
                waiting.append(child)
        if _local(parent.tag) == "style" and (text := parent.text):
            parent.text = "" if _hides_loading(text) else _ANY_URL.sub("", text)
            if parent.text != text:
                removed[_OUTSIDE] = None
        for name, value in list(parent.attrib.items()):
            if reported := _strip_attribute(parent, name, value):
                removed[reported] = None
        if _local(parent.tag) == "feGaussianBlur":
            parent.set("stdDeviation", _capped(parent.get("stdDeviation", "0")))
    return tuple(removed)


def _outside_svg(name: str) -> bool:
    return name.startswith("{") and not name.startswith(f"{{{_SVG}}}")


def _strip_attribute(element: Element, name: str, value: str) -> str:
    """Take out an attribute that runs or loads something, and return what it was, or an empty text."""
    local = _local(name).lower()
    if local == "href":
        if not value.startswith("#") and not _EMBEDDED.match(value):
            del element.attrib[name]
            return _OUTSIDE
    elif local.startswith("on"):
        del element.attrib[name]
        return _HANDLERS
    elif _hides_loading(value) or local in ("base", "src"):
        del element.attrib[name]
        return _OUTSIDE
    elif name.startswith("{") and not name.startswith((f"{{{_XLINK}}}", "{http://www.w3.org/XML/")):
        # Notes of the program that made the drawing.
        del element.attrib[name]
    elif "url(" in value.lower() and (kept := _ANY_URL.sub("none", value)) != value:
        element.set(name, kept)
        return _OUTSIDE
    return ""


def _hides_loading(css: str) -> bool:
    """Tell whether a style loads something by another spelling than `url(…)` (CSS Syntax 3, section 4.3.7)."""
    if "image-set(" in css.lower() or "src(" in css.lower():
        return True
    return "\\" in css and _LOADING.search(_CSS_ESCAPE.sub(_unescaped, css)) is not None


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1], 16) if match[1] else ord(match[2])
    return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"


def _capped(deviation: str) -> str:
    try:
        return " ".join(str(min(float(part), MAX_BLUR)) for part in re.split(r"[\s,]+", deviation.strip()))
    except ValueError:
        return "0"


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _simple(root: Element) -> bool:
    return all(
        _local(element.tag) in _SIMPLE_ELEMENTS
        and not any(_COSTLY.search(f"{_local(name)}:{value}") for name, value in element.attrib.items())
        for element in root.iter()
    )


def _references(element: Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if _local(name) == "href" and value.startswith("#"):
            yield value[1:]
        yield from _REFERENCE.findall(value)


def _drawn(root: Element) -> int:
    """Return how many elements are drawn when each reference draws its target anew; cycles count once."""
    named = {value: element for element in root.iter() if (value := element.get("id"))}
    counts: dict[Element, int] = {}
    open_elements: set[Element] = set()
    stack: list[tuple[Element, bool]] = [(root, False)]
    while stack:
        element, done = stack.pop()
        targets = [*element, *(named[name] for name in _references(element) if name in named)]
        if done:
            open_elements.discard(element)
            counts[element] = min(1 + sum(counts.get(target, 0) for target in targets), MAX_ELEMENTS + 1)
        elif element not in counts and element not in open_elements:
            open_elements.add(element)
            stack.append((element, True))
            stack += [(target, False) for target in targets]
    return counts[root]
